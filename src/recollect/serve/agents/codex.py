"""Codex: hooks in hooks.json, the server in config.toml, a skill.

Observed with 0.166.0: what a hook adds to PreToolUse and PostToolUse reaches
the model as a developer's message. PostToolUse comes after every command, and
tells its output but not how it ended. An ephemeral run names no log. An answer
with any other field is refused.

Codex runs a hook only when the user has looked at it and said that it may:
one that is new or changed is passed over without a word until then.
"""

from __future__ import annotations

import os

from recollect.serve.agents import Agent, Hooks, Installer, Resume, nested_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup

# It waits no longer than this at its end, and warns about a hook that asks for more.
END_SECONDS = 3

HOOKS = Hooks(
    events={
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "command",
        "PostToolUse": "failure",
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
        "error": "$.tool_response",
        "subagent": "$.agent_id",
    },
    shell_tools=("Bash",),
    names_log=True,
    answer=nested_answer,
)


def parts(setup: Setup) -> list[InstallPart]:
    """What goes where."""
    from recollect.serve.install.parts import JsonHooks, TomlServer
    from recollect.serve.install.setup import HOOK_SECONDS

    folder = setup.folder(".codex", ".codex", variable="CODEX_HOME")
    groups = setup.groups(
        HOOKS.tools_by_event(),
        lambda event: {
            "command": setup.hook_line(event),
            "timeout": END_SECONDS if event == "SessionEnd" else HOOK_SECONDS,
        },
    )
    return [
        JsonHooks(os.path.join(folder, "hooks.json"), setup.agent, groups),
        TomlServer(os.path.join(folder, "config.toml"), "mcp_servers", setup.server()),
        setup.skill(),
    ]


AGENT = Agent(
    hooks=HOOKS,
    installer=Installer(
        parts,
        next_steps=[
            "open codex, run /hooks and trust the hooks of recollect: until you do, Codex skips "
            "them silently",
            "after that, restart codex; `codex mcp list` shows the server",
        ],
    ),
    resume=Resume(("codex", "resume"), ".codex", "CODEX_HOME"),
    start=("codex",),
)
