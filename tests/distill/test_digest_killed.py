"""Digests are kept in batches, whole or not at all, whatever happens while they are made."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from recollect.memory import Memory
from tests.builders.work import Remember, Work

DIGESTING = """
import sys
from recollect.memory import Memory
from recollect.settings import Settings
import recollect.distill.tasks.digest

# Many small batches: many moments between two of them.
recollect.distill.tasks.digest.TURNS_AT_ONCE = 10
with Memory(Settings(sys.argv[1], sys.argv[2], {})) as memory:
    sessions = memory.digest_new()
    print("ready", flush=True)
    for ref in sessions:
        pass
"""


def chatty(number: int) -> Work:
    """A session of some length."""
    work = Work(number).ask(
        f"From now on always run the tests of part {number} with make test{number}"
    )
    for turn in range(10):
        work.run(f"make test{number}", "2 passed").done("Done.").ask(
            f"and now the door number {turn} of it"
        )
    return work.done()


def undo(mind: Memory) -> None:
    """As if no session had been looked at."""
    db = mind._shared.store().db
    with db.transaction():
        db.execute("delete from digests")
        db.execute("insert or replace into undigested select id, random() from sessions")


def made(mind: Memory) -> list[tuple[Any, ...]]:
    db = mind._shared.store().db
    return db.rows("select session, digest from digests order by session")


@pytest.mark.store
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_killed_at_any_moment_nothing_is_lost(remember: Remember) -> None:
    """Power fails between two digests; the next run makes what is missing."""
    mind = remember(*map(chatty, range(1, 25)))
    list(mind.digest_new())
    undisturbed = made(mind)
    undo(mind)
    whole = begun = time.monotonic()
    killed, halves = 0, set()
    for round_number in range(16):
        process = subprocess.Popen(
            [sys.executable, "-c", DIGESTING, mind.settings.home, mind.settings.store],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        begun = time.monotonic()
        if round_number:
            time.sleep(whole * round_number / 16)
            process.send_signal(signal.SIGKILL)
        process.communicate()
        # The first round says how long there is to kill.
        whole = whole if round_number else time.monotonic() - begun
        killed += process.returncode == -signal.SIGKILL
        halves.add(len(made(mind)))
        if round_number < 15:
            undo(mind)
    list(mind.digest_new())

    assert killed > 4
    assert len(halves) > 2
    assert made(mind) == undisturbed
