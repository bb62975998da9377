"""Digests and notes are kept together, whatever happens while they are made."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from recollect.errors import StoreError
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
    """A session that is long enough for notes, and has some."""
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
        for table in ("digests", "extractions", "note_origins", "old_notes"):
            db.execute(f"delete from {table}")
        db.execute("insert or replace into undigested select id, random() from sessions")


def made(mind: Memory) -> dict[str, list[tuple[Any, ...]]]:
    db = mind._shared.store().db
    return {
        "digests": db.rows("select session, state, digest from digests order by session"),
        "old_notes": sorted(db.rows("select category, text, status, seen from old_notes")),
        "origins": sorted(
            db.rows(
                "select text, session, turn from note_origins join old_notes on old_notes.id = note"
            )
        ),
        "extractions": db.rows(
            "select session, message, calls, count from extractions order by session"
        ),
    }


def without_notes(mind: Memory) -> int:
    """Digests whose sessions were never looked at for notes: these would be lost."""
    return int(
        mind._shared.store().db.value(
            "select count(*) from digests where session not in (select session from extractions)"
        )
    )


@pytest.mark.store
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_killed_at_any_moment_nothing_is_lost(remember: Remember) -> None:
    """Power fails between a digest and the notes of its session.

    The next run must still find them.
    """
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
        halves.add(len(made(mind)["digests"]))

        assert without_notes(mind) == 0
        if round_number < 15:
            undo(mind)
    list(mind.digest_new())

    assert killed > 4
    assert len(halves) > 2
    assert made(mind) == undisturbed
    assert undisturbed["old_notes"]


def test_a_batch_is_kept_whole_or_not_at_all(remember: Remember) -> None:
    """A fault in the notes of one session takes the digests back
    as well: all of it is made again.
    """
    mind = remember(*map(chatty, range(1, 4)))
    db = mind._shared.store().db
    db.execute(
        """
        create trigger fault before insert on extractions when new.session = 2 begin
          select raise(abort, 'a fault');
        end
        """
    )

    with pytest.raises(StoreError, match="a fault"):
        list(mind.digest_new())
    before = made(mind)
    db.execute("drop trigger fault")
    done = list(mind.digest_new())

    assert before == {"digests": [], "old_notes": [], "origins": [], "extractions": []}
    assert len(done) == 3
    assert (without_notes(mind), len(made(mind)["extractions"])) == (0, 3)
