"""Steps that fail, by the sort of error they meet: those that keep
failing come together over sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.patterns.error_classes import tells_much
from recollect.reading.signatures import FAILS

if TYPE_CHECKING:
    from recollect.patterns.extractors.recoveries import Ended
    from recollect.patterns.lesson import Lesson


def extract(ended: Ended, lesson: Lesson) -> None:
    """Every failed step that says what went wrong; it ended well where it was overcome."""
    for failed, is_overcome in ended:
        error = failed.error
        if tells_much(error):
            signature = f"{failed.deed.plain_step}{FAILS}{error}"
            lesson.add(
                "failure", signature, failed.turn, is_overcome, external=failed.deed.external
            )
