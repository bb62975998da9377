"""Claude Code: hooks in settings.json, the server in .claude.json, a skill.

Observed with 2.1.197: what a hook adds to PreToolUse and PostToolUseFailure
reaches the model together with the result of the command; an answer to Stop or
SubagentStop would make it go on, so those are never answered. A hook given as a
program with `args` is started without a shell. With CLAUDE_CONFIG_DIR set,
.claude.json is in that folder too.
"""

from __future__ import annotations

import os

from recollect.serve.agents import Agent, Hooks, Installer, Resume, nested_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.publications import Target
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup

VARIABLE = "CLAUDE_CONFIG_DIR"

HOOKS = Hooks(
    events={
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "command",
        # After a command that failed, and only then.
        "PostToolUseFailure": "failure",
        "Stop": "pause",
        "SubagentStop": "pause",
        "PreCompact": "pause",
        "SessionEnd": "end",
    },
    fields={
        "session": "$.session_id",
        "folder": "$.cwd",
        "log": "$.transcript_path",
        "own_log": "$.agent_transcript_path",
        "prompt": "$.prompt",
        "source": "$.source",
        "tool": "$.tool_name",
        "command": "$.tool_input.command",
        "error": "$.error",
        "subagent": "$.agent_id",
    },
    shell_tools=("Bash",),
    names_log=True,
    answer=nested_answer,
)


def parts(setup: Setup) -> list[InstallPart]:
    """What goes where."""
    from recollect.serve.install.parts import JsonHooks, JsonServer
    from recollect.serve.install.setup import HOOK_SECONDS

    folder = setup.folder(".claude", ".claude", variable=VARIABLE)
    groups = setup.groups(
        HOOKS.tools_by_event(),
        lambda event: {
            "command": setup.program[0],
            "args": setup.hook(event)[1:],
            "timeout": HOOK_SECONDS,
        },
    )
    if setup.for_user:
        servers = os.path.join(
            folder if setup.environ.get(VARIABLE) else setup.home, ".claude.json"
        )
    else:
        servers = os.path.join(setup.project, ".mcp.json")
    return [
        JsonHooks(os.path.join(folder, "settings.json"), setup.agent, groups),
        JsonServer(servers, "mcpServers", {"type": "stdio", **setup.server()}),
        setup.skill(os.path.join(folder, "skills")),
    ]


def plugin(setup: Setup) -> str | None:
    """The plugin of ours that is switched on here."""
    from recollect.serve.install.parts import SERVER
    from recollect.serve.install.setup import read_json

    paths = [os.path.join(setup.user_folder(".claude", VARIABLE), "settings.json")]
    if not setup.for_user:
        own = os.path.join(setup.project, ".claude")
        paths += [os.path.join(own, name) for name in ("settings.json", "settings.local.json")]
    switched: dict[str, object] = {}
    for path in paths:
        enabled = read_json(path).get("enabledPlugins")
        switched.update(enabled if isinstance(enabled, dict) else {})
    return next(
        (name for name, on in switched.items() if on and name.partition("@")[0] == SERVER), None
    )


def publish_targets() -> list[Target]:
    """It reads no AGENTS.md, but a file that CLAUDE.md names."""
    from recollect.model.publications import Target

    return [
        Target("CLAUDE.md", "CLAUDE.md", instead="AGENTS.md", import_line="@AGENTS.md"),
        Target("claude-skills", ".claude/skills/{skill}/SKILL.md", is_skill=True),
    ]


AGENT = Agent(
    hooks=HOOKS,
    installer=Installer(
        parts, plugin=plugin, next_steps=["restart Claude Code; /hooks and /mcp show what it found"]
    ),
    resume=Resume(("claude", "--resume"), ".claude", VARIABLE, needs_folder=True),
    publish_targets=publish_targets,
    start=("claude",),
)
