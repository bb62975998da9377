"""The file itself: who may read it, who is let in, and what is said when it cannot be used."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from recollect.errors import (
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    StoreTooOld,
    StoreUnwritable,
    UsageError,
)
from recollect.serve.cli import main
from recollect.store.sqlite import database
from recollect.store.sqlite.database import SCHEMA, Database
from recollect.store.sqlite.salvage.repair import repair
from tests.builders.homes import claude_log, memory, refs, small_talk

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows profiles are private already")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where a store is to be, in a folder that does not exist yet."""
    return str(tmp_path / "data" / "recollect.db")


@pytest.fixture
def other(path: str) -> Iterator[apsw.Connection]:
    """Somebody else's connection to the same, sound store."""
    Database(path).close()
    connection = apsw.Connection(path)
    yield connection
    connection.close()


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# Who may read it ----------------------------------------------------------------


@unix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_new_store_is_its_owners_alone(path: str, umask: int) -> None:
    """It holds what people told their agents; the files beside it hold the same."""
    before = os.umask(umask)
    try:
        db = Database(path)
        db.execute("insert into store_info values ('seen', 'yes')")
    finally:
        os.umask(before)

    modes = {
        name: mode(os.path.join(os.path.dirname(path), name))
        for name in os.listdir(os.path.dirname(path))
    }
    db.close()

    assert mode(os.path.dirname(path)) == 0o700
    assert modes == {"recollect.db": 0o600, "recollect.db-wal": 0o600, "recollect.db-shm": 0o600}


@unix
def test_a_folder_that_is_already_there_keeps_its_permissions(tmp_path: Path) -> None:
    """`--store` may point into a folder that is shared for a reason."""
    tmp_path.chmod(0o755)

    Database(str(tmp_path / "recollect.db")).close()

    assert (mode(str(tmp_path)), mode(str(tmp_path / "recollect.db"))) == (0o755, 0o600)


# What it is set to ----------------------------------------------------------------


def test_every_connection_is_set_up_with_care(path: str) -> None:
    """Readers do not wait for writers, a power cut loses nothing that was
    committed, and a schema is not trusted.
    """
    with_care = {"trusted_schema": 0, "foreign_keys": 1, "journal_mode": "wal", "synchronous": 2}

    for _ in range(2):
        db = Database(path)
        found = {name: db.value(f"pragma {name}") for name in with_care}
        db.close()

        assert found == with_care


def test_a_schema_somebody_tampered_with_cannot_act(path: str, other: apsw.Connection) -> None:
    """A view that calls a function with side effects is refused instead of run."""
    other.create_scalar_function("harm", lambda: 1, 0)
    other.execute("create view trap as select harm() as harmed")
    db = Database(path)
    called = []
    db.connection.create_scalar_function("harm", lambda: called.append(1), 0)

    with pytest.raises(StoreError):
        db.rows("select * from trap")
    db.close()

    assert called == []


def test_a_name_that_is_not_text_is_refused_in_words(path: str) -> None:
    """A folder's name may be any bytes, and somebody may type one."""
    db = Database(path)

    with pytest.raises(UsageError, match="not text"):
        db.value("select 1 from projects where key = ?", ("shop\udcff",))
    db.close()


# Who is let in ----------------------------------------------------------------------


def test_a_store_that_is_not_there_is_made_only_when_asked(path: str) -> None:
    with pytest.raises(NotFound) as missing:
        Database(path, create=False)

    assert missing.value.hint == "Try: recollect import"
    assert not os.path.exists(os.path.dirname(path))


def test_the_store_of_a_later_recollect_is_left_alone(
    path: str, other: apsw.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    other.execute(f"pragma user_version = {SCHEMA + 1}")
    other.execute("pragma wal_checkpoint(truncate)")
    before = Path(path).read_bytes()

    with pytest.raises(StoreTooNew) as refused:
        Database(path)
    code = main(["sessions", "--store", path])

    assert (refused.value.path, refused.value.found, refused.value.known) == (
        path,
        SCHEMA + 1,
        SCHEMA,
    )
    assert (code, capsys.readouterr().err) == (
        65,
        f"error: {path} was written by a newer recollect "
        f"(schema {SCHEMA + 1}, this one knows {SCHEMA}).\n"
        "  Upgrade recollect, or choose another file with --store.\n",
    )
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"not a database, just words\n" * 100, b"\x89PNG\r\n\x1a\n" + bytes(5000)],
    ids=["words", "picture"],
)
def test_what_is_no_database_is_said_to_be_damaged(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "recollect.db"
    path.write_bytes(content)

    with pytest.raises(StoreDamaged):
        Database(str(path))
    code = main(["import", "--store", str(path)])

    told = capsys.readouterr().err
    assert code == 65
    assert f"{path} is damaged" in told
    assert "recollect doctor --repair" in told
    assert path.read_bytes() == content


def test_a_store_with_a_hole_in_it_is_said_to_be_damaged(home: Path) -> None:
    claude_log(home, small_talk(turns=60, words="lorem ipsum " * 40))
    with memory(home) as mind:
        mind.import_logs()
        path = Path(mind.settings.store)
    db = Database(str(path))
    page, size = (
        db.value("select rootpage from sqlite_schema where name = 'bodies'"),
        db.value("pragma page_size"),
    )
    db.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(os.urandom(size))

    db = Database(str(path))
    with pytest.raises(StoreDamaged):
        db.rows(
            "select * from turns join bodies on bodies.turn = turns.id join tool_calls on "
            "tool_calls.turn = turns.id"
        )
    db.close()


@unix
def test_a_store_that_cannot_be_made_is_said_to_be_unwritable() -> None:
    with pytest.raises(StoreUnwritable) as failure:
        Database("/dev/null/data/recollect.db")

    assert (failure.value.exit_code, str(failure.value)) == (
        74,
        "Cannot write /dev/null/data/recollect.db: Not a directory.",
    )


def test_a_store_of_an_early_version_says_how_to_make_a_new_one(
    path: str, other: apsw.Connection
) -> None:
    """Nothing was released before this schema, so such a store is imported again and not
    migrated. It is known by the names of what it was made by: the numbers were given again.
    """
    other.execute("update migrations set name = 'capture' where number = 1")

    for open_store in (Database, lambda path: Database(path, read_only=True), repair):
        with pytest.raises(StoreTooOld) as failure:
            open_store(path)
        assert (
            failure.value.hint
            == f"Move it away (`mv {path} {path}.old`), then run `recollect import` to read the "
            "logs again."
        )


def test_an_older_store_is_not_migrated_by_a_reader(
    path: str, other: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SCHEMA", SCHEMA + 1)

    with pytest.raises(StoreError, match=f"older recollect .schema {SCHEMA}"):
        Database(path, read_only=True)


def test_a_reader_cannot_write(path: str, other: apsw.Connection) -> None:
    db = Database(path, read_only=True)

    with pytest.raises(StoreUnwritable):
        db.execute("insert into store_info values ('a', 'b')")
    db.close()


# Taking turns -----------------------------------------------------------------------


def test_a_transaction_is_kept_whole_or_not_at_all(path: str) -> None:
    db = Database(path)

    def note(name: str, then: Callable[[], object]) -> None:
        with db.transaction():
            db.execute("insert into store_info values (?, '1')", (name,))
            then()

    note("kept", lambda: None)
    with pytest.raises(ZeroDivisionError):
        note("lost", lambda: 1 / 0)
    with pytest.raises(StoreError):
        note("lost too", lambda: db.execute("insert into nowhere values (1)"))

    assert db.rows("select name from store_info where name in ('kept', 'lost', 'lost too')") == [
        ("kept",)
    ]
    db.close()


def test_a_transaction_inside_another_is_a_part_of_it(path: str) -> None:
    """What is kept by several functions, each of which keeps something
    whole, can be kept whole together.
    """
    db = Database(path)

    def note(*names: str, then: Callable[[], object] = lambda: None) -> None:
        with db.transaction():
            for name in names:
                with db.transaction():
                    db.execute("insert into store_info values (?, '1')", (name,))
            then()

    note("one", "two")
    with pytest.raises(ZeroDivisionError):
        note("three", "four", then=lambda: 1 / 0)
    with pytest.raises(StoreError):
        note("five", "one")

    assert db.rows("select name from store_info where value = '1' order by name") == [
        ("one",),
        ("two",),
    ]
    db.close()


def test_a_store_that_stays_busy_is_given_up_after_a_while(
    path: str, other: apsw.Connection
) -> None:
    other.execute("begin immediate")
    db = Database(path, patience_seconds=0.3)
    started = time.monotonic()

    with pytest.raises(StoreBusy) as busy, db.transaction():
        pytest.fail("the lock is somebody else's")
    waited = time.monotonic() - started
    other.execute("rollback")
    with db.transaction():
        db.execute("insert into store_info values ('later', '1')")
    db.close()

    assert 0.25 < waited < 3
    assert (busy.value.exit_code, busy.value.hint) == (
        69,
        "Another recollect is writing. Try again when it is done.",
    )


def test_a_writer_waits_for_the_one_before(path: str, other: apsw.Connection) -> None:
    other.execute("begin immediate")
    db = Database(path, patience_seconds=5)
    # The other connection is used by one thread at a time: this one hands it over.
    release = threading.Timer(0.3, lambda: other.execute("commit"))
    release.start()

    with db.transaction():
        db.execute("insert into store_info values ('after', '1')")
    release.join()

    assert db.value("select value from store_info where name = 'after'") == "1"
    db.close()


def test_readers_never_wait(home: Path) -> None:
    """Somebody imports for minutes; a search takes milliseconds all the same."""
    claude_log(home, small_talk())
    with memory(home) as mind:
        mind.import_logs()
        writer = apsw.Connection(mind.settings.store)
        writer.execute("begin immediate; delete from turns_text; delete from problems")
    started = time.monotonic()

    with memory(home) as mind:
        found = refs(mind, "question")
    took = time.monotonic() - started
    writer.execute("rollback")
    writer.close()

    assert len(found) == 2
    assert took < 2
