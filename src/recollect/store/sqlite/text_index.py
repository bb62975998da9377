"""Makes the text index from the bodies, as capture would have made it.

The index is never the truth: whatever happens to it, it can be told again from
what is stored, by turn or as a whole.
"""

from __future__ import annotations

from typing import Any

from recollect.errors import StoreDamaged
from recollect.store import bodies
from recollect.store.sqlite.content import LEAD_CHARACTERS, text_row
from recollect.store.sqlite.database import Database

INSERT = (
    "insert into turns_text (rowid, prompt, reply, tools, errors, output) values (?, ?, ?, ?, ?, ?)"
)


def text_rows(parts: list[tuple[int, list[bodies.Row]]]) -> list[tuple[Any, ...]]:
    """The index rows of one turn, from its body ids and rows, part by part.

    Later parts repeat the lead of the prompt that came before them.
    """
    made, prompt = [], ""
    for body, rows in parts:
        made.append(text_row(body, rows, prompt))
        prompt = prompt or prompt_lead(rows)
    return made


def prompt_lead(rows: list[bodies.Row]) -> str:
    """What the turn's own row says of the prompt among these events."""
    prompts = (row[bodies.TEXT] for row in rows if row[bodies.KIND] == "prompt")
    return next((text[:LEAD_CHARACTERS] for text in prompts if text), "")


def reply_lead(rows: list[bodies.Row]) -> str:
    """What the turn's own row says of the last reply among these events."""
    replies = (row[bodies.TEXT] for row in reversed(rows) if row[bodies.KIND] == "reply")
    return next((text[:LEAD_CHARACTERS] for text in replies if text), "")


def rebuild_text(db: Database) -> int:
    """Make the whole text index anew; says how many rows it has.

    In one transaction: searches see the old index until the new one is there.
    Bodies that cannot be read are left out, and `doctor --verify` names them.
    """
    with db.transaction():
        try:
            db.execute("insert into turns_text (turns_text) values ('delete-all')")
        except StoreDamaged:
            _make_again(db)
        count = 0
        for (turn,) in db.rows("select distinct turn from bodies order by turn"):
            rows = text_rows(_readable_parts(db, turn))
            db.many(INSERT, rows)
            count += len(rows)
    return count


def _readable_parts(db: Database, turn: int) -> list[tuple[int, list[bodies.Row]]]:
    parts = []
    for body, events in db.rows(
        "select id, events from bodies where turn = ? order by part", (turn,)
    ):
        rows = read_body(events)
        if rows is not None:
            parts.append((body, rows))
    return parts


def read_body(events: bytes) -> list[bodies.Row] | None:
    """A body's rows, or None when it is not one."""
    import msgspec
    import zstandard

    try:
        rows = bodies.unpack(events)
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError, MemoryError):
        return None
    sound = isinstance(rows, list) and all(
        isinstance(row, list) and len(row) in (3, 8, 13) for row in rows
    )
    return rows if sound else None


def _make_again(db: Database) -> None:
    """The index is too damaged even to be emptied; as a table it can be dropped."""
    made_by = db.value("select sql from sqlite_schema where name = 'turns_text'")
    options = db.rows("select k, v from turns_text_config where k <> 'version'")
    db.execute("drop table turns_text")
    db.execute(made_by)
    db.many("insert into turns_text (turns_text, rank) values (?, ?)", options)
