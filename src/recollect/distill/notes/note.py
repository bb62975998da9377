"""What a note may be: one line of plain text, in one of five categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from recollect.errors import UsageError
from recollect.model.old_notes import Category, NoteStatus
from recollect.reading.quoting import is_seen

MOST_CHARACTERS = 600
CATEGORIES: tuple[Category, ...] = get_args(Category)
STATUSES: tuple[NoteStatus, ...] = get_args(NoteStatus)
# How sure we are of a note when nobody says.
CONFIDENCE = {"person": 1.0, "agent": 0.5}
# Other names that people and models give them.
_ALIASES: dict[str, Category] = {
    "userpreference": "preference",
    "projectfact": "project",
    "codepattern": "pattern",
}


def category_of(name: str) -> Category:
    """The category that somebody means."""
    word = name.strip().lower().replace("_", "")
    for category in CATEGORIES:
        if word == category or _ALIASES.get(word) == category:
            return category
    raise UsageError(
        f'There is no category "{name.strip()[:50]}".', hint=f"Choose {', '.join(CATEGORIES)}."
    )


def statuses_of(given: str | Sequence[str] | None) -> list[NoteStatus]:
    """The statuses that somebody asks for; none of them means any."""
    names = [given] if isinstance(given, str) else given or []
    for name in names:
        if name not in STATUSES:
            raise UsageError(
                f'There is no status "{name[:50]}".', hint=f"Choose {', '.join(STATUSES)}."
            )
    return [status for status in STATUSES if status in names]


def author_of(by: str, *, everywhere: bool = False) -> Literal["person", "agent"]:
    """Who says something, if they may say it of every project."""
    if by == "person":
        return "person"
    if by != "agent":
        raise UsageError(f"{by[:50]} cannot say this", hint="it is a person or an agent who does")
    if everywhere:
        raise UsageError(
            "only a person can make a note hold everywhere",
            hint="remember it for this project; `recollect notes add --everywhere` is the person's "
            "way",
        )
    return "agent"


def confidence_of(given: float | None, author: str) -> float:
    """How sure an author is, between 0 and 1."""
    confidence = CONFIDENCE[author] if given is None else given
    if not 0 <= confidence <= 1:
        raise UsageError(
            f"a confidence of {confidence} means nothing", hint="give a number between 0 and 1"
        )
    return confidence


def plain(text: str) -> str:
    """A text as a note may have it: one line without anything unseen.

    A clear error when nothing, or too much, is left.
    """
    line = one_line(text)
    if not any(char.isalnum() for char in line):
        raise UsageError(
            "there are no words in this note", hint="say in a sentence what is to be remembered"
        )
    if len(line) > MOST_CHARACTERS:
        raise UsageError(
            f"this note has {len(line)} characters, and may have {MOST_CHARACTERS}",
            hint="say it shorter, or make several notes of it",
        )
    return line


def one_line(text: str) -> str:
    """Text in one line, without what nobody would see in it; binary is refused."""
    if "\0" in text:
        raise UsageError(
            "this is not text: it has a NUL character in it", hint="give it as plain text"
        )
    spaced = "".join(char if is_seen(char) else " " if char.isspace() else "" for char in text)
    return " ".join(spaced.split())
