"""What holds for a sort of file: the check that is run as soon as such files were changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.patterns.lesson import CHANGED
from recollect.reading.signatures import INSTEAD

if TYPE_CHECKING:
    from recollect.patterns.lesson import Lesson
    from recollect.patterns.moves import Move


def extract(moves: Sequence[Move], lesson: Lesson, *, went_well: bool | None) -> None:
    """Which check comes next after the change of which files; looking around does not count.

    How the task ended is how it went: a check that fails is of use as well.
    """
    changed: dict[str, None] = {}
    for move in moves:
        deed = move.deed
        if deed.kind == "edit":
            if move.ok:
                for kind in deed.files:
                    changed[kind] = None
        elif changed and move.acting:
            for kind in changed:
                lesson.had(CHANGED + kind)
                if deed.first_check:
                    lesson.add(
                        "context", f"{kind}{INSTEAD}{deed.first_check}", move.turn, went_well
                    )
            changed = {}
