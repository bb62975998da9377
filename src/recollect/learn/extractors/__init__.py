"""Six ways to look at what was done in a task, each of which leaves signals in a lesson."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.learn.extractors import contexts, decisions, failures, friction, recoveries, sequences
from recollect.learn.lesson import STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.learn.lesson import Lesson
    from recollect.learn.moves import Move


def extract(moves: Sequence[Move], lesson: Lesson, *, went_well: bool | None) -> None:
    """Everything that the moves of one task show; `went_well` is how the task ended."""
    _count(moves, lesson)
    sequences.extract(moves, lesson, went_well=went_well)
    contexts.extract(moves, lesson)
    friction.extract(moves, lesson)
    if any(move.failed for move in moves):
        failures.extract(recoveries.extract(moves, lesson), lesson)
        decisions.extract(moves, lesson)


def _count(moves: Sequence[Move], lesson: Lesson) -> None:
    """How often each thing was done, whatever came of it."""
    occasions = lesson.occasions
    for move in moves:
        if move.acting:
            occasions[STEPS] += len(move.deed.steps)
        for name in move.deed.occasions:
            occasions[name] = occasions.get(name, 0) + 1
