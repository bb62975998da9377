"""Notes taken from sessions: how far that got, and what becomes of a fact that was found.

What is found is a candidate with a trust of its own. It becomes active when it
was found in two sessions, which must not be copies of each other: those tell of
the same moment. What a person wrote, accepted, rejected or replaced is never
changed here, only confirmed.
"""

from __future__ import annotations

from recollect.model.old_notes import NoteAuthor, OldNote
from recollect.store.notes import Extraction, Learned, compared
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.old.sql import notes
from recollect.system.clock import now_ms

# Not the runs of a script or of a sub-agent, not what may be anybody's, and not
# what its agent was told to keep out of memories.
WITH_A_PERSON = "sessions.origin = 'interactive' and not sessions.external and json_extract(sessions.meta, '$.memory_mode') is not 'disabled'"

# The lowest first.
_TRUST = "instr('external assistant tool-verified user', {})"


def find(db: Database, session: int, *, by: NoteAuthor = "rules") -> Extraction | None:
    """How far notes have been taken from a session."""
    row = db.row(
        "select message, calls, count from extractions where session = ? and author = ?",
        (session, by),
    )
    return None if row is None else Extraction(*row)


def save(
    db: Database,
    session: int,
    state: Extraction,
    *,
    waits_until: int | None = None,
    by: NoteAuthor = "rules",
) -> None:
    """Keep how far notes have been taken; with a time, it is to be tried again then."""
    with db.transaction():
        db.execute(
            "insert or replace into extractions (session, author, message, calls, count, waits, "
            "at) values (?, ?, ?, ?, ?, ?, ?)",
            (session, by, *state, waits_until is not None, now_ms()),
        )
        if waits_until is not None:
            Jobs(db).mark("session quiet", at=waits_until)


def waiting(db: Database) -> list[tuple[int, str]]:
    """Sessions from which notes are to be taken once they are quiet: number and reference."""
    return [
        (number, ref)
        for number, ref in db.rows(
            "select sessions.id, ref from extractions join sessions on sessions.id = "
            "extractions.session where waits order by 1"
        )
    ]


def is_with_a_person(db: Database, session: int) -> bool:
    """Whether a person talked to the agent here, and wants it remembered."""
    return bool(db.value(f"select {WITH_A_PERSON} from sessions where id = ?", (session,)))


def learn(db: Database, project: str, fact: Learned) -> OldNote:
    """Keep what was found in a session, or confirm the note that says so.

    The same turn counts once.
    """
    with db.transaction():
        scope = db.value("select id from projects where key = ?", (project,))
        number = fact.same
        if number is None:
            number = _insert(db, scope, fact)
        if _add_origin(db, number, fact):
            _confirm(db, number, fact)
            for other in fact.replaces:
                _replace(db, other, number, fact.at)
            HookLines(db).outdate(scope)
    return notes.get_note(db, number)


def _insert(db: Database, scope: int, fact: Learned) -> int:
    db.execute(
        """
        insert into old_notes (category, text, words, project, status, trust, author, confidence,
          seen, created_at, seen_at)
        values (?, ?, ?, ?, 'candidate', ?, ?, ?, 0, ?, ?)
        """,
        (
            fact.category,
            fact.text,
            compared(fact.text),
            scope,
            fact.trust,
            fact.author,
            fact.confidence,
            fact.at,
            fact.at,
        ),
    )
    return int(db.connection.last_insert_rowid())


def _add_origin(db: Database, number: int, fact: Learned) -> bool:
    """Whether it is new that the note was found there."""
    place = (number, fact.session, fact.turn)
    if (
        db.value("select 1 from note_origins where note = ? and session = ? and turn = ?", place)
        is not None
    ):
        return False
    db.execute(
        "insert into note_origins (note, session, turn, at) values (?, ?, ?, ?)", (*place, fact.at)
    )
    return True


def _confirm(db: Database, number: int, fact: Learned) -> None:
    db.execute(
        """
        update old_notes set seen = seen + 1,
          created_at = iif(author = 'person', created_at,
            coalesce(min(created_at, ?1), created_at, ?1)),
          seen_at = coalesce(max(seen_at, ?1), seen_at, ?1)
         where id = ?2
        """,
        (fact.at, number),
    )
    own, new = _TRUST.format("trust"), _TRUST.format("?1")
    db.execute(
        f"""
        update old_notes set trust = case when {new} > {own} then ?1
          else trust end, confidence = max(confidence, ?2)
         where id = ?3 and status = 'candidate'
        """,
        (fact.trust, fact.confidence, number),
    )
    # Copies of a session tell of the same moments: two witnesses each have one that
    # the other does not. Without times nothing says that one is a copy.
    db.execute(
        """
        update old_notes set status = 'active', valid_from = (select min(at)
          from note_origins where note = old_notes.id)
         where id = ? and status = 'candidate' and trust in ('user', 'tool-verified') and exists (
           select 1 from note_origins a join note_origins b on b.note = a.note
             and b.session != a.session
            where a.note = old_notes.id
              and not exists (select 1 from note_origins c where c.note = a.note
                and c.session = b.session and c.at = a.at)
              and not exists (select 1 from note_origins c where c.note = a.note
                and c.session = a.session and c.at = b.at)
         )
        """,
        (number,),
    )


def _replace(db: Database, other: int, number: int, at: int | None) -> None:
    """Of two notes that speak against each other, the one that was said last holds.

    What was said at no known time is older than what was.
    """
    said = db.value("select max(at) from note_origins where note = ?", (other,))
    known = [moment for moment in (at, said) if moment is not None]
    is_newer = said is None or (at is not None and said <= at)
    old, new = (other, number) if is_newer else (number, other)
    ended = max(known, default=None)
    changed = db.value(
        """
        update old_notes set status = 'superseded', superseded_by = ?,
          valid_to = case status when 'active' then ? end
         where id = ? and status in ('candidate', 'active') and accepted_at is null returning id
        """,
        (new, ended, old),
    )
    if changed is not None:
        HookLines(db).drop({f"note:{old}"})


def unlearn(db: Database, session: int) -> None:
    """Take back what was noted from a session, and have it looked at again.

    What another session gave as well, or a person stands for, stays.
    """
    ref = db.value("select ref from sessions where id = ?", (session,))
    alone = [
        number
        for (number,) in db.rows(
            """
            select old_notes.id from old_notes
             where author in ('rules', 'model') and accepted_at is null and status != 'rejected'
               and exists (select 1 from note_origins where note = old_notes.id and session = ?1)
               and not exists (select 1 from note_origins where note = old_notes.id
                 and session is not ?1)
            """,
            (ref,),
        )
    ]
    notes.delete(db, alone)
    HookLines(db).drop({f"note:{number}" for number in alone})
    db.execute("delete from extractions where session = ?", (session,))
