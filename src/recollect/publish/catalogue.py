"""What a person may say about a pattern: one line of plain words, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from recollect.errors import UsageError
from recollect.model.patterns import PatternStatus
from recollect.reading.quoting import visible

STATUSES: tuple[PatternStatus, ...] = get_args(PatternStatus)
MOST_CHARACTERS, MOST_WHY_CHARACTERS = 600, 300


def sentence_of(text: str, redact: Callable[[str], str]) -> str:
    """What a person says of a pattern, as it is kept.

    A clear error when nothing, or too much, is left.
    """
    line = _line(text, redact, MOST_CHARACTERS, "sentence")
    if not any(map(str.isalnum, line)):
        raise UsageError(
            "This sentence has no words.",
            hint="Say in a sentence what keeps coming back and what to do about it.",
        )
    return line


def why_of(text: str, redact: Callable[[str], str]) -> str:
    """Why a person decides so; nothing is an answer too."""
    return _line(text, redact, MOST_WHY_CHARACTERS, "reason")


def _line(text: str, redact: Callable[[str], str], most: int, name: str) -> str:
    if "\0" in text:
        raise UsageError("This is not text: it has a NUL character.", hint="Pass plain text.")
    line = visible(redact(visible(text)))
    if len(line) > most:
        raise UsageError(
            f"This {name} has {len(line)} characters; at most {most} are allowed.",
            hint="Make it shorter.",
        )
    return line
