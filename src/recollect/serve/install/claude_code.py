"""Claude Code: hooks in settings.json, the server in .claude.json, a skill.

Seen with Claude Code 2.1.197: a hook given as a program with `args` is started
without a shell; with CLAUDE_CONFIG_DIR set, .claude.json is in that folder too.
"""

from __future__ import annotations

import os

from recollect.serve.install.parts import SERVER, JsonHooks, JsonServer, Part
from recollect.serve.install.place import HOOK_SECONDS, Place, read_json

VARIABLE = "CLAUDE_CONFIG_DIR"
NEXT_STEPS = ["restart Claude Code; /hooks and /mcp show what it found"]


def parts(place: Place) -> list[Part]:
    """Where each part goes."""
    folder = place.folder(".claude", ".claude", variable=VARIABLE)
    groups = place.groups(
        lambda event: {
            "command": place.program[0],
            "args": place.hook(event)[1:],
            "timeout": HOOK_SECONDS,
        }
    )
    return [
        JsonHooks(os.path.join(folder, "settings.json"), place.agent, groups),
        JsonServer(_servers(place, folder), "mcpServers", {"type": "stdio", **place.server()}),
        place.skill(os.path.join(folder, "skills")),
    ]


def _servers(place: Place, folder: str) -> str:
    if not place.for_user:
        return os.path.join(place.project, ".mcp.json")
    return os.path.join(folder if place.environ.get(VARIABLE) else place.home, ".claude.json")


def plugin(place: Place) -> str | None:
    """The plugin of ours that is switched on here, and brings all parts itself."""
    paths = [os.path.join(place.user_folder(".claude", VARIABLE), "settings.json")]
    if not place.for_user:
        paths += [
            os.path.join(place.project, ".claude", name)
            for name in ("settings.json", "settings.local.json")
        ]
    switched: dict[str, object] = {}
    for path in paths:
        enabled = read_json(path).get("enabledPlugins")
        switched.update(enabled if isinstance(enabled, dict) else {})
    return next(
        (name for name, on in switched.items() if on and name.partition("@")[0] == SERVER), None
    )
