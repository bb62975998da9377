"""Notes as whoever works on them sees them: without the store's dialect."""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.model.old_notes import Category, NoteAuthor, Trust

# C++ and C# are not C.
_WORD = re.compile(r"\w[\w+#]*")


def compared(text: str) -> str:
    """A text as it is compared with others: its words alone, without case."""
    return " ".join(_WORD.findall(text.casefold()))


class Sought(NamedTuple):
    """A note that was given at some time, in a session that is still to be found."""

    origin: int
    note: int
    text: str
    at: int


class Extraction(NamedTuple):
    """How far notes have been taken from a session: up to which message,
    the tool calls since, and how often.
    """

    message: int
    calls: int
    times: int


class Learned(NamedTuple):
    """A fact that was found in a session, and what it is to the notes that are there.

    `same` is the note that says it already, `replaces` are those that it
    speaks against.
    """

    text: str
    category: Category
    trust: Trust
    author: NoteAuthor
    confidence: float
    session: str
    turn: int
    at: int | None
    same: int | None = None
    replaces: tuple[int, ...] = ()
