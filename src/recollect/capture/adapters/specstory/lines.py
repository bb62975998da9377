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

    What has no end is remembered: a text full of such beginnings would
    otherwise be searched from each of them to its end.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._unclosed: dict[str, int] = {}

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
        if opening is None:
            return None
        fence = opening[1]
        if len(fence) >= self._unclosed.get(fence[0], len(fence) + 1):
            return None
        for number in range(start + 1, len(self.lines)):
            line = self.lines[number].strip()
            # Only the same characters, and at least as many, close it.
            if line.startswith(fence) and not line.strip(fence[0]):
                return Block(opening[2], self.lines[start + 1 : number], number)
        self._unclosed[fence[0]] = len(fence)
        return None

    def closing(self, start: int, tag: str) -> int:
        """The line after `start` that ends with a tag, blocks of code passed over; `start` itself when there is none."""
        number = start
        while number < len(self.lines) and tag not in self._unclosed:
            if self.lines[number].rstrip().endswith(tag):
                return number
            block = self.block_at(number) if number > start else None
            number = (block.end if block else number) + 1
        self._unclosed[tag] = start
        return start
