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
    """A session whose digest is in some state."""

    number: int
    ref: str
    state: str
