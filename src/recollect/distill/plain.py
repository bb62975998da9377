"""What a note may be: one line of plain text, in one of five categories."""

from __future__ import annotations

from typing import get_args

from recollect.errors import UsageError
from recollect.model.notes import Category
from recollect.reading.quoting import is_seen

MOST_CHARACTERS = 600
CATEGORIES: tuple[Category, ...] = get_args(Category)
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


def plain(text: str) -> str:
    """A text as a note may have it: one line without anything unseen.

    A clear error when nothing, or too much, is left.
    """
    line = one_line(text)
    if not any(char.isalnum() for char in line):
        raise UsageError(
            "There are no words in this note.", hint="Say in a sentence what is to be remembered."
        )
    if len(line) > MOST_CHARACTERS:
        raise UsageError(
            f"This note has {len(line)} characters, and may have {MOST_CHARACTERS}.",
            hint="Say it shorter, or make several notes of it.",
        )
    return line


def one_line(text: str) -> str:
    """Text in one line, without what nobody would see in it; binary is refused."""
    if "\0" in text:
        raise UsageError(
            "This is not text: it has a NUL character in it.", hint="Give it as plain text."
        )
    spaced = "".join(char if is_seen(char) else " " if char.isspace() else "" for char in text)
    return " ".join(spaced.split())
