"""What a page shows besides a search: lists with totals, and whether to look again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.episodes import Context
from tests.builders.homes import claude_log, claude_path, memory, refs, small_talk


@pytest.fixture
def mind(home: Path) -> Iterator[Memory]:
    with memory(home) as made:
        yield made


def test_sessions_come_a_page_at_a_time(home: Path, mind: Memory) -> None:
    """Page after page shows each session once, in the order of the whole list."""
    for number in range(1, 6):
        claude_log(home, small_talk(number))
    mind.import_logs()

    first = mind.session_page(limit=2)
    second = mind.session_page(limit=2, cursor=first.cursor)
    third = mind.session_page(limit=2, cursor=second.cursor)

    assert [first.total, second.total, third.total] == [5, 5, 5]
    assert third.cursor is None
    assert [*first, *second, *third] == list(mind.sessions(limit=None))


def test_pages_stay_where_they_are_while_sessions_come_in(home: Path, mind: Memory) -> None:
    """Somebody who turns the page is shown neither the same again nor a gap."""
    for number in range(1, 4):
        claude_log(home, small_talk(number))
    mind.import_logs()
    whole = [session.id for session in mind.sessions(limit=None)]

    first = mind.session_page(limit=1)
    claude_log(home, small_talk(4))
    mind.import_logs()
    rest = mind.session_page(limit=10, cursor=first.cursor)

    assert [session.id for session in (*first, *rest)] == whole
    assert rest.total == 4


def test_a_page_of_sessions_takes_what_a_search_takes(home: Path, mind: Memory) -> None:
    """Words and filters choose; the total is of what they choose."""
    claude_log(home, small_talk(1, words="about the harvest"))
    claude_log(home, small_talk(2))
    mind.import_logs()

    found = mind.session_page("harvest", agent="claude-code")

    assert (len(found), found.total) == (1, 1)


@pytest.mark.parametrize("cursor", ["", "1", "x.1", "1.x", "1." + "9" * 30])
def test_what_is_not_a_cursor_is_refused(home: Path, mind: Memory, cursor: str) -> None:
    """It comes from the address of a page, where anybody may type."""
    claude_log(home, small_talk(1))
    mind.import_logs()

    with pytest.raises(UsageError, match="is not a cursor"):
        mind.session_page(cursor=cursor)


def test_attempts_are_listed_newest_first(mind: Memory) -> None:
    """Those of a project can be asked for, and those that were recorded."""
    for number in range(3):
        where = Context(project="/srv/shop" if number else "/srv/farm")
        attempt = mind.episodes.start(f"task {number}", where)
        mind.episodes.complete(attempt, "success")
    mind.episodes.flush()

    first = mind.episodes.all(limit=2)
    rest = mind.episodes.all(limit=2, cursor=first.cursor)
    shop = mind.episodes.all(project="/srv/shop", source="live")

    assert sorted(one.task for one in (*first, *rest)) == ["task 0", "task 1", "task 2"]
    assert (first.total, rest.cursor) == (3, None)
    assert {one.task for one in shop} == {"task 1", "task 2"}
    assert mind.episodes.all(source="derived").total == 0


def test_what_was_wrong_is_listed_by_log(home: Path, mind: Memory) -> None:
    """A person who looks for a session that is missing starts here."""
    whole, broken = small_talk(1), small_talk(2)
    claude_log(home, whole)
    path = claude_log(home, broken)
    path.write_text("this is not JSON\n" + path.read_text())
    mind.import_logs()

    found = mind.agents.problems()

    assert found.total == 1
    (source,) = found
    assert (source.path, source.agent, source.total) == (str(path), "claude-code", 1)
    assert [(one.kind, one.line) for one in source.problems] == [("bad_line", 1)]
    assert mind.agents.problems("codex").total == 0


def test_nothing_has_changed_until_somebody_writes(home: Path, mind: Memory) -> None:
    """A page asks every second; it looks again only when there is something to see."""
    claude_log(home, small_talk(1))
    mind.import_logs()

    mark = mind.changed_since(None)
    list(mind.sessions())

    assert mark is not None
    assert mind.changed_since(mark) is None


def test_what_another_process_writes_is_a_change(home: Path, mind: Memory) -> None:
    """Hooks and imports run in processes of their own."""
    claude_log(home, small_talk(1))
    mind.import_logs()
    mark = mind.changed_since(None)
    assert mark is not None
    claude_log(home, small_talk(2))

    subprocess.run(
        [
            sys.executable, "-m", "recollect", "import",
            str(claude_path(home, small_talk(2).session)), "--store", mind.settings.store,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    after = mind.changed_since(mark)

    assert after is not None
    assert mind.changed_since(after) is None
    assert mind.session_page().total == 2


def test_what_we_write_ourselves_is_a_change_too(home: Path, mind: Memory) -> None:
    """A page that imports shows what it imported."""
    claude_log(home, small_talk(1))
    mind.import_logs()
    mark = mind.changed_since(None)
    claude_log(home, small_talk(2))

    mind.import_logs()

    assert mind.changed_since(mark) is not None


def test_what_is_said_to_the_program_is_no_turn_and_no_hit(home: Path, mind: Memory) -> None:
    """Nobody who looks for `rename` wants to find that a session was renamed."""
    talk = small_talk(1, turns=1)
    talk.user("<command-name>/rename</command-name><command-args>garden</command-args>")
    claude_log(home, talk)
    mind.import_logs()

    (session,) = mind.sessions()

    assert (session.turns, session.title) == (1, "question 1-1")
    assert refs(mind, "rename garden") == []
