"""Codex: hooks in hooks.json, the server in config.toml, a skill.

Codex runs a hook only when the user has looked at it and said that it may:
one that is new or changed is passed over without a word until then.
"""

from __future__ import annotations

import os

from recollect.serve.install.parts import JsonHooks, Part, TomlServer
from recollect.serve.install.place import HOOK_SECONDS, Place

# It waits no longer than this at its end, and warns about a hook that asks for more.
END_SECONDS = 3
NEXT_STEPS = [
    "open codex, run /hooks and trust the hooks of recollect: until you do, Codex skips them "
    "silently",
    "after that, restart codex; `codex mcp list` shows the server",
]


def parts(place: Place) -> list[Part]:
    """Where each part goes."""
    folder = place.folder(".codex", ".codex", variable="CODEX_HOME")
    groups = place.groups(
        lambda event: {
            "command": place.hook_line(event),
            "timeout": END_SECONDS if event == "SessionEnd" else HOOK_SECONDS,
        }
    )
    return [
        JsonHooks(os.path.join(folder, "hooks.json"), place.agent, groups),
        TomlServer(os.path.join(folder, "config.toml"), "mcp_servers", place.server()),
        place.skill(),
    ]


def plugin(place: Place) -> str | None:
    """We have none for it."""
    return None
