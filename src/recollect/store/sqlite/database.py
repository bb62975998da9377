"""One SQLite file: opened carefully, locked briefly, and every fault in our words.

Readers never wait for writers (WAL). Writers queue up: `transaction` takes the
write lock at once, so that nothing is read that another writer may still
change, and waits with jitter when many want it.

This module is on the path of a cold search: it imports apsw and nothing heavy.
"""

from __future__ import annotations

import os
import time

import apsw

from recollect.errors import (
    NotFound,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    StoreTooOld,
    StoreUnwritable,
    UsageError,
)
from recollect.store.sqlite.opening import may_write, open_shared, open_to_read
from recollect.system import platforms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any

    Row = tuple[Any, ...]

# Every migration by its number; a test compares them with the folder.
MIGRATIONS = {
    1: "archive",
    2: "search",
    3: "vectors",
    4: "trust",
    5: "jobs",
    6: "digests",
    7: "notes",
    8: "hooks",
    9: "episodes",
    10: "retention",
    11: "engines",
    12: "publications",
    13: "team",
}
# The newest one.
SCHEMA = max(MIGRATIONS)
# "reco", in the header of every store of ours.
APPLICATION_ID = 0x7265636F
BUSY_TIMEOUT_MS = 5_000
PATIENCE_SECONDS = 120.0
# What SQLite refuses; what cannot be given to it, a name that is not text; and what
# cannot be had from it, a stored text that is none any more.
_FAULTS = (apsw.Error, UnicodeError)


class Database:
    """A connection whose errors are ours. Not shared between threads."""

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        read_only: bool = False,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self.path, self.patience_seconds = path, patience_seconds
        # Turns that answers had to leave out because what is stored of them is damaged.
        self.left_out: dict[str, None] = {}
        if path != ":memory:" and not os.path.exists(path):
            if not create or read_only:
                raise NotFound("Nothing is imported yet.", hint="Try: recollect import")
            _prepare(path)
        self.read_only = read_only
        # Why it is only read although this user may write.
        self._refusal = ""
        try:
            found, ours = self._open()
        except apsw.Error as error:
            raise self.explain(error) from error
        if not ours:
            self.connection.close()
            raise StoreError(
                f"{path} is the database of another program.",
                hint="Choose another file with --store.",
            )
        if found:
            self._check_schema(found)
        if found < SCHEMA:
            if self._refusal:
                self.connection.close()
                raise StoreUnwritable(path, self._refusal)
            if self.read_only:
                raise StoreError(
                    f"{path} was written by an older recollect (schema {found}).",
                    hint="Bring it up to date: recollect import",
                )
            from recollect.store.sqlite.migrate import migrate

            migrate(self)

    def _open(self) -> tuple[int, bool]:
        """Open the file to write, or to read where writing cannot be."""
        stored = self.path != ":memory:" and os.path.getsize(self.path) > 0
        if not stored or may_write(self.path):
            try:
                return self._begin(open_shared(self.path, read_only=self.read_only))
            except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as error:
                # A full disk has no room even for the file that readers share with writers.
                if not stored:
                    raise
                self._refusal = str(error)
        self.read_only = True
        return self._begin(open_to_read(self.path))

    def _begin(self, connection: apsw.Connection) -> tuple[int, bool]:
        """Look at the file and set it up.

        While others make the same store, SQLite may not wait for them but refuse.
        """
        self.connection = connection
        connection.set_busy_timeout(min(BUSY_TIMEOUT_MS, int(self.patience_seconds * 1000)))
        for wait_seconds in _waits(self.patience_seconds):
            try:
                found, ours = self._recognise()
                if ours:
                    self._configure()
                return found, ours
            except apsw.BusyError:
                time.sleep(wait_seconds)
        raise StoreBusy(self.path, self.patience_seconds)

    def _recognise(self) -> tuple[int, bool]:
        """The version of the file, and whether it is new or carries our mark.

        Anything else is left untouched.

        In one statement: another process may be making the store right now.
        """
        row = self.connection.execute(
            """
            select (select user_version from pragma_user_version),
                   (select application_id from pragma_application_id),
                   (select count(*) from sqlite_schema)
            """
        ).fetchone()
        version, application, objects = row or (0, 0, 0)
        return version, application == APPLICATION_ID or objects == 0

    def _check_schema(self, found: int) -> None:
        """Refuse a store that was made with other migrations than ours."""
        try:
            recorded = self.connection.execute(
                "select number, name from migrations order by number"
            ).fetchall()
        except apsw.SQLError:
            recorded = []
        except apsw.Error:
            # Damaged: `check` and `repair` look at it, and everything else says so in time.
            return
        ours = list(MIGRATIONS.items())
        if found > SCHEMA and recorded[: len(ours)] == ours:
            self.connection.close()
            raise StoreTooNew(self.path, found=found, known=SCHEMA)
        if recorded != [(number, name) for number, name in ours if number <= found]:
            self.connection.close()
            raise StoreTooOld(self.path)

    def _configure(self) -> None:
        # The schema may hold what somebody else put there: it may not call
        # functions with side effects.
        self.connection.execute("pragma trusted_schema = off")
        # Only a new file takes it: half as many pages to write for the same text.
        self.connection.execute("pragma page_size = 8192")
        self.connection.execute("pragma foreign_keys = on")
        self.connection.execute("pragma cache_size = -40960")
        self.connection.execute("pragma temp_store = memory")
        if not self.read_only:
            mode = self.connection.execute("pragma journal_mode").fetchone()
            if mode != ("wal",):
                self.connection.execute("pragma journal_mode = wal")
            self.connection.execute("pragma synchronous = full")
            # Pages that several batches of a first import change are copied into the file once.
            self.connection.execute("pragma wal_autocheckpoint = 4096")

    def version(self) -> int:
        """The number of the last migration applied to this file."""
        return int(self.value("pragma user_version") or 0)

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        self.connection.close()

    def execute(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> apsw.Cursor:
        """Run one statement that changes something; what is asked for comes by `each` or `rows`."""
        try:
            return self.connection.execute(sql, values)
        except _FAULTS as error:
            raise self.explain(error) from error

    def each(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Iterator[Row]:
        """The rows of a query one after the other, for more than fit in memory."""
        try:
            yield from self.connection.execute(sql, values)
        except _FAULTS as error:
            raise self.explain(error) from error

    def rows(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Every row of a query."""
        try:
            return self.connection.execute(sql, values).fetchall()
        except _FAULTS as error:
            raise self.explain(error) from error

    def row(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Row | None:
        """The first row of a query, or None."""
        try:
            return self.connection.execute(sql, values).fetchone()
        except _FAULTS as error:
            raise self.explain(error) from error

    def value(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """The first value of the first row, or None."""
        row = self.row(sql, values)
        return row[0] if row else None

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        try:
            self.connection.executemany(sql, rows)
        except _FAULTS as error:
            raise self.explain(error) from error

    def transaction(self) -> Transaction:
        """All or nothing, alone: `with db.transaction(): ...`."""
        return Transaction(self)

    def explain(self, error: apsw.Error | UnicodeError) -> RecollectError:
        """An SQLite error as one of ours, with the next step in it."""
        text = str(error)
        if isinstance(error, UnicodeEncodeError):
            return UsageError(
                f"{ascii(error.object)[:80]} is not text, so it cannot be a name.",
                hint="Type the name in UTF-8.",
            )
        if isinstance(error, UnicodeError):
            return StoreDamaged(self.path, "a stored text is not UTF-8")
        if isinstance(error, (apsw.BusyError, apsw.LockedError)):
            return StoreBusy(self.path, BUSY_TIMEOUT_MS / 1000)
        if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
            return StoreDamaged(self.path, text)
        if isinstance(
            error,
            (
                apsw.FullError,
                apsw.IOError,
                apsw.ReadOnlyError,
                apsw.CantOpenError,
                apsw.PermissionsError,
            ),
        ):
            return StoreUnwritable(self.path, text)
        return StoreError(f"{self.path}: {text}", hint="Try: recollect doctor")


class Transaction:
    """Holds the write lock from its first statement on.

    Rolls back on any exception. Inside another one it is a part of that.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        self._is_part = False

    def __enter__(self) -> Transaction:
        self._is_part = self.db.connection.in_transaction
        if self._is_part:
            return self
        for wait_seconds in _waits(self.db.patience_seconds):
            try:
                self.db.connection.execute("begin immediate")
                return self
            except apsw.BusyError:
                time.sleep(wait_seconds)
            except apsw.Error as error:
                raise self.db.explain(error) from error
        raise StoreBusy(self.db.path, self.db.patience_seconds)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_part:
            return
        connection = self.db.connection
        if kind is None:
            try:
                connection.execute("commit")
                return
            except apsw.Error as failure:
                _roll_back(connection)
                raise self.db.explain(failure) from failure
        _roll_back(connection)


def _roll_back(connection: apsw.Connection) -> None:
    # A full disk or a failed commit may have ended the transaction already.
    if not connection.get_autocommit():
        connection.execute("rollback")


def _waits(patience_seconds: float) -> Iterator[float]:
    """Pauses between tries, with jitter so that many waiters do not move in step."""
    end = time.monotonic() + patience_seconds
    yield 0.0
    while time.monotonic() < end:
        yield 0.01 + (os.getpid() * 2654435761 + time.monotonic_ns()) % 1000 / 20_000


def _prepare(path: str) -> None:
    """The folder and an empty file, private from their first moment."""
    try:
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            platforms.private_folder(folder)
        platforms.private_file(path)
    except OSError as error:
        raise StoreUnwritable(
            path, os.strerror(error.errno) if error.errno else str(error)
        ) from error
