"""What is remembered: one line a note, whoever found it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

Category = Literal["preference", "project", "pattern", "decision", "constraint"]
Section = Literal["preferences", "commands", "traps", "decisions", "files", "left_off"]
Author = Literal["person", "rules", "pattern", "engine", "agent", "member"]
Status = Literal["candidate", "active", "rejected", "retired"]
Trust = Literal["user", "tool-verified", "team", "assistant", "external"]
NoteAction = Literal[
    "added", "accepted", "rejected", "edited", "replaced", "pinned", "unpinned", "retired"
]


class Note(Struct, kw_only=True):
    """One line that is remembered.

    Without a `project` it holds everywhere. `by` names the engine, agent or team mate that found
    it. `turns` are what it rests on, the newest first. `place` and `in_pack` say where it stands
    in the memory it was asked for; `decided_at` when a person last judged it.
    """

    ref: str
    text: str
    category: Category
    section: Section
    project: str | None
    status: Status
    trust: Trust
    author: Author
    by: str | None
    turns: list[str]
    sessions: int
    times: int
    at: str | None
    created_at: str
    decided_at: str | None
    pinned: bool
    in_pack: bool
    place: int | None
    replaces: str | None
    replaced_by: str | None
    stale: str | None
    tainted: bool
    value: float
    is_sure: bool
    form: str


def told_text(note: Note) -> str:
    """A note as agents are told it: what a team mate says has their name."""
    return f"{note.text} ({note.by})" if note.author == "member" and note.by else note.text


class FoundNote(NamedTuple):
    """What a stage hands in: `key` is the same for the same fact in other words."""

    key: str
    text: str
    category: Category
    section: Section
    trust: Trust
    at: str | None
    turns: tuple[str, ...] = ()
    times: int = 1
    sessions: int = 1
    value: float = 0.0
    is_sure: bool = False
    form: str = ""
    by: str | None = None
    tainted: bool = False
    # The status of one that is new: what is only proposed is a candidate.
    status: Status = "active"
    # Why it is not true any more. Of such only those are kept that are stored already.
    stale: str | None = None


class NoteChange(Struct, kw_only=True):
    """One line of a note's history; `undone` once it was taken back."""

    at: str
    author: str
    action: NoteAction
    text: str
    status: Status
    why: str
    undone: bool
