"""Trace memories as whoever works with them sees them: without the store's dialect."""

from __future__ import annotations

from typing import NamedTuple


class Candidate(NamedTuple):
    """A session that should have a trace memory, at this state of its digest; `queued` when a job is there to try it again."""

    session: int
    ref: str
    state: str
    queued: bool


class KeptTrace(NamedTuple):
    """A session's trace memory, with what its file says of the session."""

    session: str
    cwd: str | None
    source: str | None
    at: int | None
    title: str
    memory: str
    summary: str


class Published(NamedTuple):
    """A file of a project's memory, and the sessions behind it."""

    text: str
    sessions: list[str]
