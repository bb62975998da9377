"""What retention knows of a turn whose events are stored whole."""

from __future__ import annotations

from typing import NamedTuple


class WholeTurn(NamedTuple):
    """A turn by its number; `at` is when it ended, as far as its log tells.

    `size_bytes` is what would count as raw no longer if its events went.
    `distilled` says that its session has a digest of what is stored now, and
    `quiet` that nothing was said in the session for a while.
    """

    turn: int
    size_bytes: int
    at: int | None
    distilled: bool
    quiet: bool


class Evicted(NamedTuple):
    """A turn whose events were let go.

    `raw_bytes` of them count no longer, `freed_bytes` of which are gone: none
    when the turn was small enough to stay as it is, and less than none when
    words of its digest were added. `kept_bytes` is all that is left.
    """

    turn: int
    raw_bytes: int
    freed_bytes: int
    kept_bytes: int
    distilled: bool
