"""Notes: kept, confirmed, judged by people, and read.

The same fact is kept once in a project: said again it is confirmed. What a
person says decides; what anybody else says again changes nothing about a note
that a person has rejected or replaced.

Whatever an agent is told ready-made may hold notes, so each change asks for it
to be made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.errors import NotFound, UsageError
from recollect.model.batch import ProjectIdentity
from recollect.model.old_notes import Category, NoteAuthor, OldNote
from recollect.store.notes import compared
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.projects import Projects
from recollect.system.clock import iso, now_ms

# What a person wrote or accepted is certain; what a person said in passing, nearly.
CERTAIN, OVERHEARD = 1.0, 0.9

_SELECT = """
    select old_notes.id, category, text, coalesce(b.key, a.key), status, trust, author, confidence,
      first.session, first.turn,
           seen, created_at, seen_at, valid_from, valid_to, superseded_by
      from old_notes left join projects a on a.id = old_notes.project left join projects b
        on b.id = a.merged_into
      left join note_origins first
        on first.id = (select min(id) from note_origins where note = old_notes.id
          and session is not null)
"""


def number_of(ref: str) -> int:
    """The number in a reference such as note:7; the number alone will do."""
    number = ref.removeprefix("note:")
    if not (number.isdecimal() and len(number) <= 15):
        raise UsageError(
            f'"{ref[:50]}" is not a note.',
            hint="A note looks like note:7. See them: recollect notes",
        )
    return int(number)


def get_note(db: Database, number: int) -> OldNote:
    """One note."""
    row = db.row(f"{_SELECT} where old_notes.id = ?", (number,))
    if row is None:
        raise NotFound(f"There is no note:{number}.", hint="See them: recollect notes --all")
    return _note(row)


def list_notes(
    db: Database,
    *,
    project: str | None = None,
    everywhere: bool = False,
    statuses: Sequence[str] = (),
    category: str | None = None,
    limit: int | None = None,
) -> list[OldNote]:
    """Notes, the last one seen first: those that hold in a project, those
    that hold `everywhere`, or all of them.

    What holds everywhere holds in a project too.
    """
    clauses, values = ["1"], []
    if project is not None:
        clauses.append("(old_notes.project is null or coalesce(b.key, a.key) = ?)")
        values.append(project)
    elif everywhere:
        clauses.append("old_notes.project is null")
    if statuses:
        clauses.append(f"status in ({', '.join('?' * len(statuses))})")
        values += statuses
    if category is not None:
        clauses.append("category = ?")
        values.append(category)
    rows = db.rows(
        f"{_SELECT} where {' and '.join(clauses)} order by seen_at desc, old_notes.id desc limit ?",
        [*values, -1 if limit is None else limit],
    )
    return [_note(row) for row in rows]


def keep(
    db: Database,
    text: str,
    *,
    category: Category,
    project: ProjectIdentity | None,
    author: NoteAuthor,
    confidence: float,
) -> OldNote:
    """Keep a note, or confirm the one that says the same."""
    with db.transaction():
        scope = None if project is None else Projects(db).ensure(project)
        number = _find_same(db, text, scope)
        if number is None:
            number = _insert(db, text, category, scope, author, confidence)
        else:
            db.execute(
                "update old_notes set seen = seen + 1, seen_at = ? where id = ?", (now_ms(), number)
            )
            if author == "person":
                _adopt(db, number, text)
                db.execute("update old_notes set category = ? where id = ?", (category, number))
        if author == "agent":
            db.execute("insert into note_origins (note, at) values (?, ?)", (number, now_ms()))
        _changed(db, number)
    return get_note(db, number)


def accept(db: Database, number: int) -> OldNote:
    """A person says that a note is right."""
    with db.transaction():
        note = _standing(db, number, "accept")
        if (note.status, note.trust, note.confidence) != ("active", "user", CERTAIN):
            _believe(db, number, CERTAIN)
            _changed(db, number)
        db.execute(
            "update old_notes set accepted_at = coalesce(accepted_at, ?) where id = ?",
            (now_ms(), number),
        )
    return get_note(db, number)


def reject(db: Database, number: int) -> OldNote:
    """A person says that a note is wrong; it stays, so that nobody brings it up again."""
    with db.transaction():
        note = _standing(db, number, "reject")
        if note.status != "rejected":
            ended = now_ms() if note.status == "active" else None
            db.execute(
                "update old_notes set status = 'rejected', valid_to = ? where id = ?",
                (ended, number),
            )
            HookLines(db).drop({note.ref})
            _changed(db, number)
    return get_note(db, number)


def edit(db: Database, number: int, text: str) -> OldNote:
    """A person says it better: the new note takes the place of the old
    one, which stays as superseded.
    """
    with db.transaction():
        old = _standing(db, number, "edit")
        if text == old.text:
            raise UsageError(
                f"{old.ref} says that already.",
                hint=f"To accept it: recollect notes accept {old.ref}",
            )
        scope = db.value("select project from old_notes where id = ?", (number,))
        new = _find_same(db, text, scope, other_than=number)
        if new is None:
            new = _insert(db, text, old.category, scope, "person", CERTAIN)
        else:
            _adopt(db, new, text)
        db.execute(
            """
            insert into note_origins (note, at, session, turn)
            select ?, at, session, turn from note_origins where note = ? and session is not null
            """,
            (new, number),
        )
        db.execute(
            "update old_notes set status = 'superseded', superseded_by = ?, valid_to = ? where id = ?",
            (new, now_ms() if old.status == "active" else None, number),
        )
        HookLines(db).drop({old.ref})
        _changed(db, new)
    return get_note(db, new)


def believe(db: Database, number: int) -> bool:
    """A person was heard to say what a candidate says; False when it is none, or no longer."""
    if db.value("select 1 from old_notes where id = ? and status = 'candidate'", (number,)) is None:
        return False
    confidence = db.value(
        "select max(confidence, ?) from old_notes where id = ?", (OVERHEARD, number)
    )
    _believe(db, number, confidence)
    _changed(db, number)
    return True


def delete(db: Database, numbers: Sequence[int]) -> None:
    """Remove notes and what was said about them; what they replaced stays replaced."""
    marks = ", ".join("?" * len(numbers))
    db.execute(
        f"update old_notes set superseded_by = null where superseded_by in ({marks})", numbers
    )
    db.execute(
        "delete from feedback where ref in (select 'note:' || id from old_notes where id in "
        f"({marks}))",
        numbers,
    )
    db.execute(f"delete from old_notes where id in ({marks})", numbers)


def with_earlier(db: Database, number: int) -> list[int]:
    """A note and every version that it took the place of."""
    rows = db.rows(
        """
        with recursive versions (id) as (
          values (?) union select old_notes.id from old_notes join versions
            on old_notes.superseded_by = versions.id
        )
        select id from versions order by id
        """,
        (number,),
    )
    return [one for (one,) in rows]


def _note(row: tuple[Any, ...]) -> OldNote:
    (
        number,
        category,
        text,
        project,
        status,
        trust,
        author,
        confidence,
        session,
        turn,
        seen,
        *times,
        successor,
    ) = row
    created, last, begun, ended = map(iso, times)
    return OldNote(
        ref=f"note:{number}", category=category, text=text, project=project, status=status,
        trust=trust, author=author,
        confidence=confidence, session=session, turn=turn, seen=seen, created_at=created,
        seen_at=last, valid_from=begun,
        valid_to=ended, superseded_by=None if successor is None else f"note:{successor}",
    )  # fmt: skip


def _find_same(db: Database, text: str, scope: int | None, *, other_than: int = 0) -> int | None:
    """The note that says the same in this project, or in one that is merged with it.

    One that holds before one that does not.
    """
    found: int | None = db.value(
        """
        select old_notes.id from old_notes left join projects on projects.id = old_notes.project
         where words = ?1 and old_notes.id != ?3
           and coalesce(projects.merged_into, projects.id) is (select coalesce(merged_into,
             id) from projects where id = ?2)
         order by instr('active candidate rejected superseded', status), old_notes.id desc
        """,
        (compared(text), scope, other_than),
    )
    return found


def _insert(
    db: Database,
    text: str,
    category: Category,
    scope: int | None,
    author: NoteAuthor,
    confidence: float,
) -> int:
    now = now_ms()
    db.execute(
        """
        insert into old_notes (category, text, words, project, status, trust, author, confidence,
          created_at, seen_at)
        values (?, ?, ?, ?, 'candidate', 'assistant', ?, ?, ?, ?)
        """,
        (category, text, compared(text), scope, author, confidence, now, now),
    )
    number = int(db.connection.last_insert_rowid())
    if author == "person":
        _adopt(db, number, text)
    return number


def _adopt(db: Database, number: int, text: str) -> None:
    """A person says this, in these words."""
    _believe(db, number, CERTAIN)
    db.execute(
        "update old_notes set text = ?, words = ?, author = 'person', superseded_by = null, "
        "accepted_at = ? where id = ?",
        (text, compared(text), now_ms(), number),
    )


def _believe(db: Database, number: int, confidence: float) -> None:
    """From now on, unless it was so before."""
    db.execute(
        """
        update old_notes set valid_from = case when status = 'active'
          then coalesce(valid_from, ?1) else ?1 end,
               status = 'active', trust = 'user', confidence = ?2, valid_to = null
         where id = ?3
        """,
        (now_ms(), confidence, number),
    )


def _standing(db: Database, number: int, verb: str) -> OldNote:
    """A note that nothing has taken the place of."""
    note = get_note(db, number)
    if note.status == "superseded":
        other = note.superseded_by or "a note that is forgotten"
        hint = f"Try: recollect notes {verb} {other}" if note.superseded_by else "Add it again."
        raise UsageError(f"{note.ref} was replaced by {other}.", hint=hint)
    return note


def _changed(db: Database, number: int) -> None:
    """Have what is told where a note holds made again."""
    HookLines(db).outdate(db.value("select project from old_notes where id = ?", (number,)))
