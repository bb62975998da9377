"""What holds for a sort of file: the check that is run as soon as such files were changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.learn.lesson import CHANGED
from recollect.learn.signatures import INSTEAD
from recollect.reading.checks import is_check

if TYPE_CHECKING:
    from recollect.learn.lesson import Lesson
    from recollect.learn.moves import Move


def extract(moves: Sequence[Move], lesson: Lesson) -> None:
    """Which check comes next after the change of which files, and how it ended. Looking around does not count."""
    changed: dict[str, None] = {}
    for move in moves:
        deed = move.deed
        if deed.kind == "edit":
            if move.ok is not False:
                changed.update((kind, None) for kind in deed.files if kind != "file")
        elif move.acting and changed:
            for kind in changed:
                lesson.had(CHANGED + kind)
                if deed.check and is_check(deed.steps[0]):
                    lesson.add("context", f"{kind}{INSTEAD}{deed.steps[0]}", move.turn, move.ok)
            changed = {}
