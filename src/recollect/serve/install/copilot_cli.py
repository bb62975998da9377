"""Copilot CLI: a file of hooks of our own, the server in mcp-config.json, a skill."""

from __future__ import annotations

import os

from recollect.serve.install.parts import JsonHooks, JsonServer, Part
from recollect.serve.install.place import HOOK_SECONDS, Place
from recollect.system import platforms

NEXT_STEPS = ["restart copilot; `copilot mcp list` shows the server"]


def parts(place: Place) -> list[Part]:
    """Where each part goes.

    In a project `.mcp.json` would do too, but that one is Claude Code's.
    """
    folder = place.folder(".copilot", ".github", variable="COPILOT_HOME")
    handlers = {
        event: {
            "type": "command",
            **_call(place, event),
            "timeoutSec": HOOK_SECONDS,
        }
        for event in place.events()
    }
    servers = "mcp-config.json" if place.for_user else "mcp.json"
    return [
        JsonHooks(
            os.path.join(folder, "hooks", "recollect.json"), place.agent, handlers, version=1
        ),
        JsonServer(
            os.path.join(folder, servers),
            "mcpServers",
            {"type": "local", **place.server(), "tools": ["*"]},
        ),
        place.skill(),
    ]


def _call(place: Place, event: str) -> dict[str, str]:
    if platforms.WINDOWS:
        quoted = ("'" + word.replace("'", "''") + "'" for word in place.hook(event))
        return {"powershell": f"& {' '.join(quoted)}"}
    return {"bash": place.hook_line(event)}


def plugin(place: Place) -> str | None:
    """We have none for it."""
    return None
