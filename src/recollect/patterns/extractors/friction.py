"""Waste: the same file read again and again, the same command tried again and
again, what a person had to decline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.reading.signatures import file_kind

if TYPE_CHECKING:
    from recollect.patterns.lesson import Lesson
    from recollect.patterns.moves import Move

# The same part of a file, and nothing changed in between: twice may be care.
READS = 3
# The same command, failing, and nothing done in between: twice may be bad luck.
TRIES = 3
REREAD, RETRY, REFUSED = "reread ", "retry ", "refused "


def extract(moves: Sequence[Move], lesson: Lesson) -> None:
    """Every waste in a task; none of it ends well."""
    reads: dict[tuple[str, str], int] = {}
    tries: dict[str, int] = {}
    for move in moves:
        deed = move.deed
        if move.declined:
            if deed.plain_step:
                lesson.add(
                    "friction", REFUSED + deed.plain_step, move.turn, False, external=deed.external
                )
        elif deed.kind == "read":
            if deed.target and move.ok:
                key = deed.target, repr(move.given)
                reads[key] = reads.get(key, 0) + 1
                if reads[key] == READS:
                    lesson.add("friction", REREAD + file_kind(deed.target), move.turn, False)
        elif move.failed:
            if deed.kind == "shell" and deed.step and deed.target:
                tries[deed.target] = tries.get(deed.target, 0) + 1
                if tries[deed.target] == TRIES:
                    lesson.add("friction", RETRY + deed.step, move.turn, False)
        elif move.acting:
            # Something is another than before.
            tries.clear()
            reads.clear()
