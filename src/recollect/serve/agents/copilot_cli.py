"""Copilot CLI: a file of hooks of our own, the server in mcp-config.json, a skill.

Observed with 1.0.102: what a hook adds reaches the model at all of these
events. A failed command counts as a success whose text ends with its exit code.
Only agentStop names the log.
"""

from __future__ import annotations

import os

from recollect.serve.agents import Agent, Hooks, Installer, Resume
from recollect.system import platforms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup


def failed(output: str) -> bool:
    """Whether a command failed."""
    return "completed with exit code" in output and "completed with exit code 0>" not in output


HOOKS = Hooks(
    events={
        "sessionStart": "start",
        "userPromptSubmitted": "prompt",
        "preToolUse": "command",
        "postToolUse": "failure",
        "agentStop": "pause",
        "sessionEnd": "end",
    },
    fields={
        "session": "$.sessionId",
        "folder": "$.cwd",
        "log": "$.transcriptPath",
        "prompt": "$.prompt",
        "tool": "$.toolName",
        "command": "$.toolArgs.command",
        "error": "$.toolResult.textResultForLlm",
    },
    shell_tools=("bash",),
    failed=failed,
    answer=lambda event, context: f'{{"additionalContext":{context}}}',
)


def parts(setup: Setup) -> list[InstallPart]:
    """What goes where.

    In a project `.mcp.json` would do too, but that one is Claude Code's.
    """
    from recollect.serve.install.parts import JsonHooks, JsonServer
    from recollect.serve.install.setup import HOOK_SECONDS

    folder = setup.folder(".copilot", ".github", variable="COPILOT_HOME")
    handlers = {
        event: {"type": "command", **_call(setup, event), "timeoutSec": HOOK_SECONDS}
        for event in HOOKS.events
    }
    hooks = os.path.join(folder, "hooks", "recollect.json")
    servers = os.path.join(folder, "mcp-config.json" if setup.for_user else "mcp.json")
    server = {"type": "local", **setup.server(), "tools": ["*"]}
    return [
        JsonHooks(hooks, setup.agent, handlers, version=1),
        JsonServer(servers, "mcpServers", server),
        setup.skill(),
    ]


def _call(setup: Setup, event: str) -> dict[str, str]:
    if platforms.WINDOWS:
        quoted = ("'" + word.replace("'", "''") + "'" for word in setup.hook(event))
        return {"powershell": f"& {' '.join(quoted)}"}
    return {"bash": setup.hook_line(event)}


AGENT = Agent(
    hooks=HOOKS,
    installer=Installer(parts, next_steps=["restart copilot; `copilot mcp list` shows the server"]),
    resume=Resume(("copilot", "--resume"), ".copilot", "COPILOT_HOME"),
    start=("copilot", "--interactive"),
)
