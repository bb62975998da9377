"""What may be told of words that somebody else may have chosen: commands, names, errors.

The quoting guard knows what an argument, a branch or a file name has to look like to be able
to ask for something. It decides whether a command is told, never how much of it: one that it
would cut is told whole when a person typed it, or when it passed in two sessions that had
read nothing from outside. An error is told up to the end of its first sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.reading.quoting import quoted_command, quoted_path

_MOST = 400
# After the first sentence an error gives advice, and not always its program's own.
_SENTENCE = re.compile(r"(?<=[a-z0-9)'\"])[.;!?](?: |$)")
_ASKS = re.compile(
    r"https?://(?!\S*(?:localhost|127\.|registry\.))|\b(?:curl|wget|bash|sh|eval|base64)\b.*\||"
    r"\b(?:ignore|disregard|forget) (?:all|any|the|previous)\b|\byou (?:must|should|have to|need to)\b"
    r"|\bplease\b|\b(?:assistant|agent|system prompt)\b",
    re.IGNORECASE,
)


@lru_cache(8192)
def is_plain_command(command: str) -> bool:
    """Whether the guard would leave a command as it is."""
    if "\n" in command.strip():
        # In one line it would be another command.
        return False
    line = " ".join(command.split())
    quoted = quoted_command(line, _MOST).replace("‹", "<").replace("›", ">")
    return quoted == line.replace("`", "'")


@lru_cache(8192)
def is_plain_name(name: str) -> bool:
    """Whether the guard would leave a file's name as it is."""
    return quoted_path(name, _MOST) == name


def first_sentence(error: str) -> str:
    """An error without the advice after it; empty where it asks for something itself."""
    end = _SENTENCE.search(error)
    said = error[: end.start()] if end else error
    return "" if _ASKS.search(said) else said.strip()
