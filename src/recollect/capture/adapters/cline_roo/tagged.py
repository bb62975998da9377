"""Blocks such as `<path>a.py</path>` in a text, found in time that grows with the text alone.

A model may open a tag ten thousand times and close none; trying each of them
up to the end of the text, as a regular expression does, would take minutes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator
from typing import NamedTuple

_OPENING = re.compile(r"<(\w+)>")
_CLOSING = re.compile(r"</(\w+)>")


class Block(NamedTuple):
    """A tag that is opened and closed: where it stands in its text, and what is between."""

    tag: str
    start: int
    end: int
    inner: str


def tagged(text: str, tags: Container[str] | None = None) -> Iterator[Block]:
    """The blocks of some tags, or of any, one after the other.

    What stands inside one of them is part of it.
    """
    closings: dict[str, list[int]] = {}
    for closing in _CLOSING.finditer(text):
        closings.setdefault(closing[1], []).append(closing.start())
    position = 0
    for opening in _OPENING.finditer(text):
        tag, start = opening[1], opening.end()
        ends = closings.get(tag, [])
        number = bisect_left(ends, start)
        if opening.start() >= position and number < len(ends) and (tags is None or tag in tags):
            position = ends[number] + len(f"</{tag}>")
            yield Block(tag, opening.start(), position, text[start : ends[number]])
