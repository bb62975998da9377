"""Codex: where the history that a fork or sub-agent copied ends.

A fork writes its own session_meta, then its parent's records with new
times, then goes on. What was copied is the parent's: neither shown nor counted
again. Its end is found from this file alone, so that it does not matter
whether the parent is still there, or which of the two is read first:

1. `subagent_history_start_ordinal`: the first ordinal that is the child's own.
   `history_base` without it: the parent is referred to and nothing is copied.
2. A turn id is a version 7 UUID and holds its time: a turn that began after
   the child's thread was made is the child's. `started_at` serves the same way.
3. Copied records are stamped in one go. Without a dated turn a pause of a
   second ends the stretch; after one, only a pause that no slow disk explains.

When only a pause was there to go by, and no session_meta of the parent, the end is a
guess. Then the token counts keep keys that the parent's own have too, and
whoever keeps them counts each once.
"""

from __future__ import annotations

from msgspec import Struct

from recollect.capture.adapters.codex.records import Fields, epoch_moment, uuid_moment, whole

PAUSE_MS = 1000
LONG_PAUSE_MS = 60_000


class Stretch(Struct, array_like=True):
    """The copied stretch of one file: whether we are in it, and what was seen of it."""

    open: bool = False
    born: int | None = None
    start: int | None = None
    last_at: int | None = None
    dated: bool = False
    foreign: bool = False
    guessed: bool = False

    def begin(self, meta: Fields, born: int | None, at: int | None) -> None:
        """What the file's own session_meta says about copied history."""
        self.born, self.last_at = born, at
        self.start = whole(meta.get("subagent_history_start_ordinal"))
        if self.start is not None:
            self.open = True
        elif meta.get("history_base") is None:
            self.open = isinstance(meta.get("forked_from_id"), str)

    def meet_parent(self, at: int | None) -> None:
        """Another thread's session_meta: its history follows."""
        self.open, self.foreign, self.last_at = True, True, at

    def covers(self, payload: Fields, ordinal: object, at: int | None) -> bool:
        """Whether a record is copied; the first that is not ends the stretch."""
        number = whole(ordinal)
        if self.start is not None and number is not None:
            self.open = number < self.start
            return self.open
        made = self._made(payload)
        if made is not None and self.born is not None:
            self.open = made < self.born
            self.dated = True
        elif at is None or self.last_at is None:
            # Without a clock there is nothing to tell copies by.
            self.open = self.last_at is not None
        elif at - self.last_at >= (LONG_PAUSE_MS if self.dated else PAUSE_MS):
            self.open = False
            self.guessed = not self.foreign and not self.dated
        if at is not None:
            self.last_at = at
        return self.open

    def _made(self, payload: Fields) -> int | None:
        turn = payload.get("turn_id")
        if turn is None:
            return None
        made = uuid_moment(turn)
        if made is None and payload.get("type") == "task_started":
            made = epoch_moment(payload.get("started_at"))
            # Whole seconds: a turn of the second in which the thread was made is its own.
            return made if made is None or made % 1000 else made + 999
        return made
