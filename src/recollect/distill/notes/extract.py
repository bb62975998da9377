"""Notes from a session: what is found, by whom, and what becomes of it.

An extractor reads a session and says what is worth keeping, each fact with the
turn it is from. The rules are one; a model is another. Whatever they find goes
the same way: secrets and what we told the agent ourselves are left out, what is
known already is confirmed, and what is contradicted is superseded. Facts belong
to the project of their turn, and a turn without one gives none: only a person
can say that something holds everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from recollect.distill.notes import gate
from recollect.distill.notes.note import plain
from recollect.distill.notes.proven import CONFIDENCE, proven
from recollect.distill.notes.sameness import find_same, speak_against
from recollect.distill.notes.stated import statements
from recollect.distill.tasks.calls import Done, calls_of
from recollect.errors import UsageError
from recollect.model.old_notes import Category, NoteAuthor, Trust
from recollect.store import bodies
from recollect.store.notes import Extraction, Learned
from recollect.system.clock import iso, now_ms

if TYPE_CHECKING:
    from recollect.model.digests import Digest
    from recollect.model.old_notes import OldNote
    from recollect.store import Store
    from recollect.store.history import Passage

# What an import leaves in the place of our own words, and redaction in that of a secret.
_MARKS = ("[recalled", "[REDACTED:", "recalled by=")


class Candidate(NamedTuple):
    """A fact that may become a note, and the turn it is from."""

    category: Category
    text: str
    confidence: float
    ref: str
    trust: Trust


class Extractor(Protocol):
    """Finds what is worth keeping in a session."""

    author: NoteAuthor

    def extract(self, passages: Sequence[Passage], digest: Digest) -> list[Candidate]:
        """The facts in a session's passages, the oldest first.

        Every turn that counts is given, and some that do not.
        """


class Rules:
    """What people state in known forms, and what exit codes prove."""

    author: NoteAuthor = "rules"

    def __init__(self, calls: Mapping[int, Sequence[Done]] | None = None) -> None:
        """`calls` are those of each live turn, by its number, where
        somebody has taken them apart already.
        """
        self._calls = calls

    def extract(self, passages: Sequence[Passage], digest: Digest) -> list[Candidate]:
        """The facts in a session's passages."""
        live = [passage for passage in passages if passage.live]
        calls = self._calls or {passage.ordinal: calls_of([passage]) for passage in live}
        found: list[Candidate] = []
        before: Sequence[Done] = ()
        for passage in live:
            found += _stated(passage, corrects=any(map(_is_edit, before)))
            before = calls[passage.ordinal]
        projects = {passage.ref: passage.project for passage in live}
        for one in proven([call for passage in live for call in calls[passage.ordinal]], projects):
            found.append(
                Candidate(one.category, one.text, CONFIDENCE, one.call.ref, "tool-verified")
            )
        return found


def _stated(passage: Passage, *, corrects: bool) -> list[Candidate]:
    """What a person states in a turn; right after an edit it may correct that."""
    if passage.author != "human":
        return []
    return [
        Candidate(said.category, said.text, said.confidence, passage.ref, "user")
        for row in passage.rows
        if row[bodies.KIND] == "prompt" and row[bodies.TEXT]
        for said in statements(row[bodies.TEXT], corrects=corrects)
    ]


def _is_edit(call: Done) -> bool:
    return call.kind == "edit" and bool(call.ok)


class Found(NamedTuple):
    """What a session gives for notes, and how far it was read
    for that: both are kept, or neither.
    """

    session: int
    state: Extraction
    candidates: Sequence[Candidate] = ()
    # The turns that these are from.
    passages: Sequence[Passage] = ()
    by: NoteAuthor = "rules"
    waits_until: int | None = None


def find_notes(
    store: Store,
    session: int,
    passages: Sequence[Passage],
    digest: Digest,
    extractor: Extractor,
    *,
    now: int | None = None,
) -> Found | None:
    """What a session gives for notes, if it is time for that; None where nobody wants any."""
    if not store.old.is_with_a_person(session):
        return None
    before = store.old.find_extraction(session)
    progress = gate.progress_of(passages, before)
    answer = gate.ask_gate(progress, before, now_ms() if now is None else now)
    if answer != "open":
        until = (progress.last_at or 0) + gate.LIVES_MS if answer == "busy" else None
        message, times = (before.message, before.times) if before else (0, 0)
        return Found(session, Extraction(message, progress.calls, times), waits_until=until)
    candidates = extractor.extract(passages, digest)
    refs = {candidate.ref for candidate in candidates}
    places = [passage for passage in passages if passage.ref in refs]
    state = Extraction(progress.messages, 0, (before.times if before else 0) + 1)
    return Found(session, state, candidates, places, extractor.author)


def keep_found(store: Store, found: Found) -> list[OldNote]:
    """Keep what was found in a session, all or nothing.

    The notes that are new or were confirmed.
    """
    with store.transaction():
        kept = keep(store, found.passages, found.candidates, by=found.by)
        store.old.save_extraction(found.session, found.state, waits_until=found.waits_until)
    return kept


def extract_waiting(store: Store, *, now: int | None = None) -> None:
    """Take notes from sessions that were in the middle of something, and are not any more."""
    for session, ref in store.old.waiting_extractions():
        digest = store.digests.find(ref)
        found = digest and find_notes(
            store, session, store.digests.passages(session), digest, Rules(), now=now
        )
        if found:
            keep_found(store, found)


def keep(
    store: Store, passages: Sequence[Passage], found: Sequence[Candidate], *, by: NoteAuthor
) -> list[OldNote]:
    """Keep what was found in a session, or confirm what says the same.

    What is contradicted is superseded.
    """
    places = {passage.ref: passage for passage in passages}
    kept: dict[str, OldNote] = {}
    for candidate in found:
        place = places.get(candidate.ref)
        text = _fit(candidate.text)
        if place is None or place.project is None or text is None:
            continue
        known = [
            note
            for note in store.old.list_notes(project=place.project)
            if not _comes_back(store, note, place.at)
        ]
        same = find_same(text, known)
        # What a person wrote or accepted is not for us to retire: the store leaves it alone.
        against = [
            note
            for note in known
            if note.status in ("candidate", "active") and speak_against(text, note.text)
        ]
        note = store.old.learn_note(
            place.project,
            Learned(
                text, candidate.category, candidate.trust, by, candidate.confidence,
                place.ref.rpartition("#")[0], place.ordinal,
                place.at, same=None if same is None else _number(same),
                replaces=tuple(map(_number, against)),
            ),
        )  # fmt: skip
        kept[note.ref] = note
    return list(kept.values())


def _fit(text: str) -> str | None:
    """A text as a note may have it, unless it holds what must not be learned."""
    if any(mark in text for mark in _MARKS):
        return None
    try:
        return plain(text)
    except UsageError:
        return None


def _comes_back(store: Store, note: OldNote, at: int | None) -> bool:
    """Whether what is said at a time was superseded before, by
    something found: then it is news again.
    """
    if note.status != "superseded" or note.superseded_by is None:
        return False
    successor = store.old.get_note(note.superseded_by)
    return successor.author != "person" and (iso(at) or "") > (successor.seen_at or "")


def _number(note: OldNote) -> int:
    return int(note.ref.removeprefix("note:"))
