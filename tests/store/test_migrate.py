"""A store is brought up to date in place: it outlives the logs it came from."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from recollect.errors import StoreError
from recollect.store.sqlite.database import MIGRATIONS, SCHEMA, Database
from recollect.store.sqlite.migrate import backups, migrate, migrations
from tests.builders.homes import claude_log, everything, memory, small_talk

ADDED = (
    SCHEMA + 1,
    "mood",
    "alter table turns add column mood text; create index turns_by_mood on turns (mood);",
)
AGAIN = (SCHEMA + 2, "mood_scale", "alter table turns add column mood_scale integer;")
BROKEN = (SCHEMA + 2, "broken", "create table half_done (a); insert into nowhere values (1);")


@pytest.fixture
def path(home: Path) -> str:
    """A store with rows in it, and with a table, an index and a view of the user's own."""
    claude_log(home, small_talk(turns=3))
    with memory(home) as mind:
        mind.import_logs()
        path = mind.settings.store
    connection = apsw.Connection(path)
    connection.execute(
        "create table my_marks (turn integer, mark text); insert into my_marks values (1, 'good')"
    )
    connection.execute(
        "create index my_index on turns (reply); create view my_view as select count(*) as n from "
        "turns"
    )
    connection.close()
    return path


@pytest.fixture
def db(path: str) -> Iterator[Database]:
    opened = Database(path)
    yield opened
    opened.close()


def schema(path: str) -> set[tuple[object, ...]]:
    connection = apsw.Connection(path)
    found = set(connection.execute("select type, name from sqlite_schema where sql is not null"))
    connection.close()
    return found


def value(path: str, sql: str) -> object:
    connection = apsw.Connection(path)
    try:
        return next(iter(connection.execute(sql)))[0]
    finally:
        connection.close()


def test_the_code_knows_every_migration() -> None:
    """A store is opened without looking at their files."""
    assert {number: name for number, name, _ in migrations()} == MIGRATIONS


def test_every_migration_says_why_first() -> None:
    for _, _, sql in migrations():
        assert sql.startswith("-- ")


def test_a_new_store_has_every_migration_on_record(tmp_path: Path) -> None:
    db = Database(str(tmp_path / "recollect.db"))

    assert (db.version(), db.rows("select number, name from migrations")) == (
        SCHEMA,
        [(n, name) for n, name, _ in migrations()],
    )
    assert backups(db.path) == []
    db.close()


def test_a_migration_keeps_what_is_there(home: Path, db: Database) -> None:
    """Ours and the user's own: rows, tables, indexes, views."""
    before = schema(db.path)
    with memory(home) as mind:
        known = everything(mind)

    migrate(db, [*migrations(), ADDED])

    assert db.version() == SCHEMA + 1
    assert db.rows("select number, name from migrations")[-1] == (SCHEMA + 1, "mood")
    assert before | {("index", "turns_by_mood")} == schema(db.path)
    assert db.rows("select turn, mark from my_marks") == [(1, "good")]
    assert db.value("select n from my_view") == 3
    db.execute(f"pragma user_version = {SCHEMA}")
    db.execute("delete from migrations where name = 'mood'")
    with memory(home) as mind:
        assert everything(mind) == known


def test_a_migration_is_applied_once(db: Database) -> None:
    for _ in range(3):
        migrate(db, [*migrations(), ADDED])

    assert db.value("select count(*) from migrations where name = 'mood'") == 1
    assert len(backups(db.path)) == 1


def test_a_copy_is_made_before_a_store_is_changed(db: Database) -> None:
    migrate(db, [*migrations(), ADDED])

    (copy,) = backups(db.path)
    assert copy == f"{db.path}.before-{SCHEMA + 1:04d}"
    assert value(copy, "pragma integrity_check") == "ok"
    assert value(copy, "pragma user_version") == SCHEMA
    assert value(copy, "select count(*) from turns") == 3
    assert ("index", "turns_by_mood") not in schema(copy)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows profiles are private already")
def test_the_copy_is_as_private_as_the_store(db: Database) -> None:
    before = os.umask(0)
    try:
        migrate(db, [*migrations(), ADDED])
    finally:
        os.umask(before)

    assert [stat.S_IMODE(os.stat(copy).st_mode) for copy in backups(db.path)] == [0o600]


def test_several_migrations_need_one_copy(db: Database) -> None:
    """Of the store as it was when we began."""
    migrate(db, [*migrations(), ADDED, AGAIN])

    assert db.version() == SCHEMA + 2
    assert backups(db.path) == [f"{db.path}.before-{SCHEMA + 1:04d}"]


def test_only_the_last_two_copies_are_kept(db: Database) -> None:
    for number in range(SCHEMA + 1, SCHEMA + 5):
        migrate(db, [(number, f"step{number}", f"create table step{number} (a)")])

    assert backups(db.path) == [
        f"{db.path}.before-{number:04d}" for number in (SCHEMA + 3, SCHEMA + 4)
    ]


def test_a_migration_that_fails_leaves_no_trace(db: Database) -> None:
    """Those before it stay, it can be tried again, and the store works as it did."""
    with pytest.raises(StoreError):
        migrate(db, [*migrations(), ADDED, BROKEN])

    assert db.version() == SCHEMA + 1
    assert ("table", "half_done") not in schema(db.path)
    assert db.value("select count(*) from migrations where name = 'broken'") == 0
    assert db.value("select count(*) from turns") == 3


def test_many_may_migrate_at_once(path: str) -> None:
    """Whoever is first does it; the copy is of the store before, and sound."""
    ready, failures = threading.Barrier(8), []

    def run() -> None:
        try:
            db = Database(path)
            ready.wait()
            migrate(db, [*migrations(), ADDED, AGAIN])
            db.close()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert value(path, "select count(*) from migrations") == len(MIGRATIONS) + 2
    copies = backups(path)
    assert [value(copy, "pragma integrity_check") for copy in copies] == ["ok"] * len(copies)
    assert value(copies[0], "pragma user_version") == SCHEMA
    assert not any(os.path.exists(copy + ".partial") for copy in copies)


def test_many_may_make_the_store_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "data" / "recollect.db")
    ready, failures = threading.Barrier(8), []

    def run() -> None:
        try:
            ready.wait()
            Database(path).close()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert value(path, "select count(*) from migrations") == len(MIGRATIONS)
