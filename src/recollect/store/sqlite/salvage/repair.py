"""Makes a sound store out of a damaged one, and says what is missing.

The damaged file is only read, and in the end renamed: it stays beside the new
one for whoever wants to try more. Its pages are read by ourselves (see `pages`),
so that one bad page costs the rows on it and no others. What was on it is told
again where it is written twice: a session's name and a turn's number are in
their indexes too, and a turn's tool calls and leads are in its body.

The text index is made anew, and the vectors are left to the next `recollect
work`. Sources whose sessions lost something are to be read again from their
start; where it cannot be told which those are, all of them. That is always
safe: turns are found again by their native key.
"""

from __future__ import annotations

import os
import time

import apsw

from recollect.errors import (
    NotFound,
    StoreBusy,
    StoreError,
    StoreTooNew,
    StoreTooOld,
    StoreUnwritable,
)
from recollect.model.reports import RepairReport
from recollect.store import bodies
from recollect.store.sqlite import values
from recollect.store.sqlite.database import MIGRATIONS, SCHEMA, Database
from recollect.store.sqlite.digests import Digests
from recollect.store.sqlite.doctor import Doctor
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.salvage.pages import PageFile
from recollect.store.sqlite.salvage.rescue import Rescue
from recollect.store.sqlite.search.text_index import (
    TextIndex,
)
from recollect.store.sqlite.upkeep import Upkeep
from recollect.store.sqlite.vectors.stored import Vectors
from recollect.system import platforms


def repair(path: str, *, rebuild: bool = False) -> RepairReport:
    """Put a sound store in the place of a damaged one.

    A sound store is left alone, except that its text index is made again when that is asked for
    or called for, and its vectors and digests when they cannot be read. Nobody else should use the
    store meanwhile; whoever has it open goes on with the damaged file.
    """
    if not os.path.exists(path):
        raise NotFound("Nothing is imported yet.", hint="Try: recollect import")
    faults = _faults(path)
    if not faults:
        return _keep(path, rebuild)
    try:
        with PageFile(path) as file:
            _check_version(path, file.user_version or SCHEMA)
            salvage = Rescue(path, file)
            try:
                report = salvage.run()
            except apsw.Error as error:
                raise salvage.db.explain(error) from error
            finally:
                salvage.close()
            report.notes = [*faults[:5], *report.notes]
            report.damaged_copy = _exchange(path, salvage.path, file)
    except OSError as error:
        raise StoreUnwritable(
            path, os.strerror(error.errno) if error.errno else str(error)
        ) from error
    return report


def _check_version(path: str, found: int) -> None:
    if found > SCHEMA:
        raise StoreTooNew(path, found=found, known=SCHEMA)
    if found not in MIGRATIONS:
        raise StoreTooOld(path)


def _faults(path: str) -> list[str]:
    """What is wrong with a store, found without writing to it; empty when it is sound."""
    connection = None
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(5_000)
        row = connection.execute("pragma user_version").fetchone()
        _check_version(path, row[0] if row and row[0] else SCHEMA)
        names = {name for (name,) in connection.execute("select name from sqlite_schema")}
        told = [
            line
            for (text,) in connection.execute("pragma integrity_check(20)")
            for line in str(text).splitlines()
        ]
        faults = [line for line in told if line != "ok" and not line.startswith("***")]
        if names and not faults and not {"sessions", "turns", "bodies"} & names:
            raise StoreError(
                f"{path} is the database of another program.",
                hint="Choose another file with --store.",
            )
        # The text index is looked at later: it can be made again in place.
        faults = [fault for fault in faults if "FTS5 table main.turns_text" not in fault]
        if not names or faults:
            return faults
        faults = [
            f"a row of {row[0]} has no target"
            for row in connection.execute("pragma foreign_key_check")
        ][:5]
        wrong = 0
        for events, checksum in connection.execute("select events, checksum from bodies"):
            wrong += not isinstance(events, bytes) or bodies.checksum(events) != checksum
        faults += [f"{wrong} stored texts have changed since they were written"] if wrong else []
        return faults or _unreadable(path)
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(path, 5) from error
    except apsw.Error as error:
        return [str(error)]
    finally:
        if connection is not None:
            connection.close()


def _unreadable(path: str) -> list[str]:
    """What SQLite finds nothing wrong with and cannot be read all the same."""
    db = Database(path, create=False, read_only=True)
    try:
        found = values.find_unreadable(db)
    finally:
        db.close()
    return [f"{count} rows of {table} cannot be read" for table, count in found.items()]


def _keep(path: str, rebuild: bool) -> RepairReport:
    db = Database(path, create=False)
    try:
        report = RepairReport(path=path, sound=True)
        findings = [one for one in Doctor(db).examine().findings if not one.ok]
        unwell = [one for one in findings if one.name.startswith("text index")]
        if rebuild or unwell:
            report.notes = [f"{one.name}: {one.detail}" for one in unwell]
            TextIndex(db).rebuild()
            Upkeep(db).optimize()
            report.text_rebuilt = True
        for one in findings:
            if one.name == "vectors":
                with db.transaction():
                    Vectors(db).drop()
                    Jobs(db).mark("turns to embed")
                report.notes.append(f"vectors: {one.detail}; all are made again")
        with db.transaction():
            dropped = Digests(db).drop_unreadable()
        if dropped:
            report.notes.append(f"{dropped} digests could not be read; they are made again")
        return report
    finally:
        db.close()


def _exchange(path: str, made: str, file: PageFile) -> str:
    """Put the new store in the place of the damaged one, which keeps another name.

    Whoever dies in between leaves one of the two in its place, and whole: what only the
    write-ahead log holds is in the damaged file before the log goes.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kept, number = f"{path}.damaged-{stamp}", 1
    while os.path.exists(kept):
        number += 1
        kept = f"{path}.damaged-{stamp}-{number}"
    _give_name(path, kept)
    if os.path.exists(path + "-wal"):
        _give_name(path + "-wal", kept + "-wal")
        _fold_log(path, file)
    for end in ("-wal", "-shm"):
        # The log would be taken for the new file's own.
        if os.path.exists(path + end):
            os.unlink(path + end)
    os.replace(made, path)
    return kept


def _give_name(path: str, other: str) -> None:
    """Another name for a file, or a copy where files cannot have two."""
    try:
        os.link(path, other)
    except OSError:
        import shutil

        shutil.copyfile(path, other)


def _fold_log(path: str, file: PageFile) -> None:
    """The same file with the pages of its write-ahead log in it."""
    if not file.newer:
        return
    with (
        platforms.PartialFile(path) as partial,
        open(partial, "r+b") as folded,
        open(path, "rb") as damaged,
    ):
        while block := damaged.read(1 << 20):
            folded.write(block)
        for number, data in sorted(file.newer.items()):
            folded.seek((number - 1) * file.page_size)
            folded.write(data)
        folded.flush()
        os.fsync(folded.fileno())
