"""Following agents as they write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from recollect.capture import watch
from recollect.errors import NotFound
from recollect.model.reports import ImportReport
from tests.builders import codex, grok
from tests.builders.homes import (
    add_turn,
    chat,
    claude_log,
    codex_log,
    codex_talk,
    everything,
    memory,
    refs,
    small_talk,
)

REF = f"claude-code:{chat(1).session}"


@contextmanager
def watching(home: Path) -> Iterator[list[ImportReport]]:
    """A watcher in a thread of its own, with the reports it has given so far."""
    stop, reports = threading.Event(), []

    def watch() -> None:
        with memory(home, watch__debounce_ms=100) as mind:
            for report in mind.watch(stop=stop):
                reports.append(report)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield reports
    finally:
        stop.set()
        thread.join(10)
    assert not thread.is_alive(), "a watcher stops when it is told to"


def soon(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether something becomes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return True
        except NotFound:
            pass  # The store is made by the watcher.
        time.sleep(0.02)
    return False


def test_a_turn_is_searchable_within_two_seconds(home: Path) -> None:
    talk = small_talk(1)
    claude_log(home, talk)

    with watching(home) as reports, memory(home) as mind:
        assert soon(lambda: len(reports) == 1, 5), "what was there at the start comes first"
        time.sleep(0.3)  # The watch on the folders begins after that.
        add_turn(talk, "1-3", "zebra")
        claude_log(home, talk)

        assert soon(lambda: refs(mind, "zebra") == [f"{REF}#3"], 2)
    assert [(report.imported, report.updated, report.turns) for report in reports] == [
        (1, 0, 2),
        (0, 1, 1),
    ]


def test_new_sessions_and_folders_are_noticed(home: Path) -> None:
    """The first session in a project makes its folder."""
    claude_log(home, small_talk(1))
    with watching(home) as reports, memory(home) as mind:
        assert soon(lambda: len(reports) == 1, 5)
        time.sleep(0.3)

        claude_log(home, small_talk(2), "-home-ada-new")

        assert soon(lambda: len(everything(mind)) == 2, 2)


def test_an_agent_installed_later_is_noticed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is looked for every now and then."""
    monkeypatch.setattr(watch, "LOOK_AGAIN_MS", 1_000)
    claude_log(home, small_talk(1))
    with watching(home) as reports, memory(home) as mind:
        assert soon(lambda: len(reports) == 1, 5)

        codex_log(home, codex_talk())

        assert soon(lambda: f"codex:{codex.THREAD}" in everything(mind), 30)


def test_idling_costs_next_to_nothing(home: Path) -> None:
    """It runs all day on somebody's battery."""
    for number in range(1, 40):
        claude_log(home, small_talk(number))
    with watching(home) as reports:
        assert soon(lambda: len(reports) == 1, 10)
        time.sleep(0.5)

        before = time.process_time()
        time.sleep(2)
        spent = time.process_time() - before

    assert spent < 0.1
    assert len(reports) == 1


def test_what_says_nothing_new_gives_no_report(home: Path) -> None:
    """Files of other kinds lie in the same folders."""
    path = claude_log(home, small_talk(1))
    with watching(home) as reports:
        assert soon(lambda: len(reports) == 1, 5)
        time.sleep(0.3)
        (path.parent / "notes.txt").write_text("nothing to see")
        time.sleep(1)

    assert len(reports) == 1


def test_a_database_that_is_a_root_is_followed_while_its_owner_has_it_open(home: Path) -> None:
    """Its owner writes beside it: the file itself changes when it is closed."""
    path = home / ".grok" / "grok.db"
    path.parent.mkdir()
    owner = apsw.Connection(str(path))
    owner.pragma("journal_mode", "wal")
    owner.execute(grok.SCHEMA + grok.cli_session() + grok.cli_message(1, "user", "mend the door"))

    with watching(home) as reports, memory(home) as mind:
        assert soon(lambda: len(reports) == 1, 5)
        time.sleep(0.3)
        owner.execute(grok.cli_message(2, "user", "and the gate", 60))

        assert soon(lambda: len(list(mind.search("gate"))) == 1, 5)
    owner.close()
