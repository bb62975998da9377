"""What one session, or one live attempt, has to teach: signals, and how
often there was an occasion for each.

Without the occasions nobody could tell a habit from chance: three failures out
of three tries are a pattern, three out of three hundred are Tuesday.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.model.patterns import Signal

if TYPE_CHECKING:
    from recollect.model.notes import Trust
    from recollect.model.patterns import PatternKind

# How many steps were taken in all; every lesson has this occasion.
STEPS = ""
DID, FAILED, OVERCAME, CHANGED = "did ", "failed ", "overcame ", "changed "
# Neither, well, badly, both.
_ENDS = (None, True, False, None)


class Lesson:
    """Signals and occasions as they are gathered.

    The same thing seen twice is one signal, at the place where it was first.
    """

    __slots__ = ("_seen", "occasions", "trust")

    def __init__(self, trust: Trust = "tool-verified") -> None:
        # Where it was first, how it ended (in bits: well, badly), and whether
        # somebody else's words have to do with it.
        self._seen: dict[tuple[PatternKind, str], tuple[int, int, bool]] = {}
        self.occasions: dict[str, int] = {STEPS: 0}
        self.trust: Trust = trust

    def had(self, occasion: str) -> None:
        """There was an occasion once more."""
        self.occasions[occasion] = self.occasions.get(occasion, 0) + 1

    def add(
        self,
        kind: PatternKind,
        signature: str,
        turn: int,
        went_well: bool | None,
        *,
        external: bool = False,
    ) -> None:
        """One more sighting. What ended well here and badly there
        says nothing about how it ends.
        """
        key, ended = (kind, signature), 0 if went_well is None else 1 if went_well else 2
        known = self._seen.get(key)
        if known is not None:
            turn, ended, external = known[0], known[1] | ended, known[2] or external
        self._seen[key] = turn, ended, external

    @property
    def signals(self) -> list[Signal]:
        """Each signal once, in the order of their names."""
        return [
            Signal(
                kind=kind, signature=signature, turn=turn, went_well=_ENDS[ended],
                trust="external" if external else self.trust,
            )
            for (kind, signature), (turn, ended, external) in sorted(self._seen.items())
        ]  # fmt: skip
