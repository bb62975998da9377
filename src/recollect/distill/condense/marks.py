"""Short names of sessions and turns, as a record cites them: `[a1b2#4]`.

A session's name is the end of its own id, as many characters as tell it from the older ones:
it stays the same when sessions are added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from recollect.model.record import SessionRecord

FEWEST = 4


class Marks:
    """The short names of a project's sessions and turns, and what they stand for."""

    def __init__(self, sessions: Sequence[SessionRecord]) -> None:
        self._names: dict[str, str] = {}
        self._turns: dict[str, str] = {}
        taken: set[str] = set()
        for session in sessions:
            name = _name(session.ref, taken)
            taken.add(name)
            self._names[session.ref] = name
            for turn in session.turns:
                self._turns[self.of(turn.ref)[1:-1]] = turn.ref

    def session(self, ref: str) -> str:
        """The short name of a session."""
        return self._names[ref]

    def of(self, turn: str) -> str:
        """How a turn is cited."""
        session, _, number = turn.rpartition("#")
        return f"[{self._names[session]}#{number}]"

    def knows(self, turn: str) -> bool:
        """Whether a turn is one of the project's sessions'."""
        return turn.rpartition("#")[0] in self._names

    def find(self, cited: str) -> str | None:
        """The turn that `a1b2#4` stands for."""
        return self._turns.get(cited)


def _name(ref: str, taken: set[str]) -> str:
    letters = re.sub(r"[^0-9a-zA-Z]", "", ref.partition(":")[2] or ref)
    if len(letters) < FEWEST:
        letters = sha256(ref.encode()).hexdigest()
    length = FEWEST
    while letters[-length:] in taken and length < len(letters):
        length += 1
    name = letters[-length:]
    return name if name not in taken else sha256(ref.encode()).hexdigest()[:12]
