"""Trace memories as whoever works with them sees them: without the store's dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Candidate(NamedTuple):
    """A session that should have a trace memory, at this state of its digest.

    `queued` when a job is there to try it again.
    """

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


def without_lines(text: str, is_unwanted: Callable[[str], bool]) -> str:
    """A MEMORY.md without some of its lines, and without headings that have none left.

    Nothing when no line is left.
    """
    head, *sections = text.split("\n\n## ")
    kept = ""
    for section in sections:
        heading, _, below = section.partition("\n\n")
        if lines := [line for line in below.splitlines() if not is_unwanted(line)]:
            kept += "\n\n## " + "\n".join([heading, "", *lines])
    return f"{head}{kept}\n" if kept else ""
