"""Steps that follow one another: two to five, each of which went well.

Looking around between two steps is left out, and so is doing the same twice. A
sequence is worth a word when at least two of its steps are more than what
everybody does with files and git.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.reading.signatures import EDIT, THEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.patterns.lesson import Lesson
    from recollect.patterns.moves import Move

LONGEST = 5
# Of a task that goes on and on, so many steps are looked at.
MOST_STEPS = 400


def extract(moves: Sequence[Move], lesson: Lesson, *, went_well: bool | None) -> None:
    """Every sequence of a task, where it was first; how the task ended is how it went."""
    trail: list[Move] = []
    for move in moves[:MOST_STEPS]:
        if move.ok is False:
            _take(trail, lesson, went_well)
            trail = []
        elif move.acting:
            trail.append(move)
    _take(trail, lesson, went_well)


def _take(trail: list[Move], lesson: Lesson, went_well: bool | None) -> None:
    if len(trail) < 2 and (not trail or trail[0].deed.step):
        return
    steps: list[str] = []
    turns: list[int] = []
    telling: list[bool] = []
    outside: set[str] = set()
    last = ""
    for move in trail:
        deed = move.deed
        for step in deed.steps:
            if step != last:
                steps.append(step)
                turns.append(move.turn)
                telling.append(step in deed.telling)
                last = step
        if deed.external:
            outside.update(deed.steps)
    if sum(telling) > 1:
        for start, end, signature in _runs(steps, telling):
            is_external = bool(outside) and not outside.isdisjoint(steps[start:end])
            lesson.add("tool_sequence", signature, turns[start], went_well, external=is_external)


def _runs(steps: list[str], telling: list[bool]) -> list[tuple[int, int, str]]:
    """Two to five different steps in a row that are worth a word: where they
    begin and end, and their signature.
    """
    found = []
    count = len(steps)
    for start in range(count - 1):
        if not telling[start]:
            continue
        signature = steps[start]
        for end in range(start + 1, min(start + LONGEST, count)):
            step = steps[end]
            if step in steps[start:end]:
                break
            signature += THEN + step
            # A sequence begins and ends with what tells something; what is dull may only stand
            # between. What comes right after a change of a file is told as that.
            if telling[end] and not (
                end == start + 1 and (step.startswith(EDIT) or steps[start].startswith(EDIT))
            ):
                found.append((start, end + 1, signature))
    return found
