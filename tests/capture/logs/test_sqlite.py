"""Databases of other programs are read where they are, without getting in anybody's way."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.sqlite import open_sqlite, sqlite_companions, tables_in

TABLE = "create table talk (id integer primary key, text text)"


def database(path: Path, *texts: str, wal: bool = False) -> apsw.Connection:
    """A program's database, still open."""
    owner = apsw.Connection(str(path))
    owner.set_busy_timeout(0)
    if wal:
        owner.pragma("journal_mode", "wal")
    owner.execute(TABLE)
    say(owner, *texts)
    return owner


def say(owner: apsw.Connection, *texts: str) -> None:
    for text in texts:
        owner.execute("insert into talk (text) values (?)", (text,))


def heard(path: Path) -> list[str]:
    with open_sqlite(str(path)) as rows:
        return [text for (text,) in rows.all("select text from talk order by id")]


def left_behind(path: Path) -> Path:
    """A copy as a program leaves it that was killed: rows in the log, and no index of that."""
    owner = database(path, "one", "two", wal=True)
    copy = path.parent / "killed" / path.name
    copy.parent.mkdir()
    for suffix in ("", "-wal"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    owner.close()
    return copy


def test_a_file_that_ends_in_its_header_is_no_sound_database(tmp_path: Path) -> None:
    """A disk was full, or a copy was cut off."""
    path = tmp_path / "a.db"
    path.write_bytes(b"SQLite format 3\x00")

    with pytest.raises(UnreadableSource), open_sqlite(str(path)) as rows:
        rows.all("select 1 from sqlite_schema")
    assert tables_in(str(path)) == {}


@pytest.mark.parametrize("wal", [True, False])
def test_what_the_owner_has_committed_is_seen_while_it_goes_on(tmp_path: Path, wal: bool) -> None:
    path = tmp_path / "a.db"
    owner = database(path, "one", wal=wal)

    assert heard(path) == ["one"]
    say(owner, "two")

    assert heard(path) == ["one", "two"]


@pytest.mark.parametrize("wal", [True, False])
def test_the_owner_never_waits_for_us(tmp_path: Path, wal: bool) -> None:
    """An editor whose database is locked loses what its user did.

    Its own patience here is none at all.
    """
    path = tmp_path / "a.db"
    owner = database(path, "one", wal=wal)

    with open_sqlite(str(path)) as rows:
        assert rows.all("select text from talk") == [("one",)]
        say(owner, "two")
        assert rows.all("select text from talk order by id") == [("one",), ("two",)]
        owner.execute("drop table talk")

    assert not owner.execute("select * from sqlite_schema where name = 'talk'").fetchall()


def test_a_write_that_is_under_way_is_not_waited_for_and_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    owner = database(path, "one", wal=True)
    owner.execute("begin immediate")
    say(owner, "two")

    assert heard(path) == ["one"]


def test_half_a_write_is_not_read(tmp_path: Path) -> None:
    """Without a write-ahead log the file itself is half old and
    half new until the journal is gone.
    """
    path = tmp_path / "a.db"
    database(path, "one").close()
    Path(f"{path}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")

    with pytest.raises(UnreadableSource, match="middle of a write"):
        heard(path)


def test_what_a_killed_program_left_in_its_log_is_read_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    path = left_behind(tmp_path / "a.db")
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}

    assert heard(path) == ["one", "two"]

    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_closed_database_gets_no_files_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "alone" / "a.db"
    path.parent.mkdir()
    database(path, "one", wal=True).close()

    assert heard(path) == ["one"]

    assert os.listdir(path.parent) == ["a.db"]


def test_it_cannot_be_written_to(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database(path, "one").close()

    with open_sqlite(str(path)) as rows, pytest.raises(UnreadableSource, match="readonly"):
        rows.all("delete from talk")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"{}", "not a SQLite file"),
        (b"SQLite format 3\x00" + b"\xff" * 500, "not a sound SQLite file"),
    ],
)
def test_what_is_no_database_is_called_unreadable(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)

    with pytest.raises(UnreadableSource, match=reason):
        heard(path)
    assert tables_in(str(path)) == {}


def test_a_damaged_page_is_called_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database(path, *("word " * 400 for _ in range(50))).close()
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xee" * 4096
    path.write_bytes(data)

    with pytest.raises(UnreadableSource, match="not a sound SQLite file"):
        heard(path)


def test_a_missing_one_is_called_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="No such file"):
        heard(tmp_path / "none.db")


def test_tables_and_columns_are_told_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a b?#%.db"
    database(path, "one").close()

    with open_sqlite(str(path)) as rows:
        assert rows.columns("talk") == ["id", "text"]
        assert rows.columns("nothing") == []
        assert rows.selected("talk", "text", "later", "id") == "text, null, id"
        assert rows.one("select text from talk") == ("one",)
        assert rows.one("select text from talk where id = :id", {"id": 9}) is None
    assert tables_in(str(path)) == {"talk": frozenset({"id", "text"})}
    assert sqlite_companions(str(path)) == (f"{path}-wal",)
