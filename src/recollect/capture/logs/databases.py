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

from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import resume
from recollect.capture.logs.sqlite import SqliteFile, open_sqlite
from recollect.capture.logs.values import moment_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

# Committed at a time: what is held in memory grows with it.
_COMMIT_BYTES = 8 << 20


class SessionTable(NamedTuple):
    """A table with rows of sessions: the columns of the session's id and of the last change.

    One that tells no time may be missing in an older version.
    """

    name: str
    session: str
    changed: str | None = None


class ReadMarks(Struct):
    """How far a database was read: the newest change, and the highest row of each table."""

    changed: float = 0
    rows: dict[str, int] = field(default_factory=dict)


class SessionReader(Protocol):
    """Makes items of the rows of one session after the other."""

    tables: Sequence[SessionTable]
    # How much was read since somebody last set it to 0.
    read_bytes: int
    # What could not be read, told at the end of the pass.
    problems: ProblemCounter

    def session(self, file: SqliteFile, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile."""


def read_changed(source: Source, since: Checkpoint | None, reader: SessionReader) -> Iterator[Item]:
    """The sessions that changed since a checkpoint, each of them whole."""
    position, marks = resume(since, ReadMarks)
    state = since.state if since and marks else b""
    try:
        with open_sqlite(source.path) as file:
            new = ChangedSessions(file, reader.tables, marks or ReadMarks())
            for changed, session in new.sessions:
                yield from reader.session(file, session)
                if reader.read_bytes >= _COMMIT_BYTES:
                    position, reader.read_bytes = position + reader.read_bytes, 0
                    state = msgspec.msgpack.encode(new.reached(changed))
                    yield Checkpoint(position, state)
            state = msgspec.msgpack.encode(new.all)
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
    yield from reader.problems.drain()
    yield Checkpoint(position + reader.read_bytes, state)


class ChangedSessions:
    """Which sessions changed since the marks of the last pass."""

    def __init__(self, file: SqliteFile, tables: Sequence[SessionTable], since: ReadMarks) -> None:
        self.since = since
        self.all = ReadMarks()
        found = [(table, row) for table in tables for row in _newest(file, table)]
        for table, (_, changed, row) in found:
            self.all.changed = max(self.all.changed, changed)
            self.all.rows[table.name] = max(self.all.rows.get(table.name, 0), row)
        highest = {**self.all.rows, **_highest_ever(file)}
        fewer = any(highest.get(name, 0) < row for name, row in since.rows.items())
        if fewer or self.all.changed < since.changed:
            # Another database in the same place, or the newest rows are gone: read all of it.
            self.since = ReadMarks()
        latest: dict[str, float] = {}
        for table, (session, changed, row) in found:
            is_new_row = row > self.since.rows.get(table.name, 0)
            if changed >= self.since.changed or is_new_row:
                latest[session] = max(latest.get(session, 0), changed)
        self.sessions = sorted((changed, session) for session, changed in latest.items())

    def reached(self, changed: float) -> ReadMarks:
        """The marks after a session that changed then, and all that changed before it.

        What is told by its rows alone comes first: until it is through,
        nothing is to be remembered.
        """
        return ReadMarks(changed, self.all.rows) if changed >= self.since.changed else self.since


def _newest(file: SqliteFile, table: SessionTable) -> list[tuple[str, float, int]]:
    """Each session of a table with its newest change and its highest row."""
    needed = [table.session, table.changed] if table.changed else [table.session]
    present = file.columns(table.name)
    if not present and not table.changed:
        return []
    if not set(needed) <= set(present):
        raise UnreadableSource(f"it has no table {table.name} with {' and '.join(needed)}")
    # The plus keeps SQLite from going through an index, which would
    # fetch the rows in a costly order.
    rows = file.all(
        f"""
        select {table.session}, max({table.changed or 0}), max(rowid)
          from {table.name}
         group by +{table.session}
        """
    )
    found = []
    for session, changed, row in rows:
        if isinstance(session, str):
            at = changed if isinstance(changed, (int, float)) else moment_of(changed) or 0
            found.append((session, at, row))
    return found


def _highest_ever(file: SqliteFile) -> dict[str, int]:
    """The highest number that a row of a table ever had, if SQLite counts; it may be gone."""
    if not file.columns("sqlite_sequence"):
        return {}
    counts = file.all("select name, seq from sqlite_sequence")
    return {name: row for name, row in counts if isinstance(row, int)}
