"""What is remembered: a note, who found it and how far it is to be believed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Category = Literal["preference", "project", "pattern", "decision", "constraint"]
NoteStatus = Literal["candidate", "active", "superseded", "rejected"]
Trust = Literal["user", "tool-verified", "assistant", "external"]
NoteAuthor = Literal["person", "agent", "rules", "model"]


class OldNote(Struct, kw_only=True):
    """One remembered fact.

    Without a `project` it holds everywhere. `session` and `turn` say where it
    was given first, as far as that is known; `seen` counts how often.
    """

    ref: str
    category: Category
    text: str
    project: str | None
    status: NoteStatus
    trust: Trust
    author: NoteAuthor
    confidence: float
    session: str | None
    turn: int | None
    seen: int
    created_at: str | None
    seen_at: str | None
    valid_from: str | None
    valid_to: str | None
    superseded_by: str | None
