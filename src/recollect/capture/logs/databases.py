"""Sessions in a database of somebody else's, read from where the last pass ended.

Rows are not appended like the lines of a file: old ones change too. Two things
tell that a session has something new: a row with a higher number than any
before, and a row with a newer time of change. Either makes the whole session
be read again, the longest unchanged one first, so that a pass which is stopped
goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct, field

from recollect.capture.logs.appended import resumed
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.rows import Rows, opened
from recollect.capture.logs.values import moment_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

# Committed at a time: what is held in memory grows with it.
_STRETCH_BYTES = 8 << 20


class Table(NamedTuple):
    """A table with rows of sessions: the columns with the session's id and with the
    time of a row's last change, if told.

    One that tells no time may be missing in an older version.
    """

    name: str
    session: str
    changed: str | None = None


class Marks(Struct):
    """How far a database was read: the newest change, and the highest row of each table."""

    changed: float = 0
    rows: dict[str, int] = field(default_factory=dict)


class Reader(Protocol):
    """Makes items of the rows of one session after the other."""

    tables: Sequence[Table]
    # How much was read since somebody last set it to 0.
    read_bytes: int

    def session(self, rows: Rows, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile."""

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""


def read_changed(source: Source, since: Checkpoint | None, reader: Reader) -> Iterator[Item]:
    """The sessions that changed since a checkpoint, each of them whole."""
    position, marks = resumed(since, Marks)
    state = since.state if since and marks else b""
    try:
        with opened(source.path) as rows:
            news = News(rows, reader.tables, marks or Marks())
            for changed, session in news.sessions:
                yield from reader.session(rows, session)
                if reader.read_bytes >= _STRETCH_BYTES:
                    position, reader.read_bytes = position + reader.read_bytes, 0
                    state = msgspec.msgpack.encode(news.reached(changed))
                    yield Checkpoint(position, state)
            state = msgspec.msgpack.encode(news.all)
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
    yield from reader.problems()
    yield Checkpoint(position + reader.read_bytes, state)


class News:
    """Which sessions changed since the marks of the last pass."""

    def __init__(self, rows: Rows, tables: Sequence[Table], since: Marks) -> None:
        self.since = since
        self.all = Marks()
        found = [(table, row) for table in tables for row in _newest(rows, table)]
        for table, (_, changed, row) in found:
            self.all.changed = max(self.all.changed, changed)
            self.all.rows[table.name] = max(self.all.rows.get(table.name, 0), row)
        given = {**self.all.rows, **_given(rows)}
        if self.all.changed < since.changed or any(
            given.get(name, 0) < row for name, row in since.rows.items()
        ):
            # Another database in the same place, or the newest rows are gone: read all of it.
            self.since = Marks()
        latest: dict[str, float] = {}
        for table, (session, changed, row) in found:
            if changed >= self.since.changed or row > self.since.rows.get(table.name, 0):
                latest[session] = max(latest.get(session, 0), changed)
        self.sessions = sorted((changed, session) for session, changed in latest.items())

    def reached(self, changed: float) -> Marks:
        """The marks after a session that changed then, and all that changed before it.

        What is told by its rows alone comes first: until it is through,
        nothing is to be remembered.
        """
        return Marks(changed, self.all.rows) if changed >= self.since.changed else self.since


def _newest(rows: Rows, table: Table) -> list[tuple[str, float, int]]:
    """Each session of a table with its newest change and its highest row."""
    needed = [table.session, table.changed] if table.changed else [table.session]
    present = rows.columns(table.name)
    if not present and not table.changed:
        return []
    if not set(needed) <= set(present):
        raise Unreadable(f"it has no table {table.name} with {' and '.join(needed)}")
    # The plus keeps SQLite from going through an index, which would
    # fetch the rows in a costly order.
    found = rows.all(
        f"select {table.session}, max({table.changed or 0}), max(rowid) from {table.name} group by "
        f"+{table.session}"
    )
    return [
        (session, changed if isinstance(changed, (int, float)) else moment_of(changed) or 0, row)
        for session, changed, row in found
        if isinstance(session, str)
    ]


def _given(rows: Rows) -> dict[str, int]:
    """The highest number that a row of a table ever had, where SQLite keeps
    count of it: that row may be gone.
    """
    counts = (
        rows.all("select name, seq from sqlite_sequence") if rows.columns("sqlite_sequence") else []
    )
    return {name: row for name, row in counts if isinstance(row, int)}
