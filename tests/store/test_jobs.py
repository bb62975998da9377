"""The queue of work that can wait: leases, fencing tokens, tries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.sqlite import jobs
from recollect.store.sqlite.database import Database
from recollect.system.clock import now_ms


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(str(tmp_path / "recollect.db"))
    yield database
    database.close()


def states(db: Database) -> list[tuple[str, str, str, int]]:
    return [(job.kind, job.subject, job.state, job.tries) for job in jobs.list_jobs(db)]


def test_asking_twice_asks_once(db: Database) -> None:
    """Every import asks for the same work; it is done once."""
    jobs.enqueue(db, "optimize", "text")
    jobs.enqueue(db, "optimize", "text")

    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_a_job_is_done_and_gone(db: Database) -> None:
    """What was asked for is handed to its handler."""
    done: list[str] = []
    jobs.enqueue(db, "optimize", "text")

    assert jobs.work(db, {"optimize": done.append}) == 1

    assert done == ["text"]
    assert states(db) == []


def test_a_job_that_nobody_knows_waits(db: Database) -> None:
    """A newer recollect may have asked for it."""
    jobs.enqueue(db, "dream", "x")

    assert jobs.work(db, {"optimize": print}) == 0

    assert states(db) == [("dream", "x", "waiting", 0)]


def test_a_taken_job_is_nobody_elses(db: Database) -> None:
    """Two workers never do the same job at once."""
    jobs.enqueue(db, "optimize", "text")

    assert jobs.take(db, ["optimize"]) is not None
    assert jobs.take(db, ["optimize"]) is None


def test_a_dead_worker_loses_its_job_and_its_say(db: Database) -> None:
    """After the lease another one takes over; the first may wake up and must not finish for it."""
    jobs.enqueue(db, "optimize", "text")
    first = jobs.take(db, ["optimize"])
    db.execute("update jobs set lease_until = 0")
    second = jobs.take(db, ["optimize"])

    assert first is not None
    assert second is not None
    assert second.token > first.token
    assert jobs.renew(db, first) is False
    assert jobs.finish(db, first, started_at=now_ms()) is False
    assert jobs.renew(db, second) is True
    assert jobs.finish(db, second, started_at=now_ms()) is True
    assert states(db) == []


def test_work_asked_for_while_it_is_done_is_done_again(db: Database) -> None:
    """What it looked at may have changed after it looked."""
    jobs.enqueue(db, "optimize", "text")
    started = now_ms() - 1_000
    lease = jobs.take(db, ["optimize"])
    jobs.enqueue(db, "optimize", "text")

    assert lease is not None
    assert jobs.finish(db, lease, started_at=started) is True

    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_a_failing_job_is_tried_later_and_kept_in_the_end(db: Database) -> None:
    """A person can see what keeps failing and why; asking again gives it new tries."""

    def fails(subject: str) -> None:
        raise OSError("no room")

    jobs.enqueue(db, "optimize", "text")
    for _ in range(jobs.MOST_TRIES):
        db.execute("update jobs set not_before = 0")
        assert jobs.work(db, {"optimize": fails}) == 0

    (job,) = jobs.list_jobs(db)
    assert (job.state, job.tries, job.error) == ("failed", jobs.MOST_TRIES, "OSError: no room")
    assert jobs.work(db, {"optimize": fails}) == 0
    jobs.enqueue(db, "optimize", "text")
    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_a_limit_leaves_the_rest_waiting(db: Database) -> None:
    """A pass can be kept short."""
    for subject in ("a", "b", "c"):
        jobs.enqueue(db, "optimize", subject)

    assert jobs.work(db, {"optimize": str}, limit=2) == 2

    assert len(states(db)) == 1


def test_only_what_could_be_begun_now_is_due(db: Database) -> None:
    """A process is started for it, and one that finds nothing to do was started in vain."""
    jobs.enqueue(db, "distill", "sessions", at=now_ms() + 3_600_000)
    later = jobs.count_due(db)
    jobs.enqueue(db, "optimize", "text")
    waiting = jobs.count_due(db)
    jobs.take(db, ["optimize"])
    taken = jobs.count_due(db)
    db.execute("update jobs set lease_until = 0 where kind = 'optimize'")

    assert (later, waiting, taken, jobs.count_due(db)) == (0, 1, 0, 1)
