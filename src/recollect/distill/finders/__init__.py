"""One module for each source of what is worth remembering; each finds candidates, none judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.distill.finders import (
    answers,
    commands,
    conclusions,
    instructions,
    kept_work,
    languages,
    machine,
    people,
    remedies,
    stale,
    standing,
)
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord

__all__ = ["find"]


def find(sessions: Sequence[SessionRecord], folder: Path | None = None) -> Iterator[Candidate]:
    """Every candidate of a project's sessions, the oldest session first.

    With the project's `folder` on this machine those are left out that its files speak against.
    """
    found = _found(sessions)
    return found if folder is None else stale.still_true(found, sessions, folder)


def _found(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    yield from people.find(sessions)
    for session in sessions:
        yield from answers.find(session)
        yield from instructions.find(session)
        yield from conclusions.find(session)
        yield from kept_work.find(session)
        yield from commands.typed(session)
    yield from languages.find(sessions)
    yield from machine.find(sessions)
    yield from remedies.find(sessions)
    yield from commands.find(sessions)
    yield from standing.find(sessions)
