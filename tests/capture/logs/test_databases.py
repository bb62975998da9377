"""Sessions in somebody else's database: which of them are read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from recollect.capture.logs import databases
from recollect.capture.logs.databases import SessionTable, read_changed
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile
from recollect.model.logs import Checkpoint, Event, Item, Problem, Source


class Listener:
    """Says for each session what its words are."""

    tables: Sequence[SessionTable] = (
        SessionTable("talk", "id", "changed"),
        SessionTable("word", "talk", "changed"),
    )

    def __init__(self) -> None:
        self.read_bytes = 0
        self.problems = ProblemCounter("talks.db")

    def session(self, file: SqliteFile, session: str) -> list[Item]:
        said = file.all("select said from word where talk = ? order by rowid", (session,))
        words = [word for (word,) in said]
        self.read_bytes += sum(map(len, words))
        return [Event(session=session, turn="1", kind="reply", text=" ".join(words))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "talks.db"
    run(path, "create table talk (id text primary key, changed integer)")
    run(path, "create table word (talk text, said text, changed integer)")
    return path


def run(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


def say(path: Path, talk: str, word: str, changed: int) -> None:
    run(path, f"insert or ignore into talk values ('{talk}', {changed})")
    run(path, f"insert into word values ('{talk}', '{word}', {changed})")


def read(path: Path, since: Checkpoint | None = None) -> tuple[list[tuple[str, str]], Checkpoint]:
    """What each session says, in the order they were read, and where the pass ended."""
    *items, last = read_changed(Source("listener", str(path), appended=False), since, Listener())
    assert isinstance(last, Checkpoint)
    return [(item.session, item.text) for item in items if isinstance(item, Event)], last


def test_the_longest_unchanged_session_comes_first(path: Path) -> None:
    say(path, "b", "hello", 300)
    say(path, "a", "good", 100)
    say(path, "c", "yes", 200)

    assert read(path)[0] == [("a", "good"), ("c", "yes"), ("b", "hello")]


def test_a_session_with_a_new_row_is_read_whole_and_the_others_not_at_all(path: Path) -> None:
    say(path, "a", "good", 100)
    say(path, "b", "hello", 300)
    _, point = read(path)

    say(path, "a", "morning", 400)
    found, after = read(path, point)

    # The newest one is met again: it may have changed twice in the same moment.
    assert found == [("b", "hello"), ("a", "good morning")]
    assert after.position == point.position + len("hellogoodmorning")


def test_a_row_that_changed_in_place_is_noticed(path: Path) -> None:
    say(path, "a", "good", 100)
    say(path, "b", "hello", 300)
    _, point = read(path)

    run(path, "update word set said = 'bad', changed = 500 where talk = 'a'")

    assert ("a", "bad") in read(path, point)[0]


def test_a_row_that_was_brought_from_elsewhere_keeps_its_old_time_and_is_noticed(
    path: Path,
) -> None:
    """Importing a shared session, or a merge of two databases, writes new rows with old times."""
    say(path, "a", "good", 100)
    say(path, "b", "hello", 300)
    _, point = read(path)

    say(path, "c", "old", 50)

    assert read(path, point)[0] == [("c", "old"), ("b", "hello")]


def test_another_database_in_the_same_place_is_read_whole(path: Path) -> None:
    for number in range(5):
        say(path, "a", "good", 100 + number)
    _, point = read(path)

    run(path, "delete from word")
    run(path, "delete from talk")
    say(path, "z", "new", 90)

    assert read(path, point)[0] == [("z", "new")]


def test_the_newest_rows_being_gone_is_no_other_database_where_their_numbers_are_kept(
    tmp_path: Path,
) -> None:
    """Some agents delete what came after a prompt that is edited.

    The rest need not be read again for it.
    """
    path = tmp_path / "talks.db"
    run(path, "create table talk (id text primary key, changed integer)")
    run(
        path,
        "create table word (number integer primary key autoincrement, talk text, said text, "
        "changed integer)",
    )
    run(path, "insert into talk values ('a', 100), ('b', 300)")
    run(
        path,
        "insert into word (talk, said, changed) values ('a', 'good', 100), ('b', 'hello', 300), "
        "('b', 'you', 300)",
    )
    _, point = read(path)

    run(path, "delete from word where said = 'you'")

    assert read(path, point)[0] == [("b", "hello")]


def test_a_table_need_not_tell_times_and_times_may_be_text(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Listener, "tables", (SessionTable("talk", "id", "changed"), SessionTable("word", "talk"))
    )
    say(path, "a", "good", 0)
    say(path, "b", "hello", 0)
    run(path, "update talk set changed = '2026-02-02 02:4' || (id = 'a') || ':00'")
    point = read(path)[1]

    assert read(path)[0] == [("b", "hello"), ("a", "good")]
    assert read(path, point)[0] == [("a", "good")]

    say(path, "b", "again", 0)

    assert read(path, point)[0] == [("b", "hello again"), ("a", "good")]


def test_a_pass_that_was_stopped_goes_on_where_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_COMMIT_BYTES", 1)
    say(path, "a", "good", 100)
    say(path, "b", "hello", 300)
    say(path, "c", "yes", 400)

    passing = read_changed(Source("listener", str(path), appended=False), None, Listener())
    points = [item for item in passing if isinstance(item, Checkpoint)]

    assert [read(path, point)[0] for point in points[:2]] == [
        [("a", "good"), ("b", "hello"), ("c", "yes")],
        [("b", "hello"), ("c", "yes")],
    ]
    assert [point.position for point in points] == [4, 9, 12, 12]


def test_a_state_that_is_none_means_reading_from_the_start(path: Path) -> None:
    say(path, "a", "good", 100)

    assert read(path, Checkpoint(99, b"\xc1"))[1].position == 4


def test_a_database_without_the_tables_is_a_problem_and_keeps_its_checkpoint(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other.db"
    run(other, "create table talk (id text primary key)")

    items = list(read_changed(Source("listener", str(other), appended=False), None, Listener()))

    assert items == [
        Problem(
            path=str(other), kind="unreadable", reason="it has no table talk with id and changed"
        ),
        Checkpoint(0),
    ]


def test_text_that_is_none_is_a_problem(path: Path) -> None:
    say(path, "a", "good", 100)
    run(path, "insert into talk values (cast(x'ff' as text), 500)")

    first, last = read_changed(Source("listener", str(path), appended=False), None, Listener())

    assert isinstance(first, Problem)
    assert last == Checkpoint(0)
