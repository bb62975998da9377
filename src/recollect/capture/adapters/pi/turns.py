"""Which turns of a Pi session lead to its last entry.

Every entry names the one that it hangs on. Whoever goes back in `/tree` and
says something else begins a branch: what came after that place stays in the
file, but is no longer part of the conversation.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.logs.lines import UnreadableSource, blocks, records
from recollect.capture.logs.values import content_text, fields_of, moment_of, text_of
from recollect.model.logs import Problem


class PiEntry(Struct, rename="camel"):
    """One line: the header of a session, or a node of its tree.

    The first version has neither `id` nor `parent_id`.
    """

    type: Any = None
    id: Any = None
    parent_id: Any = None
    timestamp: Any = None
    message: Any = None
    # The header.
    cwd: Any = None
    parent_session: Any = None
    branched_from: Any = None
    provider: Any = None
    model_id: Any = None
    model: Any = None
    thinking_level: Any = None
    # Names and summaries.
    title: Any = None
    name: Any = None
    summary: Any = None
    mode: Any = None


ENTRIES: msgspec.json.Decoder[PiEntry] = msgspec.json.Decoder(PiEntry)


def role_of(entry: PiEntry) -> str | None:
    """Whose message an entry is; None when it is no message."""
    return text_of(fields_of(entry.message).get("role")) if entry.type == "message" else None


def time_of(entry: PiEntry) -> int | None:
    """When an entry was made; a message tells it more exactly than its entry."""
    return moment_of(fields_of(entry.message).get("timestamp")) or moment_of(entry.timestamp)


def key_of(entry: PiEntry) -> str:
    """The key of the turn that a prompt begins.

    Not its id, as long as there is a time: the first version has none, and gets
    them when it is opened by a later one. Time and text stay what they are,
    also in the copy of a fork.
    """
    told_by = time_of(entry) or entry.id
    said = content_text(fields_of(entry.message).get("content"))
    return hashlib.sha256(f"{told_by}\n{said}".encode("utf-8", "replace")).hexdigest()[:16]


class PiTurns:
    """The turns that entries belong to, and the turn that each turn continues."""

    def __init__(self) -> None:
        self.turns: dict[str, str] = {}
        self.before: dict[str, str] = {}

    @classmethod
    def of(cls, path: str) -> PiTurns:
        """The turns of a whole file, for those who begin in its middle."""
        turns, turn = cls(), ""
        try:
            for block in blocks(path):
                if isinstance(block, Problem):
                    continue
                for entry in records(path, block, ENTRIES):
                    if isinstance(entry, PiEntry) and entry.type != "session":
                        turn = turns.add(entry, turns.turn_before(entry, turn))
        except UnreadableSource:
            pass
        return turns

    def turn_before(self, entry: PiEntry, current: str) -> str:
        """The turn of the entry that this one hangs on.

        No turn at the root, the current one when it is not known.
        """
        parent = text_of(entry.parent_id)
        if parent is None:
            # Where entries have ids, the one that hangs on nothing begins anew.
            return "" if text_of(entry.id) else current
        return self.turns.get(parent, current)

    def add(self, entry: PiEntry, before: str) -> str:
        """The turn that an entry belongs to: a new one for a prompt, else the one before."""
        turn = before
        if role_of(entry) == "user":
            turn = key_of(entry)
            if turn != before:
                self.before.setdefault(turn, before)
        if text_of(entry.id):
            self.turns[entry.id] = turn
        return turn

    def path(self, turn: str) -> list[str]:
        """A turn and those that it continues, back to the first."""
        path: dict[str, None] = {}
        while turn and turn not in path:
            path[turn] = None
            turn = self.before.get(turn, "")
        return list(path)
