"""What became of what was offered, as whoever measures it sees it: without the store's dialect."""

from __future__ import annotations

from typing import NamedTuple

from recollect.model.sessions import Outcome

# What says that a memory was read, not that it was offered.
OPENING = ("get", "show")
# Of these each sighting is something that went wrong, even if it was put right then.
UNWANTED = ("failure", "error_recovery", "friction")


class Offer(NamedTuple):
    """What a face handed to an agent at some time.

    `session` is the session's reference where that is known.
    """

    at: int
    event: str
    session: str | None
    refs: frozenset[str]


class Seen(NamedTuple):
    """One sighting of a pattern: in which session and turn, when, and how it ended."""

    session: int
    turn: int
    at: int | None
    went_well: bool | None


class Held(NamedTuple):
    """A session of some project: its number, reference and time."""

    session: int
    ref: str
    at: int


class Done(NamedTuple):
    """A task as it is compared with others: the session it is from, its
    turns, how it went and what it took.
    """

    session: int
    turns: frozenset[int]
    outcome: Outcome
    tokens: int
    seconds: int | None


class Subject(NamedTuple):
    """Something to measure: a pattern or a note, and since when it is told.

    Without a project it holds everywhere.
    """

    ref: str
    kind: str
    text: str
    status: str
    since: int | None
    signature: str | None
    projects: tuple[int, ...]
