"""What is published, as whoever publishes sees it: without the store's dialect."""

from __future__ import annotations

from typing import NamedTuple


class Lesson(NamedTuple):
    """Something a person accepted that holds in a project: a note or a pattern.

    `decided_at` is when it was first accepted; `sessions` and `agents` are how
    many speak for it.
    """

    ref: str
    kind: str
    text: str
    decided_at: int
    sessions: int = 0
    agents: int = 0


class Block(NamedTuple):
    """What stands in a file of ours now, as far as we wrote it.

    `made` when the file was not there before.
    """

    path: str
    target: str
    hash: str
    refs: tuple[str, ...]
    made: bool
