"""What leaves, and nothing else does: what a person chose to share, cleaned once more.

Of notes: those that a person wrote or accepted, and the commands and traps that a log proves.
What is left of them is what `recollect team share --dry-run` prints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from recollect.model.team import ItemKind, SharePlan
from recollect.share.names import MASK, item_id

if TYPE_CHECKING:
    from collections.abc import Collection

    from recollect.model.notes import Note
    from recollect.store import Store
    from recollect.store.sqlite.team import TeamShare

    Clean = Callable[[str], str]

PROVEN = ("commands", "traps")
# Longer than any line that is told.
NOTE_CHARACTERS = 2_000


class Outgoing(NamedTuple):
    """One thing as it would leave: `ref` is its name here, `hash` tells when it changed."""

    id: str
    kind: ItemKind
    ref: str
    project: str
    at: str | None
    body: dict[str, Any]

    @property
    def hash(self) -> bytes:
        said = msgspec.json.encode([self.project, self.at, self.body], order="deterministic")
        return hashlib.blake2b(said, digest_size=12).digest()

    def plan(self) -> SharePlan:
        return SharePlan(kind=self.kind, ref=self.ref, project=self.project, body=self.body)


def outgoing_items(
    store: Store,
    shares: Collection[TeamShare],
    *,
    key: bytes,
    clean: Clean,
    kinds: Collection[ItemKind],
) -> Iterator[Outgoing]:
    """Everything that is shared now, as it would leave."""
    for share in shares:
        # Each choice has those before it in it: who shares sessions shares notes.
        if share.what != "counts" and "note" in kinds:
            yield from _notes(store, share, key, clean)


def _notes(store: Store, share: TeamShare, key: bytes, clean: Clean) -> Iterator[Outgoing]:
    there = store.team.shared()
    for note in store.notes.search(project=share.project):
        if note.project != share.project:
            continue
        id = note_id(key, store, note)
        # A correction does not take back what it corrects: it names it.
        is_corrected = note.replaced_by is not None and id in there
        if not (is_corrected or _is_shareable(note, share.since)):
            continue
        text = clean(note.text)
        if note.form and MASK in text and MASK not in note.text:
            # A command is told whole or not at all.
            continue
        body = {
            "text": text[:NOTE_CHARACTERS], "category": note.category, "section": note.section,
            "form": clean(note.form), "trust": note.trust, "times": note.times,
            "sessions": note.sessions,
        }  # fmt: skip
        if note.replaces is not None:
            corrected = store.team.item_of(note.replaces)
            if corrected is None:
                old = note_id(key, store, store.notes.get(note.replaces))
                corrected = old if old in there else None
            if corrected is not None:
                body["corrects"] = corrected
        yield Outgoing(id, "note", note.ref, share.project, note.created_at, body)


def note_id(key: bytes, store: Store, note: Note) -> str:
    """What a note is called at the hub."""
    return item_id(key, "note", store.notes.team_names(note.ref)[0])


def _is_shareable(note: Note, since: int | None) -> bool:
    if note.status != "active" or note.stale is not None or note.author == "member":
        return False
    if since is not None and _milliseconds(note.decided_at or note.at or note.created_at) < since:
        return False
    if note.decided_at is not None or note.author == "person":
        return True
    return note.trust == "tool-verified" and note.is_sure and note.section in PROVEN


def _milliseconds(at: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(at).timestamp() * 1000
