"""Which turns of a transcript are still part of the conversation.

Records form a forest: each names the one before it. An edited or rewound
prompt hangs on an older record, and what came after that one stays in the
file, abandoned. We follow this turn by turn: every record has a place, the
turn it belongs to, and a turn knows the turn it continues.

Only two things move the tip of the conversation. A new prompt moves it to the
place of its parent. Any other record moves it only when its parent lies on a
branch that was left: results of parallel calls, retries and the late lines of
a split message all hang on older records of the path, and abandon nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from msgspec import Struct

# Places are kept for this many records of a file being read, far more than
# any real one has; beyond it the oldest half is let go.
_PLACES = 200_000
# Places that are no turn: before the first one, and wherever the tip is.
ROOT = -1
ADRIFT = -2


class ClaudeTurn(Struct, array_like=True):
    """A turn by its key, with the turn it continues and the record it hangs on.

    `side` marks the turn of a sub-agent inside its parent's file.
    """

    session: str
    key: str
    parent: int = ROOT
    link: str = ""
    live: bool = True
    side: bool = False


class ClaudeTurnTree:
    """The turns of one file in the order they were met, and the tip they lead to.

    After a resume only the newest turns are at hand, from number `base` on;
    `rescan` reads the file's beginning again when an older one is asked for,
    which happens at most once.
    """

    def __init__(
        self, turns: list[ClaudeTurn] | None = None, base: int = 0, tip: int = ROOT
    ) -> None:
        self.turns = turns or []
        self.base = base
        self.tip = tip
        self.places: dict[str, int] = {}
        self.rescan: Callable[[], ClaudeTurnTree] | None = None
        self._resumed = self.count

    @property
    def count(self) -> int:
        return self.base + len(self.turns)

    def turn(self, number: int) -> ClaudeTurn:
        """The turn with this number."""
        if number < self.base:
            self._complete()
        return self.turns[max(0, number - self.base)]

    def add(self, turn: ClaudeTurn) -> int:
        """Number a new turn."""
        self.turns.append(turn)
        return self.count - 1

    def let_go(self) -> None:
        """Forget the oldest places when there are too many."""
        if len(self.places) > _PLACES:
            self.places = dict(islice(self.places.items(), len(self.places) - _PLACES // 2, None))

    def find(self, uuid: str) -> int | None:
        """Where a record is, if need be by reading the file's beginning again."""
        place = self.places.get(uuid)
        if place is None and self.rescan is not None:
            self._complete()
            place = self.places.get(uuid)
        return place

    def on_path(self, place: int) -> bool:
        """Whether the turn at `place` leads to the tip."""
        # A turn continues an older one, so numbers only fall on the way up.
        number = self.tip
        while number > place:
            number = self._parent(number)
        return number == place

    def switch(self, place: int) -> Iterator[ClaudeTurn]:
        """Continue from `place`: the turns that are abandoned or come back by it, oldest first."""
        old, new = set(self._path(self.tip)), set(self._path(place))
        self.tip = place
        for number in sorted(old ^ new):
            turn, live = self.turn(number), number in new
            if turn.live != live:
                turn.live = live
                yield turn

    def _path(self, number: int) -> Iterator[int]:
        while number > ROOT:
            yield number
            number = self._parent(number)

    def _parent(self, number: int) -> int:
        turn = self.turn(number)
        return turn.parent if number >= self.base else ROOT

    def _complete(self) -> None:
        rescan, self.rescan = self.rescan, None
        whole = rescan() if rescan else ClaudeTurnTree()
        # Should the beginning have changed, its numbers say nothing about ours.
        if whole.count == self._resumed:
            self.turns = whole.turns[: self.base] + self.turns
            self.places = whole.places | self.places
            self.base = 0
