"""OpenCode: a plugin of ours in place of hooks, the server in
opencode.json or opencode.jsonc, a skill.

Seen with OpenCode 1.18.33: it loads every file in its plugins folders, takes
comments and trailing commas in either settings file, and merges both.
"""

from __future__ import annotations

import json
import os
from importlib import resources

from recollect.serve.install.parts import SERVER, JsonServer, OwnFile, Part
from recollect.serve.install.place import Place, read_json

NEXT_STEPS = ["restart opencode; `opencode mcp list` shows the server"]


def parts(place: Place) -> list[Part]:
    """Where each part goes."""
    base = place.user_folder(".config", "XDG_CONFIG_HOME")
    folder = os.path.join(base, "opencode") if place.for_user else place.project
    plugins = os.path.join(
        folder if place.for_user else os.path.join(folder, ".opencode"), "plugins"
    )
    server = {"type": "local", "command": [*place.program, "mcp"], "enabled": True}
    return [
        OwnFile(
            "hooks", os.path.join(plugins, "recollect.js"), _script(place), comment=("// ", "")
        ),
        JsonServer(_settings(folder), "mcp", server),
        place.skill(),
    ]


def plugin(place: Place) -> str | None:
    """What we place in its plugins folder is our own part, not a plugin that somebody installed."""
    return None


def _settings(folder: str) -> str:
    """Of its two settings files the one that has our server, else the one that is there."""
    names = [os.path.join(folder, name) for name in ("opencode.json", "opencode.jsonc")]
    for path in names:
        if SERVER in (read_json(path).get("mcp") or {}):
            return path
    return next((path for path in names if os.path.lexists(path)), names[0])


def _script(place: Place) -> str:
    text = (
        resources.files("recollect.serve.install")
        .joinpath("opencode.js")
        .read_text(encoding="utf-8")
    )
    # The path comes last: it may hold any word.
    return text.replace("EVENTS", json.dumps(list(place.events())), 1).replace(
        "PROGRAM", json.dumps(place.program), 1
    )
