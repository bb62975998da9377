"""What leaves, and nothing else does: what a person chose to share, cleaned once more.

Of notes: those that a person wrote or accepted, and the commands and traps that a log proves.
What is left of them is what `recollect team share --dry-run` prints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from recollect.model.team import ItemKind, SharePlan
from recollect.redact import table_version
from recollect.share.names import MASK
from recollect.store.sqlite.team import item_id
from recollect.system.clock import iso

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from recollect.model.notes import Note
    from recollect.share.names import OutgoingText
    from recollect.store import Store
    from recollect.store.sqlite.team import SharedItem, TeamShare

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
    hash: bytes
    # The row of a session here.
    number: int = 0

    def plan(self) -> SharePlan:
        return SharePlan(kind=self.kind, ref=self.ref, project=self.project, body=self.body)


def _hash(*said: Any) -> bytes:
    encoded = msgspec.json.encode(said, order="deterministic")
    return hashlib.blake2b(encoded, digest_size=12).digest()


def outgoing_items(
    store: Store,
    shares: Collection[TeamShare],
    *,
    key: bytes,
    clean: OutgoingText,
    kinds: Collection[ItemKind],
) -> Iterator[Outgoing]:
    """Everything that is shared now, as it would leave.

    What is at the hub already comes without its body where that costs more than to see whether
    it changed.
    """
    there = store.team.shared()
    if "episode" in kinds:
        for share in shares:
            if share.what == "episodes":
                yield from _episodes(store, share, key, clean, there)
    # Each other choice has those before it in it: who shares sessions shares notes.
    for share in _widest(shares):
        is_project = store.projects.number(share.project) is not None
        if is_project and "note" in kinds:
            yield from _notes(store, share, key, clean, there)
        if share.what == "digests" and "digest" in kinds:
            yield from _sessions(store, share, "digest", key, clean, there)
        elif share.what == "sessions" and "session" in kinds:
            yield from _sessions(store, share, "session", key, clean, there)


def _widest(shares: Collection[TeamShare]) -> list[TeamShare]:
    """Of each project the choice that has the others in it."""
    order = ("notes", "digests", "sessions")
    found: dict[str, TeamShare] = {}
    chosen = [one for one in shares if one.what in order]
    for share in sorted(chosen, key=lambda one: order.index(one.what)):
        found[share.project] = share
    return list(found.values())


def _episodes(
    store: Store,
    share: TeamShare,
    key: bytes,
    clean: OutgoingText,
    there: Mapping[str, SharedItem],
) -> Iterator[Outgoing]:
    """Attempts that programs recorded here; one does not change once it is there."""
    theirs, cursor = store.team.episode_refs(), None
    while True:
        page = store.episodes.page(
            limit=500, cursor=cursor, source="live", project=share.project or None
        )
        for one in page:
            if one.ref in theirs:
                continue
            id, hashed = item_id(key, "episode", one.ref), _hash(one.ref)
            known = there.get(id)
            is_new = known is None or known.gone is not None or not known.pushed
            body = _cleaned(msgspec.to_builtins(one), clean) if is_new else {}
            project = one.context.project or ""
            yield Outgoing(id, "episode", one.ref, project, one.started_at, body, hashed)
        cursor = page.cursor
        if cursor is None:
            break


def _cleaned(value: Any, clean: OutgoingText) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(one, clean) for name, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, clean) for one in value]
    return value


def _sessions(
    store: Store,
    share: TeamShare,
    kind: Literal["digest", "session"],
    key: bytes,
    clean: OutgoingText,
    there: Mapping[str, SharedItem],
) -> Iterator[Outgoing]:
    """What sessions came to, and the sessions themselves: one item each, under one name."""
    for one in store.team.sessions(share.project, share.since):
        if kind == "digest" and one.outcome is None:
            continue
        id = item_id(key, "session", one.ref)
        hashed = _hash(share.project, kind, one.state, table_version())
        known = there.get(id)
        body: dict[str, Any] = {}
        if known is None or known.hash != hashed or known.gone is not None:
            body = {
                "title": clean(one.title), "summary": clean(one.summary), "outcome": one.outcome,
                "agent": one.agent, "state": hashed.hex(),
            }  # fmt: skip
        yield Outgoing(
            id, kind, one.ref, share.project, iso(one.started_at), body, hashed, one.number
        )


def _notes(
    store: Store,
    share: TeamShare,
    key: bytes,
    clean: OutgoingText,
    there: Mapping[str, SharedItem],
) -> Iterator[Outgoing]:
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
        hashed = _hash(share.project, note.created_at, body)
        yield Outgoing(id, "note", note.ref, share.project, note.created_at, body, hashed)


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
