"""What is published, as whoever publishes sees it: without the store's dialect."""

from __future__ import annotations

from typing import NamedTuple


class Lesson(NamedTuple):
    """Something a person accepted that holds in a project: a note, a pattern, or a heuristic that follows from one.

    `decided_at` is when it was first accepted; `sessions` and `agents` are how
    many speak for it. Of a heuristic, `held` and `failed` say how often it did, and
    `pattern` is what it follows from.
    """

    ref: str
    kind: str
    text: str
    decided_at: int
    sessions: int = 0
    agents: int = 0
    held: int = 0
    failed: int = 0
    pattern: str | None = None


class Block(NamedTuple):
    """What stands in a file of ours now, as far as we wrote it; `made` when the file was not there before."""

    path: str
    target: str
    hash: str
    refs: tuple[str, ...]
    made: bool
