"""What was seen how often, as learning sees it: rows of the store, without its dialect."""

from __future__ import annotations

from typing import NamedTuple

from recollect.model.notes import Trust
from recollect.model.patterns import PatternKind

Key = tuple[PatternKind, str]
DAY_MS = 86_400_000


class Seen(NamedTuple):
    """One sighting. `unit` is the session it was in, or below 0 the live attempt.

    `root` the session that counts for it.

    Forks and sub-agents count with the session that they come from.
    """

    unit: int
    root: str
    agent: str | None
    turn: int
    went_well: bool | None
    trust: Trust
    at: int | None


class Tally(NamedTuple):
    """What the sightings of one thing come to.

    See the table of that name. `agents` are separated by spaces.
    """

    kind: PatternKind
    signature: str
    pattern: str
    occasion: str
    sentence: str
    sessions: int
    went_well: int
    went_wrong: int
    chance: float | None
    confidence: float
    agents: str
    trust: Trust
    first_at: int | None
    last_at: int | None
    stands: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether more than one agent does it."""
        return " " in self.agents

    @property
    def key(self) -> Key:
        """What it is a tally of."""
        return self.kind, self.signature


class Selection(NamedTuple):
    """Which sessions and attempts are looked at; None means all."""

    agent: str | None = None
    project: str | None = None
    since: int | None = None


EVERYTHING = Selection()


class Rule(NamedTuple):
    """A heuristic as it is kept: what it follows from, and how often it held."""

    id: str
    pattern: str
    condition: str
    action: str
    held: int
    failed: int
    retired: bool


def fading(last_at: int | None, now: int, half_life_days: int) -> float:
    """How much is left of a confidence after a time without a sighting.

    A thing of unknown age has lost half.
    """
    if last_at is None:
        return 0.5
    return (
        float(0.5 ** (max(now - last_at, 0) / (half_life_days * DAY_MS))) if half_life_days else 1.0
    )
