"""Blocks that hosts wrap in tags, and put among the words of a person or around them.

They are found by plain searching, in time that grows with the text alone: a
hostile text may open ten thousand tags and close none.
"""

from __future__ import annotations

import re
from functools import lru_cache


def inside(text: str, tag: str) -> str | None:
    """What stands in the first block of a tag; None when there is none that is closed."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    end = text.find(closing, start)
    return text[start + len(opening) : end].strip() if 0 <= start < end else None


def without(text: str, *tags: str) -> str:
    """A text without the blocks of some tags.

    One that is not closed stays: somebody wrote about the tag.
    """
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    for opening in _openings(tags).finditer(text):
        tag = opening[1]
        if opening.start() < position or tag in unclosed:
            continue
        end = text.find(f"</{tag}>", opening.end())
        if end < 0:
            unclosed.add(tag)
            continue
        kept.append(text[position : opening.start()])
        position = end + len(f"</{tag}>")
    return "".join([*kept, text[position:]]).strip()


@lru_cache
def _openings(tags: tuple[str, ...]) -> re.Pattern[str]:
    """How blocks of these tags begin; some have attributes."""
    return re.compile(rf"<({'|'.join(map(re.escape, tags))})(?:\s[^<>]*)?>")
