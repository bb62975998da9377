"""Gemini CLI: hooks and the server in settings.json, a skill.

Observed with 0.61.0: what a hook adds to AfterTool reaches the model, and to
BeforeTool not. PreCompress comes before every request to the model, whether or
not there is something to compress, so it is left out. What was added at the
start stands before the first prompt, in a tag of its own. It counts a hook's
time in milliseconds.
"""

from __future__ import annotations

import os

from recollect.serve.agents import Agent, Hooks, Installer, Resume, nested_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.publications import Target
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup

HOOKS = Hooks(
    events={
        "SessionStart": "start",
        "BeforeAgent": "prompt",
        "AfterTool": "failure",
        "AfterAgent": "pause",
        "SessionEnd": "end",
    },
    fields={
        "session": "$.session_id",
        "folder": "$.cwd",
        "log": "$.transcript_path",
        "prompt": "$.prompt",
        "source": "$.source",
        "tool": "$.tool_name",
        "command": "$.tool_input.command",
        "error": "$.tool_response.llmContent",
    },
    shell_tools=("run_shell_command",),
    names_log=True,
    # The exit code is told only of a command that failed.
    failed=lambda output: "\nExit Code: " in output,
    answer=nested_answer,
    context_tags=("<hook_context>", "</hook_context>"),
)


def parts(setup: Setup) -> list[InstallPart]:
    """What goes where."""
    from recollect.serve.install.parts import JsonHooks, JsonServer
    from recollect.serve.install.setup import HOOK_SECONDS

    settings = os.path.join(setup.folder(".gemini", ".gemini"), "settings.json")
    groups = setup.groups(
        HOOKS.tools_by_event(),
        lambda event: {
            "name": f"recollect {event}",
            "command": setup.hook_line(event),
            "timeout": HOOK_SECONDS * 1000,
        },
    )
    return [
        JsonHooks(settings, setup.agent, groups),
        JsonServer(settings, "mcpServers", setup.server()),
        setup.skill(),
    ]


def plugin(setup: Setup) -> str | None:
    """The extension of ours."""
    from recollect.serve.install.parts import SERVER
    from recollect.serve.install.setup import read_json

    folder = os.path.join(setup.user_folder(".gemini"), "extensions", SERVER)
    manifest = read_json(os.path.join(folder, "gemini-extension.json"))
    return f"extension {SERVER}" if manifest else None


def publish_targets() -> list[Target]:
    """It reads no AGENTS.md."""
    from recollect.model.publications import Target

    return [Target("GEMINI.md", "GEMINI.md")]


AGENT = Agent(
    hooks=HOOKS,
    installer=Installer(
        parts, plugin=plugin, next_steps=["restart gemini; /hooks and /mcp show what it found"]
    ),
    resume=Resume(("gemini", "--resume"), ".gemini", needs_folder=True),
    publish_targets=publish_targets,
    start=("gemini", "--prompt-interactive"),
)
