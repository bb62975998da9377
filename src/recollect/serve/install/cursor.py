"""Cursor: hooks in hooks.json, the server in mcp.json, a skill.

From its documents only: it has no command line to try.
"""

from __future__ import annotations

import os

from recollect.serve.install.parts import JsonHooks, JsonServer, Part
from recollect.serve.install.place import HOOK_SECONDS, Place

NEXT_STEPS = ["restart Cursor; its settings have a page for hooks and one for MCP servers"]


def parts(place: Place) -> list[Part]:
    """Where each part goes."""
    folder = place.folder(".cursor", ".cursor")
    handlers = {
        event: {"command": place.hook_line(event), "timeout": HOOK_SECONDS}
        for event in place.events()
    }
    return [
        JsonHooks(os.path.join(folder, "hooks.json"), place.agent, handlers, version=1),
        JsonServer(os.path.join(folder, "mcp.json"), "mcpServers", place.server()),
        place.skill(),
    ]


def plugin(place: Place) -> str | None:
    """We have none for it."""
    return None
