"""Steps that follow one another: two to five, each of which went well.

Looking around between two steps is left out, and so is doing the same twice. A
sequence is worth a word when at least two of its steps are more than what
everybody does with files and git.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.learn.signatures import EDIT, MCP, THEN
from recollect.reading.programs import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.learn.lesson import Lesson
    from recollect.learn.moves import Move

LONGEST = 5
# Of a task that goes on and on, so many steps are looked at.
MOST_STEPS = 400
# What comes between any two steps, or says nothing without its arguments.
_DULL = names(
    "shell tool other cat cd chmod chown cp curl date echo env export false head kill ln ls mkdir mv pkill printf pwd rm rmdir "
    "sed sleep tail tee test touch true wget which search read web task write_stdin update_plan"
)
_DULL_COMMANDS = frozenset({
    "git add", "git branch", "git checkout", "git clone", "git commit", "git diff", "git fetch", "git log", "git merge",
    "git pull", "git push", "git reset", "git restore", "git show", "git stash", "git status", "git switch", "git init",
    "git config", "python -c", "python3 -c", "node -c", "bash -c", "perl -c", "ruby -c",
})  # fmt: skip


@lru_cache(16_384)
def informs(step: str) -> bool:
    """Whether a step tells something that is not true of all work."""
    if step.startswith(EDIT):
        return not step.startswith((EDIT + ".", EDIT + "file"))
    return step not in _DULL_COMMANDS and step.partition(" ")[0] not in _DULL


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
    steps: list[str] = []
    turns: list[int] = []
    for move in trail:
        for step in move.deed.steps:
            if not steps or steps[-1] != step:
                steps.append(step)
                turns.append(move.turn)
    for start, end, signature in runs(steps):
        outside = any(step.startswith(MCP) for step in steps[start:end])
        lesson.add("tool_sequence", signature, turns[start], went_well, external=outside)


def runs(steps: list[str]) -> list[tuple[int, int, str]]:
    """Two to five different steps in a row that are worth a word: where they begin and end, and their signature."""
    found = []
    telling = [informs(step) for step in steps]
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
            # A sequence begins and ends with what tells something; what is dull may only stand between. What comes
            # right after a change of a file is told as that.
            if telling[end] and not (end == start + 1 and (step.startswith(EDIT) or steps[start].startswith(EDIT))):
                found.append((start, end + 1, signature))
    return found
