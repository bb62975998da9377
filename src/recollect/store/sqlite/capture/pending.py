"""Rows on their way into the tables, written many at a time."""

from __future__ import annotations

from typing import Any

from recollect.store.sqlite.capture.content import INSERT_BODY, INSERT_TEXT
from recollect.store.sqlite.database import Database

# Rows are held until their text is about this long: memory grows with it.
HELD_CHARACTERS = 12 << 20

_INSERT_TURN = """
    insert into turns (
      id, session, ordinal, key, author, started_at, ended_at, errors, prompt, reply
    )
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_CALL = """
    insert into tool_calls (
      turn, ordinal, name, kind, target, ok, exit_code, duration_ms, folder, pending
    )
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# Copies of one model call: the largest figures, once, owned by the earliest
# (time, session id), whatever the order in which the files are imported; within
# a session by a turn that is part of the conversation.
_INSERT_USAGE = """
    insert into usage (
      key, turn, model, at, input, cache_read, cache_write, cache_write_1h, output, reasoning,
      cost_usd
    )
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (key) do update set
      input = max(input, excluded.input),
      cache_read = max(cache_read, excluded.cache_read),
      cache_write = max(cache_write, excluded.cache_write),
      cache_write_1h = max(cache_write_1h, excluded.cache_write_1h),
      output = max(output, excluded.output),
      reasoning = max(reasoning, excluded.reasoning),
      model = coalesce(model, excluded.model),
      cost_usd = coalesce(max(cost_usd, excluded.cost_usd), cost_usd, excluded.cost_usd),
      (turn, at) = (
        select case when moves then excluded.turn else usage.turn end,
               case when moves then excluded.at else usage.at end
          from (select (coalesce(excluded.at, 9e15),
                        (select ref from sessions where id = new.session), not new.live)
                     < (coalesce(usage.at, 9e15),
                        (select ref from sessions where id = old.session), not old.live) as moves
                  from turns new, turns old where new.id = excluded.turn and old.id = usage.turn)
      )
"""


# Two statements, because the first touches no index: most sessions only get longer.
_UPDATE_END = (
    "update sessions set ended_at = coalesce(max(ended_at, ?1), ended_at, ?1) where id = ?2"
)
_UPDATE_START = """
    update sessions set started_at = ?1 where id = ?2 and started_at is null
"""


class _ForgottenElsewhere(set[tuple[str, str]]):
    """What is not brought back, with what other devices of ours forgot, which only has an id."""

    def __init__(self, db: Database, here: set[tuple[str, str]]) -> None:
        from recollect.store.sqlite.team import item_id

        super().__init__(here)
        self._id = item_id
        self._ids = {id for (id,) in db.rows("select id from team_tombstones")}
        self._key = db.value("select team_key from hub") or b""

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        return (
            isinstance(name, tuple)
            and name[0] == "session"
            and self._id(self._key, "session", name[1]) in self._ids
        )


class Pending:
    """Rows on their way into the tables, written many at a time and in this order.

    Row ids are counted here rather than asked for one by one: the transaction
    holds the write lock, so nobody else can take them.

    A call to SQLite costs more than a row, and most logs are small. The text
    index is written last of all: SQLite makes it flush what it has gathered
    whenever a statement on another table opens a savepoint, and many small
    segments cost twice what a few large ones do.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        *last, forgotten, elsewhere = db.rows(
            """
            select (select max(id) from turns), (select max(id) from bodies),
                   (select max(id) from sources), (select max(id) from sessions),
                   (select count(*) from tombstones), (select count(*) from team_tombstones)
            """
        )[0]
        self.next_turn, self.next_body, self.next_source, self.next_session = (
            (number or 0) + 1 for number in last
        )
        self.sessions: dict[str, int] = {}
        self.forgotten = set()
        if forgotten:
            self.forgotten = set(db.rows("select kind, name from tombstones"))
        if elsewhere:
            self.forgotten = _ForgottenElsewhere(db, self.forgotten)
        self.turns: list[tuple[Any, ...]] = []
        self.bodies: list[tuple[Any, ...]] = []
        self.calls: list[tuple[Any, ...]] = []
        self.usages: list[tuple[Any, ...]] = []
        self.ends: list[tuple[Any, ...]] = []
        self.starts: list[tuple[Any, ...]] = []
        self.texts: list[tuple[Any, ...]] = []
        self.characters = 0

    def index(self, text: tuple[Any, ...]) -> None:
        """Queue a row for the text index; the rows held grow with the text."""
        self.texts.append(text)
        self.characters += sum(map(len, text[1:]))
        if self.characters > HELD_CHARACTERS:
            self.flush()

    def flush_tables(self) -> None:
        """Write everything but the text index, so that it can be asked for."""
        for sql, rows in (
            (_INSERT_TURN, self.turns),
            (INSERT_BODY, self.bodies),
            (_INSERT_CALL, self.calls),
            (_INSERT_USAGE, self.usages),
            (_UPDATE_END, self.ends),
            (_UPDATE_START, self.starts),
        ):
            if rows:
                self.db.many(sql, rows)
                rows.clear()

    def flush(self) -> None:
        """Write everything."""
        self.flush_tables()
        if self.texts:
            self.db.many(INSERT_TEXT, self.texts)
        self.texts, self.characters = [], 0
