"""Blocks that hosts wrap in tags, and put among the words of a person or around them.

They are found by plain searching, in time that grows with the text alone: a
hostile text may open ten thousand tags and close none.
"""

from __future__ import annotations


def inside(text: str, tag: str) -> str | None:
    """What stands in the first block of a tag; None when there is none that is closed."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    end = text.find(closing, start)
    return text[start + len(opening) : end].strip() if 0 <= start < end else None


def without(text: str, *tags: str) -> str:
    """A text without the blocks of some tags. One that is not closed goes on to the end."""
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        kept, position = [], 0
        while (start := text.find(opening, position)) >= 0:
            kept.append(text[position:start])
            end = text.find(closing, start)
            position = len(text) if end < 0 else end + len(closing)
        text = "".join([*kept, text[position:]])
    return text.strip()
