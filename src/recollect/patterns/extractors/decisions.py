"""Alternatives that were tried for the same purpose, and which one held.

One command failed, another that is for the same was run soon afterwards, and
the first was not seen to work in the rest of the task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.patterns.lesson import FAILED
from recollect.patterns.purposes import are_alternatives
from recollect.reading.signatures import INSTEAD

if TYPE_CHECKING:
    from recollect.patterns.lesson import Lesson
    from recollect.patterns.moves import Move

# Another way is tried at once, or not because of the failure.
MOVES_AFTER = 6


def extract(moves: Sequence[Move], lesson: Lesson) -> None:
    """What was tried instead of a command that failed; it ended well where that worked."""
    worked_at = {move.deed.form: index for index, move in enumerate(moves) if move.ok}
    for index, failed in enumerate(moves):
        form = failed.deed.form
        if not failed.failed or not form:
            continue
        lesson.had(FAILED + form)
        if worked_at.get(form, -1) > index:
            continue
        for other in moves[index + 1 : index + 1 + MOVES_AFTER]:
            if _is_tried_instead(failed, form, other):
                lesson.add(
                    "decision_point", f"{form}{INSTEAD}{other.deed.form}", other.turn, other.ok
                )
                break


def _is_tried_instead(failed: Move, form: str, other: Move) -> bool:
    if other.ok is None or other.declined or other.deed.form in ("", form):
        return False
    return are_alternatives(
        failed.deed.main[0][1], other.deed.main[0][1], failed.deed.step, other.deed.step
    )
