"""Brings a store up to date, one numbered file at a time.

Each migration is applied together with its version in one transaction, after
a backup of the file as it was. A released migration is never edited: the store
outlives the logs it came from, so we add and move, never rebuild.
"""

from __future__ import annotations

import os
import re
import time
from importlib.resources import files

import apsw

from recollect.errors import StoreUnwritable
from recollect.system import platforms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.database import Database

BACKUPS_KEPT = 2


def migrations() -> list[tuple[int, str, str]]:
    """Every migration as (number, name, SQL), in order."""
    found = []
    for entry in files("recollect.store.sqlite").joinpath("migrations").iterdir():
        match = re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name)
        if match:
            found.append((int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return sorted(found)


def migrate(db: Database, steps: list[tuple[int, str, str]] | None = None) -> None:
    """Apply what is missing; safe to be called by many processes at once.

    A new store gets its whole schema or none of it, so that a full disk leaves
    nothing that would be taken for a store of an early version.
    """
    steps = migrations() if steps is None else steps
    if db.version() == 0:
        with db.transaction():
            _bring_up_to_date(db, steps)
    else:
        _bring_up_to_date(db, steps)


def _bring_up_to_date(db: Database, steps: list[tuple[int, str, str]]) -> None:
    backed_up = False
    for number, name, sql in steps:
        with db.transaction():
            # Another process may have been faster while we waited for the lock.
            if db.version() < number:
                if db.version() > 0 and not backed_up:
                    # Under the lock: nobody changes the store, nor makes the same copy, meanwhile.
                    back_up_before(db)
                backed_up = True
                _apply(db, number, name, sql)


def _apply(db: Database, number: int, name: str, sql: str) -> None:
    db.execute(
        "create table if not exists migrations (number integer primary key, name text not null, "
        "applied_at integer not null)"
    )
    db.execute(sql)
    db.execute(
        "insert into migrations values (?, ?, ?)", (number, name, time.time_ns() // 1_000_000)
    )
    db.execute(f"pragma user_version = {number:d}")


def back_up_before(db: Database) -> str:
    """Copy the store as it is now beside it; older copies than the last two go."""
    path = f"{db.path}.before-{db.version() + 1:04d}"
    # Through a reader: a connection that holds the write lock cannot be copied from.
    reader = apsw.Connection(db.path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        copy_to(reader, path)
    except (OSError, apsw.Error) as error:
        raise StoreUnwritable(path, str(error)) from error
    finally:
        reader.close()
    for old in backups(db.path)[:-BACKUPS_KEPT]:
        os.unlink(old)
    return path


def backups(path: str) -> list[str]:
    """The copies that migrations left beside a store, oldest first."""
    folder, name = os.path.split(path)
    return sorted(
        os.path.join(folder, entry)
        for entry in os.listdir(folder or ".")
        if re.fullmatch(re.escape(name) + r"\.before-\d{4}", entry)
    )


def copy_to(connection: apsw.Connection, path: str) -> None:
    """An online copy: readers and writers go on meanwhile, and the copy is sound."""
    with platforms.PartialFile(path) as partial:
        target = apsw.Connection(partial)
        try:
            with target.backup("main", connection, "main") as backup:
                while not backup.done:
                    backup.step(4096)
        finally:
            target.close()
