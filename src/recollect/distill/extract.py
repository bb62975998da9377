"""Notes from a session: what is found, by whom, and what becomes of it.

An extractor reads a session and says what is worth keeping, each fact with the
turn it is from. The rules are one; a model is another. Whatever they find goes
the same way: secrets and what we told the agent ourselves are left out, what is
known already is confirmed, and what is contradicted is superseded. Facts belong
to the project of their turn, and a turn without one gives none: only a person
can say that something holds everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from recollect.clock import iso, now_ms
from recollect.distill import gate
from recollect.distill.calls import Done, calls_of
from recollect.distill.notes import plain
from recollect.distill.proven import CONFIDENCE, proven
from recollect.distill.sameness import find_same, speak_against
from recollect.distill.stated import statements
from recollect.errors import UsageError
from recollect.model import Category, NoteAuthor, Trust
from recollect.store import bodies
from recollect.store.notes import Extraction, Learned

if TYPE_CHECKING:
    from recollect.digests import Digest
    from recollect.model import Note
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
        """The facts in a session's passages, the oldest first; every turn that counts is given, and some that do not."""


class Rules:
    """What people state in known forms, and what exit codes prove."""

    author: NoteAuthor = "rules"

    def extract(self, passages: Sequence[Passage], digest: Digest) -> list[Candidate]:
        """The facts in a session's passages."""
        live = [passage for passage in passages if passage.live]
        found = [candidate for index in range(len(live)) for candidate in _stated(live, index)]
        for one in proven(calls_of(live)):
            found.append(Candidate(one.category, one.text, CONFIDENCE, one.call.ref, "tool-verified"))
        return found


def _stated(passages: Sequence[Passage], index: int) -> list[Candidate]:
    """What a person states in a turn; right after an edit it may correct that."""
    passage = passages[index]
    if passage.author != "human":
        return []
    corrects = index > 0 and any(_is_edit(call) for call in calls_of([passages[index - 1]]))
    return [
        Candidate(said.category, said.text, said.confidence, passage.ref, "user")
        for row in passage.rows
        if row[bodies.KIND] == "prompt" and row[bodies.TEXT]
        for said in statements(row[bodies.TEXT], corrects=corrects)
    ]


def _is_edit(call: Done) -> bool:
    return call.kind == "edit" and call.ok is not False


def extract_notes(
    store: Store,
    session: int,
    passages: Sequence[Passage],
    digest: Digest,
    *,
    extractor: Extractor | None = None,
    now: int | None = None,
) -> list[Note]:
    """Take notes from a session, if it is time for that; the notes that are new or were confirmed."""
    if not store.is_with_a_person(session):
        return []
    before = store.find_extraction(session)
    progress = gate.progress_of(passages, before)
    answer = gate.ask(progress, before, now_ms() if now is None else now)
    if answer != "open":
        until = (progress.last_at or 0) + gate.LIVES_MS if answer == "busy" else None
        message, count = (before.message, before.times) if before else (0, 0)
        store.save_extraction(session, Extraction(message, progress.calls, count), waits_until=until)
        return []
    reader = extractor or Rules()
    kept = keep(store, passages, reader.extract(passages, digest), by=reader.author)
    store.save_extraction(session, Extraction(progress.messages, 0, (before.times if before else 0) + 1))
    return kept


def extract_waiting(store: Store) -> None:
    """Take notes from sessions that were in the middle of something, and are not any more."""
    for session, ref in store.waiting_extractions():
        digest = store.find_digest(ref)
        if digest is not None:
            extract_notes(store, session, store.passages(session), digest)


def keep(store: Store, passages: Sequence[Passage], found: Sequence[Candidate], *, by: NoteAuthor) -> list[Note]:
    """Keep what was found in a session, or confirm what says the same; what is contradicted is superseded."""
    places = {passage.ref: passage for passage in passages}
    kept: dict[str, Note] = {}
    for candidate in found:
        place = places.get(candidate.ref)
        text = _fit(candidate.text)
        if place is None or place.project is None or text is None:
            continue
        known = [note for note in store.list_notes(project=place.project) if not _comes_back(store, note, place.at)]
        same = find_same(text, known)
        # What a person wrote or accepted is not for us to retire: the store leaves it alone.
        against = [note for note in known if note.status in ("candidate", "active") and speak_against(text, note.text)]
        note = store.learn_note(
            place.project,
            Learned(
                text, candidate.category, candidate.trust, by, candidate.confidence, place.ref.rpartition("#")[0], place.ordinal,
                place.at or 0, same=None if same is None else _number(same), replaces=tuple(map(_number, against)),
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


def _comes_back(store: Store, note: Note, at: int | None) -> bool:
    """Whether what is said at a time was superseded before, by something found: then it is news again."""
    if note.status != "superseded" or note.superseded_by is None:
        return False
    successor = store.get_note(note.superseded_by)
    return successor.author != "person" and (iso(at) or "") > (successor.seen_at or "")


def _number(note: Note) -> int:
    return int(note.ref.removeprefix("note:"))
