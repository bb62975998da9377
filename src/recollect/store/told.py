"""Memories ready to be told, as the store hands them out and takes them in.

On the path of a hook: nothing is imported.
"""

from __future__ import annotations


class Told:
    """A memory in one line; `refs` are the references of what it tells of, separated by spaces."""

    __slots__ = ("at", "line", "refs")

    def __init__(self, refs: str, line: str, at: int | None) -> None:
        self.refs, self.line, self.at = refs, line, at


class Reminder(Told):
    """What a command of this shape, or an error of it, came to before."""

    __slots__ = ("shape",)

    def __init__(self, shape: str, refs: str, line: str, at: int | None) -> None:
        super().__init__(refs, line, at)
        self.shape = shape
