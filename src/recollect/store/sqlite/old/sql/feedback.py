"""What memories were worth to those they were offered to."""

from __future__ import annotations

from recollect.errors import NotFound
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.old.sql.notes import get_note, number_of
from recollect.store.sqlite.sessions import Sessions
from recollect.system.clock import now_ms


def give(db: Database, ref: str, *, helpful: bool, author: str, reason: str | None) -> None:
    """Write down one judgement of a session, a turn or a note."""
    with db.transaction():
        db.execute(
            "insert into feedback (at, ref, helpful, author, reason) values (?, ?, ?, ?, ?)",
            (now_ms(), _whole(db, ref), helpful, author, reason),
        )


def counts(db: Database, ref: str) -> tuple[int, int]:
    """How often a memory was called helpful, and how often not."""
    sql = "select coalesce(sum(helpful), 0), coalesce(sum(not helpful), 0) from feedback where ref = ?"
    helpful, harmful = db.rows(sql, (_whole(db, ref),))[0]
    return helpful, harmful


def _whole(db: Database, ref: str) -> str:
    """The whole reference of what is stored under it."""
    if ref.startswith("note:"):
        return get_note(db, number_of(ref)).ref
    session, ordinal = Sessions(db).resolve(ref)
    if ordinal is None:
        return session
    sql = "select 1 from turns join sessions on sessions.id = turns.session where ref = ? and ordinal = ?"
    if db.value(sql, (session, ordinal)) is None:
        raise NotFound(
            f"{session} has no turn {ordinal}.", hint=f"See its turns: recollect show {session}"
        )
    return f"{session}#{ordinal}"
