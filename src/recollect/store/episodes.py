"""Attempts as retrieval compares them: columns of the store, without its dialect."""

from __future__ import annotations

from typing import NamedTuple


class EpisodeState(NamedTuple):
    """How often attempts were `reworded`, how often some went, and the `largest` id ever given."""

    reworded: int
    gone: int
    largest: int


class StoredEpisode(NamedTuple):
    """What there is to compare of a stored attempt: `project` is the number
    of its project, `worth` its reward.

    What was `derived` may be there several times, from forks of one session.
    """

    id: int
    task: str
    language: str | None
    domain: str | None
    project: int | None
    tags: tuple[str, ...]
    worth: float | None
    started_at: int | None
    derived: bool


class DigestedSession(NamedTuple):
    """A session with the time at which its digest was made."""

    number: int
    ref: str
    made_at: int
