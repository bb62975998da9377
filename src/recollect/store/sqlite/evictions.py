"""Lets go of events, so that the store stays within its budget.

A turn whose events go keeps its row, its number, its tool calls, its tokens and
its vectors, and a small body in the place of the old one (see `abridged`).
Sessions are listed and shown as before; the text index says what the small
body says.

Whoever reads a log again has to know of this: see `incoming`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recollect.model.retention import Evicted, WholeTurn
from recollect.store import bodies
from recollect.store.sqlite.abridged import DigestWords, abridged, told_by, with_digest, words_of
from recollect.store.sqlite.capture.content import INSERT_BODY, INSERT_TEXT, body_row, text_row
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import unpack_digest
from recollect.store.sqlite.parts import readable_rows_of, stored_parts
from recollect.store.sqlite.scrub import Scrub
from recollect.store.sqlite.search.text_index import TextIndex, reply_lead
from recollect.store.sqlite.sources import path_text
from recollect.system.clock import now_ms

# Writing the whole file anew is worth it when one of so many pages is empty, or after letting go of
# such a part of it; until then empty pages are filled by the next imports.
EMPTY_SHARE = 4
FREED_SHARE = 10

_LAST_RUN, _GIVEN_BACK = "retained_at", "given_back"
_EVICTED_OF = "select turn from evictions join turns on turns.id = evictions.turn where session = ?"
_KEPT = "coalesce(sum(kept), 0)"
_DISTILLED = """
    (exists (select 1 from digests where digests.session = turns.session)
     and not exists (select 1 from undigested where undigested.session = turns.session))
"""


class _Plan(NamedTuple):
    """What letting go of a turn comes to, and the rows that take the place of its events.

    None when these stay.
    """

    gone: Evicted
    rows: list[bodies.Row] | None


def _what_stays(
    rows: list[bodies.Row], size: int, told: DigestWords | None, known: frozenset[str]
) -> list[bodies.Row] | None:
    """The shorter rows of a turn.

    Of one that cannot become smaller all of them, with what is only in its digest.
    """
    events = [row for row in rows if row[bodies.KIND] != bodies.DIGEST]
    if told is None:
        # Of an earlier digest there are only these words.
        told = DigestWords(
            [row[bodies.TEXT] for row in rows if row[bodies.KIND] == bodies.DIGEST], []
        )
    short = with_digest(abridged(events, told.errors), told.texts, known)
    if len(bodies.pack(short)) < size:
        return short
    whole = with_digest(events, told.texts, known)
    return whole if whole != rows else None


class _ToldByDigests:
    """What the digests of sessions tell of their turns, each of them read once."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.read: dict[int, tuple[dict[int, DigestWords], frozenset[str]]] = {}

    def told(self, turn: int, distilled: bool) -> tuple[DigestWords | None, frozenset[str]]:
        """What the digest tells of a turn, and the words that stay with the session in any case.

        None without a digest.
        """
        if not distilled:
            return None, frozenset()
        (place,) = self.db.rows("select session, ordinal from turns where id = ?", (turn,))
        session, ordinal = place
        if session not in self.read:
            packed, ref = self.db.rows(
                """
                select digest, ref from digests join sessions on sessions.id = session
                 where session = ?
                """,
                (session,),
            )[0]
            first = self.db.value("select min(ordinal) from turns where session = ?", (session,))
            targets = self.db.rows(
                """
                select distinct target from tool_calls
                 where turn in (select id from turns where session = ?)
                """,
                (session,),
            )
            self.read[session] = (
                told_by(unpack_digest(packed, ref), first),
                words_of(target for (target,) in targets if target),
            )
        told, known = self.read[session]
        return told.get(ordinal, DigestWords([], [])), known


class _Marks:
    """What waits to be embedded and digested, before and after.

    Writing a body marks its turn and its session as changed. Here nothing
    has happened in them: vectors and digests were made of more than is left.
    """

    def __init__(self, db: Database, turns: Sequence[int]) -> None:
        self.db = db
        sessions = {db.value("select session from turns where id = ?", (turn,)) for turn in turns}
        self.tables: dict[str, tuple[str, set[int]]] = {
            "unembedded": ("turn", set(turns)),
            "undigested": ("session", sessions - {None}),
        }
        self.before: dict[str, dict[int, int | None]] = {}
        for table, (column, owners) in self.tables.items():
            find = f"select mark from {table} where {column} = ?"
            self.before[table] = {owner: db.value(find, (owner,)) for owner in owners}

    def restore(self) -> None:
        for table, (column, _) in self.tables.items():
            self.db.many(
                f"delete from {table} where {column} = ?",
                [(owner,) for owner in self.before[table]],
            )
            marked = [
                (owner, mark) for owner, mark in self.before[table].items() if mark is not None
            ]
            self.db.many(f"insert into {table} values (?, ?)", marked)


class Evictions:
    """Lets go of events that take too much room."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def raw_bytes(self) -> int:
        """How many bytes events take, compressed as they are stored, without
        what is kept of those that were let go.
        """
        return int(
            self.db.value(
                f"""
                select (select coalesce(sum(length(events)), 0) from bodies)
                     - (select {_KEPT} from evictions)
                """
            )
        )

    def distilled_bytes(self) -> int:
        """How many bytes digests and notes take, and what
        is kept of events that were let go.
        """
        return int(
            self.db.value(
                f"""
                select (select {_KEPT} from evictions)
                     + (select coalesce(sum(
                          length(digest) + octet_length(title) + octet_length(summary)), 0)
                          from digests)
                     + (select coalesce(sum(octet_length(text)), 0) from notes)
                """
            )
        )

    def whole_turns(self, quiet_before: int) -> list[WholeTurn]:
        """The turns with events to let go of, the oldest first.

        Quiet are sessions that ended before this moment.
        """
        rows = self.db.rows(
            f"""
            select turns.id, stored.bytes - coalesce(kept, 0),
                   coalesce(
                     turns.ended_at, turns.started_at, sessions.ended_at, sessions.started_at
                   ) as at,
                   {_DISTILLED}, coalesce(sessions.ended_at, sessions.started_at, 0) < ?
              from (select turn, sum(length(events)) as bytes from bodies group by turn) stored
              join turns on turns.id = stored.turn
              join sessions on sessions.id = turns.session
              left join evictions on evictions.turn = turns.id
             where stored.bytes > coalesce(kept, 0)
             order by at, turns.id
            """,
            (quiet_before,),
        )
        return [
            WholeTurn(turn, size, at, bool(distilled), bool(quiet))
            for turn, size, at, distilled, quiet in rows
        ]

    def evict(self, turns: Sequence[int], *, undistilled: bool = False) -> list[Evicted]:
        """Let go of the events of these turns, in one transaction.

        Whether a turn is distilled is asked here again, under the lock: its log
        may have grown since it was chosen. One that is not stays as it is, unless
        `undistilled` says that it may go all the same.
        """
        with self.db.transaction():
            marks = _Marks(self.db, turns)
            plans = self._planned(turns, undistilled)
            self._replace({plan.gone.turn: plan.rows for plan in plans if plan.rows is not None})
            self._record([plan.gone for plan in plans])
            marks.restore()
        return [plan.gone for plan in plans]

    def _planned(self, turns: Sequence[int], undistilled: bool) -> list[_Plan]:
        """What becomes of each turn.

        Worked out before anything is written, as that marks sessions as changed.
        """
        plans, read = [], _ToldByDigests(self.db)
        for turn in turns:
            parts = stored_parts(self.db, turn)
            distilled = bool(self.db.value(f"select {_DISTILLED} from turns where id = ?", (turn,)))
            # What cannot be read cannot be made smaller either: `doctor --verify` names it.
            if (
                not parts
                or not (distilled or undistilled)
                or any(bodies.find_rows(part) is None for part in parts)
            ):
                continue
            before = sum(map(len, parts))
            rows = _what_stays(bodies.joined(parts), before, *read.told(turn, distilled))
            kept = before if rows is None else len(bodies.pack(rows))
            raw = before - (
                self.db.value("select kept from evictions where turn = ?", (turn,)) or 0
            )
            plans.append(_Plan(Evicted(turn, raw, before - kept, kept, distilled), rows))
        return plans

    def _replace(self, stays: Mapping[int, list[bodies.Row]]) -> None:
        """Give these turns one small body each.

        The text index comes last, all of it at once: between other statements
        every row of it would be written as a segment of its own.
        """
        texts = []
        self.db.many(
            "delete from turns_text where rowid in (select id from bodies where turn = ?)",
            [(turn,) for turn in stays],
        )
        for turn, rows in stays.items():
            first = self.db.value("select min(id) from bodies where turn = ?", (turn,))
            text = text_row(first, rows)
            self.db.execute("delete from bodies where turn = ?", (turn,))
            self.db.execute(INSERT_BODY, body_row(first, turn, 0, rows, text))
            self.db.execute("update turns set reply = ? where id = ?", (reply_lead(rows), turn))
            texts.append(text)
        self.db.many(INSERT_TEXT, texts)

    def _record(self, gone: Sequence[Evicted]) -> None:
        now = now_ms()
        self.db.many(
            """
            insert into evictions (turn, at, bytes, kept, distilled) values (?, ?, ?, ?, ?)
            on conflict (turn) do update set
              at = excluded.at, bytes = bytes + excluded.bytes,
              kept = excluded.kept, distilled = excluded.distilled
            """,
            [
                (one.turn, now, max(0, one.freed_bytes), one.kept_bytes, one.distilled)
                for one in gone
            ],
        )

    def unsay(self, sessions: Sequence[int]) -> None:
        """Take out of these sessions' turns what their digests told: it
        may quote what is being forgotten.
        """
        turns = [turn for session in sessions for (turn,) in self.db.rows(_EVICTED_OF, (session,))]
        # A damaged part, which may quote as well, goes as a whole.
        stored = dict(readable_rows_of(self.db, turns))
        left = {
            turn: [row for row in rows if row[bodies.KIND] != bodies.DIGEST]
            for turn, rows in stored.items()
        }
        changed = {turn: rows for turn, rows in left.items() if rows != stored[turn]}
        sizes = {turn: sum(map(len, stored_parts(self.db, turn))) for turn in changed}
        marks = _Marks(self.db, list(changed))
        self._replace(changed)
        marks.restore()
        smaller = (
            "kept = max(0, kept - ?2 + (select sum(length(events)) from bodies where turn = ?1))"
        )
        self.db.many(f"update evictions set {smaller} where turn = ?1", list(sizes.items()))

    def give_back(self) -> int:
        """Make the file smaller once that is worth it.

        Says by how many bytes. May be called at any time.
        """
        if self.db.path == ":memory:":
            return 0
        before = self._pages("page_count")
        # Most of what was let go of has left pages that are half empty, which nobody counts.
        freed = int(self.db.value("select coalesce(sum(bytes), 0) from evictions"))
        if (freed - self._info(_GIVEN_BACK)) * FREED_SHARE >= before * self._pages("page_size"):
            # Only now do the words of what is gone leave the index.
            TextIndex(self.db).merge()
        elif self._pages("freelist_count") * EMPTY_SHARE < before:
            return 0
        Scrub(self.db).vacuum()
        self._save_info(_GIVEN_BACK, freed)
        Scrub(self.db).empty_log()
        return (before - self._pages("page_count")) * self._pages("page_size")

    def _pages(self, name: str) -> int:
        return int(self.db.value(f"pragma {name}"))

    def last_run(self) -> int:
        """When retention last came to its end; 0 when it never did."""
        return self._info(_LAST_RUN)

    def save_run(self) -> None:
        """Retention came to its end."""
        self._save_info(_LAST_RUN, now_ms())

    def _info(self, name: str) -> int:
        return int(self.db.value("select value from store_info where name = ?", (name,)) or 0)

    def _save_info(self, name: str, value: int) -> None:
        with self.db.transaction():
            self.db.execute("insert or replace into store_info values (?, ?)", (name, value))

    def at(self, turn: int) -> int | None:
        """When a turn's events were let go, if they were."""
        at: int | None = self.db.value(
            "select at from evictions where turn = ? and bytes > 0", (turn,)
        )
        return at

    def raw_log(self, turn: int) -> str | None:
        """Where the log that a turn came from still is."""
        stored = self.db.value(
            """
            select path from turns
              join sessions on sessions.id = turns.session
              join sources on sources.id = sessions.source
             where turns.id = ?
            """,
            (turn,),
        )
        path = None if stored is None else path_text(stored)
        # A source in somebody's database is a file with a name inside it.
        return (
            path
            if path is not None and (os.path.exists(path) or os.path.exists(path.partition("#")[0]))
            else None
        )
