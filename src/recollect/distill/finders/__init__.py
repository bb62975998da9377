"""One module for each source of what is worth remembering; each finds candidates, none judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.distill.finders import (
    answers,
    commands,
    conclusions,
    kept_work,
    machine,
    people,
    remedies,
    standing,
)
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord

__all__ = ["find"]


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """Every candidate of a project's sessions, the oldest session first."""
    yield from people.find(sessions)
    for session in sessions:
        yield from answers.find(session)
        yield from conclusions.find(session)
        yield from kept_work.find(session)
        yield from commands.typed(session)
    yield from machine.find(sessions)
    yield from remedies.find(sessions)
    yield from commands.find(sessions)
    yield from standing.find(sessions)
