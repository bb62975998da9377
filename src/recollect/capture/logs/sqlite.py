"""A SQLite file that belongs to another program, which may be writing to it.

It is read where it is, with what still stands in its write-ahead log, and
never copied: such files reach gigabytes and hold their owner's login tokens.
It is never locked either. A database whose owner keeps it open in WAL mode is
opened read-only, where readers and the writer do not wait for each other. Any
other is read without locks and without leaving a file beside it; that no one
wrote to it meanwhile is seen from its size and time, and if someone did, the
statement is run again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import apsw

from recollect.capture.logs.lines import UnreadableSource, open_log

MAGIC = b"SQLite format 3\x00"
_TRIES = 5
_BUSY_MS = 2_000
_WAL_VERSION = b"\x02"
_UNLOCKED = "win32-none" if sys.platform == "win32" else "unix-none"

Row = tuple[Any, ...]
_Stamp = tuple[object, ...]


def sqlite_companions(path: str) -> tuple[str, ...]:
    """What SQLite may keep beside a database, for a source to name as its companions."""
    return (f"{path}-wal",)


@contextmanager
def open_sqlite(path: str) -> Iterator[SqliteFile]:
    """A database; `UnreadableSource` when it is none, is damaged or cannot be had now."""
    file = SqliteFile(path)
    try:
        yield file
    finally:
        file.close()


class SqliteFile:
    """A database of another program, for reading.

    Every statement stands alone: what two of them tell may be from before
    and after a write. Ask for little at a time, because an answer is held in
    memory whole.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection: apsw.Connection | None = None
        self._open()

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def all(self, sql: str, values: Iterable[Any] | dict[str, Any] = ()) -> list[Row]:
        """Every row of a statement."""
        bound = values if isinstance(values, dict) else tuple(values)
        for _ in range(_TRIES):
            try:
                found = list(self._ready().execute(sql, bound))
            # Text that is none: what SQLite holds, nobody has checked.
            except (apsw.Error, UnicodeDecodeError) as error:
                if self._is_still():
                    raise UnreadableSource(f"not a sound SQLite file: {error}"[:300]) from error
            else:
                if self._is_still():
                    return found
            self.close()
            self._open()
        raise UnreadableSource("it is being written to all the time")

    def one(self, sql: str, values: Iterable[Any] | dict[str, Any] = ()) -> Row | None:
        """The first row of a statement."""
        return next(iter(self.all(sql, values)), None)

    def columns(self, table: str) -> list[str]:
        """The columns of a table as it is in this version; none when there is no such table."""
        return [name for (name,) in self.all("select name from pragma_table_info(?)", (table,))]

    def selected(self, table: str, *wanted: str) -> str:
        """Columns for a select.

        They came one by one, with migrations: what a table does not have yet is null.
        """
        present = self.columns(table)
        return ", ".join(name if name in present else "null" for name in wanted)

    def _ready(self) -> apsw.Connection:
        if self._connection is None:
            self._open()
        assert self._connection is not None
        return self._connection

    def _open(self) -> None:
        header = _header(self.path)
        if not header.startswith(MAGIC):
            raise UnreadableSource("not a SQLite file" if header else "empty")
        # Its owner has it open: only then there is an index of the write-ahead log.
        self._shared = header[18:19] == _WAL_VERSION and os.path.exists(f"{self.path}-shm")
        if not self._shared and _size(f"{self.path}-journal"):
            raise UnreadableSource("its owner is in the middle of a write")
        self._stamp = self._look()
        if self._shared:
            way = ""
        elif _size(f"{self.path}-wal"):
            way = f"&vfs={_UNLOCKED}"
        else:
            # A write-ahead log that is not there would be made if somebody might write.
            way = "&immutable=1"
        uri = "file:" + quote(os.path.abspath(self.path).replace("\\", "/")) + "?mode=ro" + way
        try:
            self._connection = apsw.Connection(
                uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
            self._connection.set_busy_timeout(_BUSY_MS)
            if not self._shared:
                # The index of the write-ahead log is then made in memory, not in a file beside it.
                self._connection.pragma("locking_mode", "exclusive")
            self._connection.pragma("trusted_schema", False)
        except apsw.Error as error:
            self.close()
            raise UnreadableSource(f"not a sound SQLite file: {error}"[:300]) from error

    def _is_still(self) -> bool:
        return self._shared or self._look() == self._stamp

    def _look(self) -> _Stamp:
        # Times are coarse; the header has a counter that every write to the file itself moves on.
        counter = _header(self.path)[24:28]
        files = (self.path, f"{self.path}-wal", f"{self.path}-journal")
        return counter, *map(_size_and_time, files)


def tables_in(path: str) -> dict[str, frozenset[str]]:
    """The tables of a database with their columns; none when it cannot be read."""
    try:
        with open_sqlite(path) as file:
            found: dict[str, set[str]] = {}
            for table, column in file.all(
                """
                select m.name, c.name
                  from sqlite_schema m
                  join pragma_table_info(m.name) c
                 where m.type = 'table'
                """
            ):
                found.setdefault(table, set()).add(column)
    except UnreadableSource:
        return {}
    return {table: frozenset(columns) for table, columns in found.items()}


def _header(path: str) -> bytes:
    descriptor = open_log(path)
    try:
        return os.read(descriptor, 100)
    except OSError as error:
        raise UnreadableSource(str(error)) from error
    finally:
        os.close(descriptor)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _size_and_time(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
