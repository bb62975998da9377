"""The work that a turn leaves behind waits until its agent is quiet, so that a session costs
it once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from recollect.memory import Memory
from recollect.serve.background import leave_work
from recollect.system import platforms
from recollect.system.clock import now_ms
from tests.builders.homes import claude_log, small_talk


@pytest.fixture
def mind(home: Path) -> Iterator[Memory]:
    claude_log(home, small_talk(1))
    with opened(1) as memory:
        memory.import_logs()
        yield memory


def opened(quiet_seconds: int) -> Memory:
    return Memory.open(settings={"jobs.quiet_seconds": quiet_seconds})


def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The processes that would be started, from here on."""
    found: list[list[str]] = []
    monkeypatch.setattr(platforms, "spawn_detached", lambda command, **_: found.append(command))
    return found


def test_it_waits_until_no_log_was_read_for_a_while(mind: Memory, home: Path) -> None:
    """The next turn would want the same work done again."""

    def import_more() -> None:
        claude_log(home, small_talk(2))
        with Memory.open() as other:
            other.import_logs()

    Timer(0.5, import_more).start()

    assert mind.jobs.wait_for_quiet()

    last = mind._shared.store().sources.last_import_ms()
    assert last is not None
    assert mind.summary().sessions == 2
    assert now_ms() - last >= 1_000


def test_a_session_that_never_rests_has_it_done_all_the_same(mind: Memory) -> None:
    """An agent may work for hours."""
    begun = time.monotonic()

    with opened(3_600) as patient:
        assert patient.jobs.wait_for_quiet(longest_seconds=0.2)

    assert time.monotonic() - begun < 600


def test_one_process_waits_for_all(mind: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty turns would leave twenty otherwise."""
    processes = started(monkeypatch)
    leave_work(mind, when_quiet=True)
    lease = mind._shared.store().leases.take("quiet", seconds=60)
    assert lease is not None

    leave_work(mind, when_quiet=True)
    leave_work(mind, gently=True)
    second = mind.jobs.wait_for_quiet()
    mind._shared.store().leases.release(lease)
    leave_work(mind, when_quiet=True)

    assert not second
    assert [command[4:7] for command in processes] == 2 * [["jobs", "run", "--when-quiet"]]


def test_who_asks_for_an_import_does_not_wait(
    mind: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who imports wants it done, and so does the end of a session."""
    processes = started(monkeypatch)
    mind._shared.store().leases.take("quiet", seconds=60)

    leave_work(mind)

    assert [command[4:7] for command in processes] == [["jobs", "run", "--store"]]


def test_work_is_done_by_whoever_waited(mind: Memory) -> None:
    """Nothing is lost by waiting: what is due is still due."""
    assert mind.jobs.count_due() > 0

    mind.jobs.wait_for_quiet()
    mind.jobs.work()

    assert mind.jobs.count_due() == 0
