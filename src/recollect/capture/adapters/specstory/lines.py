"""Lines of Markdown, with the blocks of code among them kept together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)")


class Line(NamedTuple):
    """One line outside of any block."""

    text: str


class Block(NamedTuple):
    """A block of code: its lines without the fences, and its last line's number."""

    language: str
    lines: list[str]
    end: int


class Markdown:
    """Some lines, and what begins on each of them.

    Where a block ends is remembered, and what has no end: a text full of
    beginnings would otherwise be searched from each of them to its end.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._unclosed: set[str] = set()
        # By the character of a fence: from this line on, none of this length or longer is closed.
        self._open: dict[str, tuple[int, int]] = {}
        # By fence: a block that begins between these two lines ends on the second.
        self._closed: dict[str, tuple[int, int]] = {}

    def pieces(self) -> Iterator[Line | Block]:
        """Blocks, and the lines between them, in order."""
        number = 0
        while number < len(self.lines):
            block = self.block_at(number)
            if block is None:
                yield Line(self.lines[number])
                number += 1
            else:
                yield block
                number = block.end + 1

    def block_at(self, start: int) -> Block | None:
        """The block of code that begins on a line; None when none does, or when it has no end."""
        opening = _FENCE.match(self.lines[start])
        end = self._end_of_fence(opening[1], start) if opening else None
        return (
            Block(opening[2], self.lines[start + 1 : end], end)
            if opening and end is not None
            else None
        )

    def end_of_block(self, start: int) -> int | None:
        """Where the block of code ends that begins on a line.

        None when none does, or when it has no end.
        """
        opening = _FENCE.match(self.lines[start])
        return self._end_of_fence(opening[1], start) if opening else None

    def _end_of_fence(self, fence: str, start: int) -> int | None:
        first, end = self._closed.get(fence, (0, 0))
        if first <= start < end:
            return end
        since, length = self._open.get(fence[0], (start + 1, 0))
        if since <= start and length <= len(fence):
            return None
        for number in range(start + 1, len(self.lines)):
            line = self.lines[number].strip()
            # Only the same characters, and at least as many, close it.
            if line.startswith(fence) and not line.strip(fence[0]):
                self._closed[fence] = (start, number)
                return number
        self._open[fence[0]] = (start, len(fence))
        return None

    def closing(self, start: int, tag: str) -> int:
        """The line after `start` that ends with a tag, blocks of code passed over.

        `start` itself when there is none.
        """
        number = start
        while number < len(self.lines) and tag not in self._unclosed:
            if self.lines[number].rstrip().endswith(tag):
                return number
            end = self.end_of_block(number) if number > start else None
            number = (number if end is None else end) + 1
        self._unclosed.add(tag)
        return start
