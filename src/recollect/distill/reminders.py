"""Reminders: notes about a command that fails, told again before it is run or after it failed.

Only what has a proven alternative is told at such a moment, and only where the match is
specific: the same words in the same folder, the same options of a program that does not know
them, a program that this machine does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from recollect.reading.error_text import longest_word, shape, telling
from recollect.reading.programs import base, launched, main_pieces
from recollect.reading.shapes import error_shape, use_shapes, words_shape
from recollect.store.hook_lines import Reminder

if TYPE_CHECKING:
    from recollect.model.candidates import Candidate, Failing


def find_reminders(
    candidates: Iterable[tuple[Candidate, str | None]],
) -> list[tuple[str, str, Reminder]]:
    """The reminders of those candidates that are notes, each with the note's reference: kind,
    the word that it is found by, and the reminder.
    """
    found: dict[tuple[str, str, str], tuple[str, str, Reminder]] = {}
    for candidate, ref in sorted(candidates, key=lambda pair: (pair[0].at, pair[0].text)):
        for failing in candidate.failing if ref else ():
            for kind, word, one in _reminders(failing, candidate, ref or ""):
                found[kind, one.shape, one.folder] = (kind, word, one)
    return list(found.values())


def _reminders(
    failing: Failing, candidate: Candidate, ref: str
) -> Iterator[tuple[str, str, Reminder]]:
    pieces = main_pieces(failing.command)
    if len(pieces) != 1:
        return
    words = pieces[0][1]
    line = f"- {candidate.at[:10]} {ref}: {failing.line}"
    form, any_use = use_shapes(words)
    shaped = {"words": words_shape(words), "form": form, "program": any_use}[failing.match]
    program = base(words[launched(words) % len(words)]).lower()
    yield "command", program, Reminder(shaped, failing.folder, ref, line, None)
    if failing.match == "form" and telling(error := shape(failing.error)):
        yield "error", longest_word(error), Reminder(error_shape(words, error), "", ref, line, None)
