"""Lets go of events, so that the store stays within its budget.

A turn whose events go keeps its row, its number, its tool calls, its tokens and
its vectors, and a small body in the place of the old one: the beginning of what
was asked and of what was answered last, and the calls without what they were
given and gave back, except for both ends of what a failed one said. A digest
is made of little else, so whatever it tells still finds the turn. Sessions are
listed and shown as before; the text index says what the small body says.

Whoever reads a log again has to know of this: see `incoming`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from recollect.clock import now_ms
from recollect.store import bodies
from recollect.store.calls import TARGET_CHARACTERS
from recollect.store.raw import Evicted, WholeTurn
from recollect.store.sqlite import optimize, scrub
from recollect.store.sqlite.content import INSERT_BODY, INSERT_TEXT, LEAD_CHARACTERS, drop_bodies, text_row
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.text_index import read_body

# A person's words find a turn better than anything else in it, and most of what was ever asked is shorter.
PROMPT_CHARACTERS = 1_000
# Writing the whole file anew is worth it when so much of it is empty; pages that stay empty are filled by the next imports.
EMPTY_SHARE = 4
# Merging the text index costs what the index weighs, so only after letting go of a good part of the store.
FREED_SHARE = 10

_CUT = "\n…\n"
_LAST_RUN = "retained_at"
_KEPT = "coalesce(sum(kept), 0)"
_DISTILLED = """
    (exists (select 1 from digests where digests.session = turns.session)
     and not exists (select 1 from undigested where undigested.session = turns.session))
"""


def raw_bytes(db: Database) -> int:
    """How many bytes events take, compressed as they are stored, without what is kept of those that were let go."""
    return int(db.value(f"select (select coalesce(sum(length(events)), 0) from bodies) - (select {_KEPT} from evictions)"))


def distilled_bytes(db: Database) -> int:
    """How many bytes digests, notes, traces and publications take, and what is kept of events that were let go."""
    return int(
        db.value(
            f"""
            select (select {_KEPT} from evictions)
                 + (select coalesce(sum(length(digest) + octet_length(title) + octet_length(summary)), 0) from digests)
                 + (select coalesce(sum(octet_length(text)), 0) from notes)
                 + (select coalesce(sum(octet_length(memory) + octet_length(summary)), 0) from traces)
                 + (select coalesce(sum(octet_length(text)), 0) from publications)
            """
        )
    )


def whole_turns(db: Database, quiet_before: int) -> list[WholeTurn]:
    """The turns with events to let go of, the oldest first; quiet are sessions that ended before this moment."""
    rows = db.rows(
        f"""
        select turns.id, stored.bytes - coalesce(kept, 0),
               coalesce(turns.ended_at, turns.started_at, sessions.ended_at, sessions.started_at) as at,
               {_DISTILLED}, coalesce(sessions.ended_at, sessions.started_at, 0) < ?
          from (select turn, sum(length(events)) as bytes from bodies group by turn) stored
          join turns on turns.id = stored.turn join sessions on sessions.id = turns.session
          left join evictions on evictions.turn = turns.id
         where stored.bytes > coalesce(kept, 0)
         order by at, turns.id
        """,
        (quiet_before,),
    )
    return [WholeTurn(turn, size, at, bool(distilled), bool(quiet)) for turn, size, at, distilled, quiet in rows]


def evict(db: Database, turns: Sequence[int], *, undistilled: bool = False, dry_run: bool = False) -> list[Evicted]:
    """Let go of the events of these turns, in one transaction; a dry run says what that would come to.

    Whether a turn is distilled is asked here again, under the lock: its log
    may have grown since it was chosen. One that is not stays as it is, unless
    `undistilled` says that it may go all the same.
    """
    if dry_run:
        return [gone for gone, _, _ in _planned(db, turns, undistilled)]
    with db.transaction():
        marks = _Marks(db, turns)
        plan = _planned(db, turns, undistilled)
        for gone, body, rows in plan:
            if gone.freed_bytes:
                _replace(db, gone.turn, body, rows)
            _record(db, gone)
        marks.restore()
    return [gone for gone, _, _ in plan]


def _planned(db: Database, turns: Sequence[int], undistilled: bool) -> list[tuple[Evicted, bytes, list[bodies.Row]]]:
    """What each turn frees, and what stays of it; worked out before anything is written, as that marks sessions as changed."""
    plan = []
    for turn in turns:
        parts = [bytes(events) for (events,) in db.rows("select events from bodies where turn = ? order by part", (turn,))]
        distilled = bool(db.value(f"select {_DISTILLED} from turns where id = ?", (turn,)))
        # What cannot be read cannot be made smaller either: `doctor --verify` names it.
        if not parts or not (distilled or undistilled) or any(read_body(part) is None for part in parts):
            continue
        rows = small(bodies.joined(parts))
        body = bodies.pack(rows)
        before = sum(map(len, parts))
        kept = min(before, len(body))
        raw = before - (db.value("select kept from evictions where turn = ?", (turn,)) or 0)
        plan.append((Evicted(turn, raw, before - kept, kept, distilled), body, rows))
    return plan


def small(rows: list[bodies.Row]) -> list[bodies.Row]:
    """The rows that stay of a turn's events. What is small already stays as it is."""
    answers = [row for row in rows if row[bodies.KIND] == "reply"]
    kept = []
    for row in rows:
        kind, at, text = row[: bodies.CALL]
        if kind == "tool_call":
            kept.append(_small_call(row))
        elif kind == "prompt":
            kept.append([kind, at, text[:PROMPT_CHARACTERS]])
        elif kind in ("error", "abort") or (answers and row is answers[-1]):
            kept.append([kind, at, text[:LEAD_CHARACTERS]])
    return kept


def _small_call(row: bodies.Row) -> bodies.Row:
    """A call without what it was given and gave back; one that still waits for its result keeps the name it is found by."""
    kind, at, _, call, name, tool_kind, target, _, output, ok, exit_code, duration_ms = row
    waits = ok is None and output is None
    target = target[:TARGET_CHARACTERS] if target else target
    said = _ends(output) if output and ok is False else None
    return [kind, at, "", call if waits else None, name, tool_kind, target, None, said, ok, exit_code, duration_ms]


def _ends(text: str) -> str:
    if len(text) <= 2 * LEAD_CHARACTERS + len(_CUT):
        return text
    return text[:LEAD_CHARACTERS] + _CUT + text[-LEAD_CHARACTERS:]


def _replace(db: Database, turn: int, body: bytes, rows: list[bodies.Row]) -> None:
    first = db.value("select min(id) from bodies where turn = ?", (turn,))
    drop_bodies(db, turn)
    db.execute(INSERT_BODY, (first, turn, 0, body, bodies.checksum(body)))
    db.execute(INSERT_TEXT, text_row(first, rows))


def _record(db: Database, gone: Evicted) -> None:
    db.execute(
        """
        insert into evictions (turn, at, bytes, kept, distilled) values (?, ?, ?, ?, ?)
        on conflict (turn) do update set
          at = excluded.at, bytes = bytes + excluded.bytes, kept = excluded.kept, distilled = excluded.distilled
        """,
        (gone.turn, now_ms(), gone.freed_bytes, gone.kept_bytes, gone.distilled),
    )


class _Marks:
    """What waits to be embedded and digested, before and after.

    Writing a body marks its turn and its session as changed. Here nothing
    has happened in them: vectors and digests were made of more than is left.
    """

    def __init__(self, db: Database, turns: Sequence[int]) -> None:
        self.db = db
        self.tables = {
            "unembedded": ("turn", set(turns)),
            "undigested": ("session", {db.value("select session from turns where id = ?", (turn,)) for turn in turns} - {None}),
        }
        self.before = {
            table: {owner: db.value(f"select mark from {table} where {column} = ?", (owner,)) for owner in owners}
            for table, (column, owners) in self.tables.items()
        }

    def restore(self) -> None:
        for table, (column, _) in self.tables.items():
            self.db.many(f"delete from {table} where {column} = ?", [(owner,) for owner in self.before[table]])
            marked = [(owner, mark) for owner, mark in self.before[table].items() if mark is not None]
            self.db.many(f"insert into {table} values (?, ?)", marked)


def give_back(db: Database, freed: int) -> int:
    """Make the file smaller when enough of it is empty; says by how many bytes. May be called at any time."""
    if db.path == ":memory:":
        return 0
    before = _pages(db, "page_count")
    if freed * FREED_SHARE >= before * _pages(db, "page_size"):
        # Only now do the words of what is gone leave the index.
        optimize.merge_text(db)
    if _pages(db, "freelist_count") * EMPTY_SHARE < before:
        return 0
    scrub.vacuum(db)
    scrub.empty_log(db)
    return (before - _pages(db, "page_count")) * _pages(db, "page_size")


def _pages(db: Database, name: str) -> int:
    return int(db.value(f"pragma {name}"))


def last_run(db: Database) -> int:
    """When retention last came to its end; 0 when it never did."""
    return int(db.value("select value from store_info where name = ?", (_LAST_RUN,)) or 0)


def save_run(db: Database) -> None:
    """Retention came to its end."""
    with db.transaction():
        db.execute("insert or replace into store_info values (?, ?)", (_LAST_RUN, now_ms()))


def evicted_at(db: Database, turn: int) -> int | None:
    """When a turn's events were let go, if they were."""
    at: int | None = db.value("select at from evictions where turn = ? and bytes > 0", (turn,))
    return at


def raw_log(db: Database, turn: int) -> str | None:
    """Where the log that a turn came from still is."""
    stored = db.value(
        """
        select path from turns join sessions on sessions.id = turns.session join sources on sources.id = sessions.source
         where turns.id = ?
        """,
        (turn,),
    )
    path = None if stored is None else os.fsdecode(stored)
    # A source in somebody's database is a file with a name inside it.
    return path if path is not None and (os.path.exists(path) or os.path.exists(path.partition("#")[0])) else None
