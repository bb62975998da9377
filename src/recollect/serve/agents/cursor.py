"""Cursor: hooks in hooks.json, the server in mcp.json, a skill.

From its documents only: it has no command line to try.
"""

from __future__ import annotations

import os

from recollect.serve.agents import Agent, Hooks, Installer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.publications import Target
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup

# What its rules begin with.
RULES_HEAD = (
    "---\ndescription: What earlier sessions in this project taught\nalwaysApply: true\n---\n"
)


def answer(event: str, context: str) -> str:
    """At a prompt it also wants to be told to go on."""
    go_on = '"continue":true,' if event == '"beforeSubmitPrompt"' else ""
    return f'{{{go_on}"additional_context":{context}}}'


HOOKS = Hooks(
    events={
        "sessionStart": "start",
        "beforeSubmitPrompt": "prompt",
        "stop": "pause",
        "preCompact": "pause",
        "sessionEnd": "end",
    },
    fields={
        "session": "$.conversation_id",
        "folder": "$.workspace_roots[0]",
        "prompt": "$.prompt",
    },
    answer=answer,
)


def parts(setup: Setup) -> list[InstallPart]:
    """What goes where."""
    from recollect.serve.install.parts import JsonHooks, JsonServer
    from recollect.serve.install.setup import HOOK_SECONDS

    folder = setup.folder(".cursor", ".cursor")
    handlers = {
        event: {"command": setup.hook_line(event), "timeout": HOOK_SECONDS}
        for event in HOOKS.events
    }
    return [
        JsonHooks(os.path.join(folder, "hooks.json"), setup.agent, handlers, version=1),
        JsonServer(os.path.join(folder, "mcp.json"), "mcpServers", setup.server()),
        setup.skill(),
    ]


def publish_targets() -> list[Target]:
    """A rule that always applies."""
    from recollect.model.publications import Target

    return [Target("cursor", ".cursor/rules/recollect.mdc", RULES_HEAD)]


AGENT = Agent(
    hooks=HOOKS,
    installer=Installer(
        parts,
        next_steps=["restart Cursor; its settings have a page for hooks and one for MCP servers"],
    ),
    publish_targets=publish_targets,
)
