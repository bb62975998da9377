"""The job `remember`: makes the notes of every project whose sessions or notes changed.

The sessions are read, the finders find, ranking weighs and arranges; what is chosen becomes the
project's notes. What people wrote or accepted, what engines and team mates gave, is weighed with
it. When only notes changed, they are arranged anew and no session is read: whoever corrects a
line sees it corrected at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.distill import finders, patterns, ranking
from recollect.distill.finders import machine, stale
from recollect.distill.finders.cleaning import words
from recollect.distill.reminders import find_reminders
from recollect.distill.sessions import read_sessions
from recollect.model.candidates import Candidate, CandidateKind, Line
from recollect.model.notes import FoundNote, Note
from recollect.model.record import SessionRecord
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.store import Store

    Redact = Callable[[str], str]

# How alike two lines are, word after word, that say the same.
NEARLY = 0.85
STALE = "What it names is not there any more."
# By how much a line rises with each session that used it, and sinks when so many did not.
USED, MOST_USES = 0.05, 4
UNUSED, UNUSED_TIMES = 0.2, 5
# What is not a person's and was not found by us has been chosen by whoever found it.
GIVEN = 2.0


def remember_due(store: Store, redact: Redact, at_once: bool) -> Iterator[str]:
    """Make the memories that are out of date, one project after the other.

    One that takes long rests in between, unless somebody waits for all of them.
    """
    for outdated in store.notes.outdated():
        if outdated.rests_until > now_ms() and not at_once:
            store.jobs.mark("memories rest", at=outdated.rests_until)
            continue
        remember_project(store, outdated.project, redact)
        store.notes.settle(outdated)
        yield outdated.project


def remember_project(store: Store, project: str, redact: Redact) -> None:
    """Make the notes of a project out of its sessions, and its memory out of them."""
    begun = time.process_time()
    sessions = read_sessions(store, project)
    folder = _folder(sessions)
    found = list(finders.find(sessions))
    kept = found
    if folder is not None:
        here = [session for session in sessions if session.folder == str(folder)]
        kept = list(stale.still_true(found, here, folder))
    given = _given(store, project)
    if folder is not None:
        given = _without_stale(store, given, here, folder)
    true = {_key(one) for one in kept}
    kept = _without_blocked(kept, store.notes.blocked(project))
    weighed = _by_use(store, project, ranking.weigh(kept, sessions, given))
    order, sure = ranking.arrange(weighed)
    memory = ranking.with_block(order, sure, sessions, folder)
    lines = [line for line in order if not _is_given(line)]
    notes = [_found(line, redact) for line in lines if not line.candidate.everywhere]
    notes += [_stale(one) for one in found if _key(one) not in true and not one.everywhere]
    refs = store.notes.bring_up_to_date(project, notes, "rules")
    refs |= store.notes.bring_up_to_date(
        None,
        [_found(line, redact) for line in lines if line.candidate.everywhere],
        "rules",
        disproved=_disproved(sessions),
    )
    recurring = [one._replace(text=redact(one.text)) for one in patterns.find(sessions)]
    store.notes.bring_up_to_date(project, recurring, "pattern")
    patterns.share(store, project, [*notes, *recurring])
    store.hook_lines.save_reminders(
        project, find_reminders((one, refs.get(_key(one))) for one in kept)
    )
    told: dict[str, bool] = {}
    for place, line in enumerate(order):
        ref = line.candidate.key if _is_given(line) else refs.get(_key(line.candidate))
        if ref is not None:
            told.setdefault(ref, place < sure)
    store.notes.arrange(
        project,
        list(told.items()),
        pack_block=memory.pack_block,
        long_block=memory.long_block,
        took_ms=int((time.process_time() - begun) * 1000),
    )


def arrange_notes(store: Store, project: str) -> None:
    """Put a project's notes in order again, without looking at its sessions."""
    told_here = {note.ref for note in store.notes.in_memory(project)}
    lines = [
        _kept_line(note)
        for note in store.notes.to_arrange(project)
        # What rules found of the machine is told where it was met.
        if note.project is not None or note.author != "rules" or note.ref in told_here
    ]
    gone = ranking.contradicted([line.candidate for line in lines])
    lines = [line for place, line in enumerate(lines) if place not in gone]
    lines.sort(key=lambda line: (-line.value, line.candidate.text))
    order, sure = ranking.arrange(lines)
    store.notes.arrange(
        project, [(line.candidate.key, place < sure) for place, line in enumerate(order)]
    )


def _folder(sessions: Sequence[SessionRecord]) -> Path | None:
    """Where the newest session was, if that is on this machine."""
    for session in reversed(sessions):
        if session.folder:
            folder = Path(session.folder)
            return folder if folder.is_dir() else None
    return None


def _given(store: Store, project: str) -> list[Line]:
    """The notes that take part although nobody finds them."""
    return [
        _kept_line(note)
        for note in store.notes.to_arrange(project, stale=True)
        if note.author != "rules" or note.decided_at is not None
    ]


def _kept_line(note: Note) -> Line:
    """A stored note as ranking sees it. What a person decided comes before all that was found."""
    is_decided = note.author == "person" or note.decided_at is not None
    value = note.value
    if is_decided or note.pinned:
        value = ranking.PINNED if note.pinned else ranking.DECIDED
        # Own notes come before a team mate's.
        value -= note.author == "member"
    elif note.author != "rules":
        value = note.value or GIVEN
    kind: CandidateKind = "note" if is_decided else "person" if note.trust == "user" else "command"
    at = note.decided_at if note.author == "person" and note.decided_at else note.at
    candidate = Candidate(
        kind, note.section, note.category, note.text, note.ref, note.trust, value,
        at or note.created_at, note.turns[0] if note.turns else "", note.form, note.is_sure,
    )  # fmt: skip
    return Line(candidate, value, note.times, note.sessions, tuple(note.turns), note.is_sure)


def _without_stale(
    store: Store, given: Sequence[Line], sessions: Sequence[SessionRecord], folder: Path
) -> list[Line]:
    """Notes that the files do not speak against; the others are marked."""
    true = {
        one.key for one in stale.still_true([line.candidate for line in given], sessions, folder)
    }
    for line in given:
        store.notes.mark_stale(line.candidate.key, None if line.candidate.key in true else STALE)
    return [line for line in given if line.candidate.key in true]


def _without_blocked(found: Sequence[Candidate], blocked: Sequence[Note]) -> list[Candidate]:
    """Candidates that are not nearly word for word what a person rejected or said better."""
    refused = [words(note.text) for note in blocked if note.text]
    if not refused:
        return list(found)
    return [one for one in found if not _is_near(words(one.text), refused)]


def _is_near(own: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    mine = set(own)
    return any(
        len(mine.intersection(other)) >= NEARLY * min(len(mine), len(set(other)))
        and SequenceMatcher(None, own, other, autojunk=False).ratio() >= NEARLY
        for other in others
        if other and own
    )


def _by_use(store: Store, project: str, lines: Sequence[Line]) -> list[Line]:
    """Lines weighed by what became of them when they were told, best first.

    What was used rises a little, and what was told to many sessions that could have used it and
    did not sinks a little: less than one more session that says the same counts.
    """
    counts = store.injections.counts()
    if not counts:
        return list(lines)
    refs = {note.text: note.ref for note in store.notes.to_arrange(project)}
    found = []
    for line in lines:
        count = counts.get(refs.get(line.candidate.text, line.candidate.key))
        value = line.value
        if count is not None and count.used:
            value += USED * min(count.used, MOST_USES)
        elif count is not None and count.unused >= UNUSED_TIMES:
            value -= UNUSED
        found.append(line._replace(value=value))
    return sorted(found, key=lambda line: (-line.value, line.candidate.text))


def _is_given(line: Line) -> bool:
    """Whether a line is a note that is stored, and not one that was found."""
    return line.candidate.key.startswith("note:")


def _disproved(sessions: Sequence[SessionRecord]) -> dict[str, str]:
    """The keys of programs that were said to be missing and passed here, each with when."""
    return {
        f"missing {machine.missing_key(program)}": at
        for program, at in machine.worked(sessions).items()
    }


def _key(candidate: Candidate) -> str:
    return f"{ranking.group(candidate.kind)} {candidate.key}"


def _found(line: Line, redact: Redact) -> FoundNote:
    one = line.candidate
    return FoundNote(
        _key(one), redact(one.text), one.category, one.section, one.trust, one.at or None,
        line.turns, line.times, line.sessions, round(line.value, 6), line.is_sure, one.form,
    )  # fmt: skip


def _stale(one: Candidate) -> FoundNote:
    return FoundNote(
        _key(one), one.text, one.category, one.section, one.trust, one.at or None, (one.turn,),
        stale=STALE,
    )  # fmt: skip
