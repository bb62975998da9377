"""OpenCode: a plugin of ours in place of hooks, the server in opencode.json or
opencode.jsonc, a skill.

OpenCode has no command hooks: what is passed and taken here is between us and
our plugin, opencode.js. Seen with 1.18.33: it loads every file in its plugins
folders, takes comments and trailing commas in either settings file, and merges
both.
"""

from __future__ import annotations

import os

from recollect.serve.agents import Agent, Hooks, Installer, Resume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup

HOOKS = Hooks(
    events={
        "session.created": "start",
        "chat.message": "prompt",
        "tool.execute.before": "command",
        # The plugin passes on only the commands that failed.
        "tool.execute.after": "failure",
        "session.idle": "pause",
        "session.compacted": "pause",
    },
    fields={
        "session": "$.session",
        "folder": "$.folder",
        "prompt": "$.prompt",
        "tool": "$.tool",
        "command": "$.command",
        "error": "$.error",
    },
    shell_tools=("bash",),
    answer=lambda event, context: f'{{"context":{context}}}',
)


def parts(setup: Setup) -> list[InstallPart]:
    """What goes where."""
    from recollect.serve.install.parts import JsonServer, OwnFile

    if setup.for_user:
        folder = os.path.join(setup.user_folder(".config", "XDG_CONFIG_HOME"), "opencode")
        plugins = os.path.join(folder, "plugins")
    else:
        folder = setup.project
        plugins = os.path.join(folder, ".opencode", "plugins")
    script = os.path.join(plugins, "recollect.js")
    server = {"type": "local", "command": [*setup.program, "mcp"], "enabled": True}
    return [
        OwnFile("hooks", script, _script(setup), comment=("// ", "")),
        JsonServer(_settings(folder), "mcp", server),
        setup.skill(),
    ]


def _settings(folder: str) -> str:
    """Of its two settings files the one that has our server, else the one that is there."""
    from recollect.serve.install.parts import SERVER
    from recollect.serve.install.setup import read_json

    names = [os.path.join(folder, name) for name in ("opencode.json", "opencode.jsonc")]
    for path in names:
        if SERVER in (read_json(path).get("mcp") or {}):
            return path
    return next((path for path in names if os.path.lexists(path)), names[0])


def _script(setup: Setup) -> str:
    import json
    from importlib import resources

    template = resources.files("recollect.serve.agents").joinpath("opencode.js")
    text = template.read_text(encoding="utf-8")
    # The path comes last: it may hold any word.
    text = text.replace("EVENTS", json.dumps(list(HOOKS.events)), 1)
    return text.replace("PROGRAM", json.dumps(setup.program), 1)


AGENT = Agent(
    hooks=HOOKS,
    installer=Installer(
        parts, next_steps=["restart opencode; `opencode mcp list` shows the server"]
    ),
    resume=Resume(("opencode", "--session"), ".local/share/opencode"),
    start=("opencode", "--prompt"),
)
