"""What people tell the program around an agent, and not the agent: `/clear`, `/context`, `/rename`.

Nothing comes of it that anybody would look for. `/review` and `/plan` are not
among them: those are requests, in other words.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

import re

_NAMES = (
    "add-dir|agents|allowed-tools|bashes|bug|chrome|clear|color|compact|config|context|copy|cost|"
    "desktop|doctor|effort|exit|export|extra-usage|fast|feedback|fork|help|hooks|ide|insights|"
    "install-github-app|install-slack-app|keybindings|login|logout|mcp|memory|mobile|mode|model|new|"
    "output-style|passes|permissions|plugin|plugins|privacy-settings|quit|rate-limit-options|"
    "release-notes|reload-plugins|remote-control|remote-env|rename|reset|resume|rewind|sandbox|"
    "session|settings|skills|stats|status|statusline|stickers|tag|tasks|terminal-setup|theme|"
    "think-back|todos|undo|upgrade|usage|vim|voice"
)
_COMMAND = re.compile(rf"/(?:{_NAMES})(?![\w:/.-])[^\n]*", re.IGNORECASE)


def is_client_command(text: str) -> bool:
    """Whether a typed line is said to the program alone."""
    return _COMMAND.fullmatch(text.strip()) is not None
