"""Patterns of very many phrases, tried only where one of them may be.

Python's `re` tries every alternative at every place of a text; re2 goes through
the text once, however many there are. It knows no lookaround, and takes only
ASCII letters for parts of a word. So it is asked one question: without its
lookarounds, which only rule things out, can the pattern be in this ASCII text
at all? Where it can, and in every other text, `re` decides.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")


class Screened:
    """A pattern that finds what `re` finds, and is mostly faster at finding nothing."""

    __slots__ = ("_may_find", "_pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = re.compile(pattern, flags)
        self._may_find = _screen(pattern, ignore_case=bool(flags & re.IGNORECASE))

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in a text that fits."""
        if self._may_find is not None and text.isascii() and not self._may_find(text.encode()):
            return None
        return self._pattern.search(text)


def _screen(pattern: str, *, ignore_case: bool) -> Any:
    """What tells quickly that a pattern is not in a text; None where re2 is missing or cannot read the pattern."""
    try:
        re2 = import_module("re2")
    except ImportError:
        return None
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(without_lookaround(pattern).encode(), options=options).search
    except re2.error:
        return None


def without_lookaround(pattern: str) -> str:
    """A pattern that fits wherever the given one does, and perhaps in more places."""
    kept: list[str] = []
    place, skipped_depth, in_class = 0, 0, False
    while place < len(pattern):
        char = pattern[place]
        piece = pattern[place : place + 2] if char == "\\" else char
        if not in_class:
            if skipped_depth:
                skipped_depth += (char == "(") - (char == ")")
                in_class = char == "["
                place += len(piece)
                continue
            if pattern.startswith(_LOOKAROUND, place):
                skipped_depth = 1
                place += 1
                continue
            in_class = char == "["
        elif char == "]":
            in_class = False
        if not skipped_depth:
            kept.append(piece)
        place += len(piece)
    return "".join(kept)
