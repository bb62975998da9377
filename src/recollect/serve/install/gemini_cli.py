"""Gemini CLI: hooks and the server in settings.json, a skill.

It counts a hook's time in milliseconds.
"""

from __future__ import annotations

import os

from recollect.serve.install.parts import SERVER, JsonHooks, JsonServer, Part
from recollect.serve.install.place import HOOK_SECONDS, Place, read_json

NEXT_STEPS = ["restart gemini; /hooks and /mcp show what it found"]


def parts(place: Place) -> list[Part]:
    """Where each part goes."""
    settings = os.path.join(place.folder(".gemini", ".gemini"), "settings.json")
    groups = place.groups(
        lambda event: {
            "name": f"recollect {event}",
            "command": place.hook_line(event),
            "timeout": HOOK_SECONDS * 1000,
        }
    )
    return [
        JsonHooks(settings, place.agent, groups),
        JsonServer(settings, "mcpServers", place.server()),
        place.skill(),
    ]


def plugin(place: Place) -> str | None:
    """The extension of ours, which brings all parts itself."""
    folder = os.path.join(place.user_folder(".gemini"), "extensions", SERVER)
    return (
        f"extension {SERVER}" if read_json(os.path.join(folder, "gemini-extension.json")) else None
    )
