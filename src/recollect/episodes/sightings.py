"""What one attempt shows: sightings of what may recur, and how often each could have been seen.

Without the latter nobody could tell a habit from chance: three failures out of three tries
are a pattern, three out of three hundred are Tuesday.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from recollect.model.episodes import PatternKind
    from recollect.model.notes import Trust

# How many steps were taken in all; every attempt has this count.
STEPS = ""
DID, FAILED, OVERCAME, CHANGED = "did ", "failed ", "overcame ", "changed "
# Neither, well, badly, both.
_ENDS = (None, True, False, None)


class Sighting(NamedTuple):
    """One thing seen in one attempt that may be part of a pattern.

    The signature is the same wherever the same thing is seen, whoever does it: normalised
    commands and tools, classes of errors, kinds of files. `step` is the number of the step.
    """

    kind: PatternKind
    signature: str
    step: int
    went_well: bool | None
    trust: Trust


class Sightings:
    """Sightings and tries as they are gathered.

    The same thing seen twice is one sighting, at the step where it was first.
    """

    __slots__ = ("_seen", "tries", "trust")

    def __init__(self, trust: Trust = "tool-verified") -> None:
        # Where it was first, how it ended (in bits: well, badly), and whether
        # somebody else's words have to do with it.
        self._seen: dict[tuple[PatternKind, str], tuple[int, int, bool]] = {}
        self.tries: dict[str, int] = {STEPS: 0}
        self.trust: Trust = trust

    def tried(self, name: str) -> None:
        """It could have been seen once more."""
        self.tries[name] = self.tries.get(name, 0) + 1

    def add(
        self,
        kind: PatternKind,
        signature: str,
        step: int,
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
            step, ended, external = known[0], known[1] | ended, known[2] or external
        self._seen[key] = step, ended, external

    def __iter__(self) -> Iterator[Sighting]:
        for (kind, signature), (step, ended, external) in self._seen.items():
            trust = "external" if external else self.trust
            yield Sighting(kind, signature, step, _ENDS[ended], trust)
