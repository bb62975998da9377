"""Six ways to look at what was done in a task, each of which leaves signals in a lesson."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.patterns.extractors import (
    contexts,
    decisions,
    failures,
    friction,
    recoveries,
    sequences,
)
from recollect.patterns.lesson import STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.patterns.lesson import Lesson
    from recollect.patterns.moves import Move


def extract(moves: Sequence[Move], lesson: Lesson, *, went_well: bool | None) -> None:
    """Everything that the moves of one task show; `went_well` is how the task ended."""
    has_failed = _count(moves, lesson)
    sequences.extract(moves, lesson, went_well=went_well)
    contexts.extract(moves, lesson, went_well=went_well)
    friction.extract(moves, lesson)
    if has_failed:
        failures.extract(recoveries.extract(moves, lesson), lesson)
        decisions.extract(moves, lesson)


def _count(moves: Sequence[Move], lesson: Lesson) -> bool:
    """How often each thing was done, whatever came of it; says whether something failed."""
    occasions, steps, has_failed = lesson.occasions, 0, False
    for move in moves:
        deed = move.deed
        has_failed = has_failed or move.failed
        if move.acting:
            steps += len(deed.steps)
        for name in deed.occasions:
            occasions[name] = occasions.get(name, 0) + 1
    occasions[STEPS] += steps
    return has_failed
