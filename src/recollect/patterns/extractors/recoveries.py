"""A step that failed, and what was done before it passed.

The proof is that the same command, or one of the same program and subcommand,
passes later in the task. The last thing that was changed before it is taken for
what made it pass; where it failed again instead, that speaks against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.patterns.lesson import OVERCAME
from recollect.reading.signatures import FAILS, INSTEAD, informs

if TYPE_CHECKING:
    from recollect.patterns.lesson import Lesson
    from recollect.patterns.moves import Move

# A command that passes a day of work later says little about an error.
MOVES_AFTER = 40
AGAIN = "again"
Ended = list[tuple["Move", bool]]


def extract(moves: Sequence[Move], lesson: Lesson) -> Ended:
    """What made failed steps pass; returns every failed step with whether it was overcome."""
    ended: Ended = []
    for index, failed in enumerate(moves):
        if failed.failed and failed.deed.plain_step:
            ended.append(
                (failed, _follow(failed, moves[index + 1 : index + 1 + MOVES_AFTER], lesson))
            )
    return ended


def _follow(failed: Move, later: Sequence[Move], lesson: Lesson) -> bool:
    """Look for the next try of a failed step, and for what was done before it."""
    fix: Move | None = None
    is_first = is_shell = failed.deed.kind == "shell"
    program = failed.deed.last_program
    for move in later:
        # Most moves have nothing to do with it, which their programs tell at once.
        match = None if is_shell and program not in move.deed.programs else move.tries_again(failed)
        if match is None:
            fix = move if move.acting and move.ok and move.deed.step else fix
        elif move.ok is not None and not move.declined:
            if move.ok and match[1]:
                # The rest of the line hides how it ended.
                continue
            if is_first:
                _tell(failed, fix, move, lesson, passed=move.ok, is_same=match[0] == "same")
                is_first = False
            if move.ok:
                return True
    return False


def _tell(
    failed: Move, fix: Move | None, move: Move, lesson: Lesson, *, passed: bool, is_same: bool
) -> None:
    if fix is None and not is_same:
        # Another use of the program: nothing was done about the first.
        return
    tried = f"{failed.deed.plain_step}{FAILS}{failed.error}"
    lesson.had(OVERCAME + tried)
    name = AGAIN if fix is None else fix.deed.step
    if passed if fix is None else informs(name):
        external = failed.deed.external or (fix is not None and fix.deed.external)
        lesson.add(
            "error_recovery", f"{tried}{INSTEAD}{name}", move.turn, passed, external=external
        )
