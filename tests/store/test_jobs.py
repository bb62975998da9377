"""The queue of work that can wait: leases, fencing tokens, tries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.sqlite import jobs
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.system.clock import now_ms


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(str(tmp_path / "recollect.db"))
    yield database
    database.close()


def states(db: Database) -> list[tuple[str, str, str, int]]:
    return [(job.kind, job.subject, job.state, job.tries) for job in Jobs(db).all()]


def test_asking_twice_asks_once(db: Database) -> None:
    """Every import asks for the same work; it is done once."""
    Jobs(db).enqueue("optimize", "text")
    Jobs(db).enqueue("optimize", "text")

    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_a_job_is_done_and_gone(db: Database) -> None:
    """What was asked for is handed to its handler."""
    done: list[str] = []
    Jobs(db).enqueue("optimize", "text")

    assert Jobs(db).work({"optimize": done.append}) == 1

    assert done == ["text"]
    assert states(db) == []


def test_a_job_that_nobody_knows_waits(db: Database) -> None:
    """A newer recollect may have asked for it."""
    Jobs(db).enqueue("dream", "x")

    assert Jobs(db).work({"optimize": print}) == 0

    assert states(db) == [("dream", "x", "waiting", 0)]


def test_a_taken_job_is_nobody_elses(db: Database) -> None:
    """Two workers never do the same job at once."""
    Jobs(db).enqueue("optimize", "text")

    assert Jobs(db).take(["optimize"]) is not None
    assert Jobs(db).take(["optimize"]) is None


def test_a_dead_worker_loses_its_job_and_its_say(db: Database) -> None:
    """After the lease another one takes over; the first may wake up and must not finish for it."""
    Jobs(db).enqueue("optimize", "text")
    first = Jobs(db).take(["optimize"])
    db.execute("update jobs set lease_until = 0")
    second = Jobs(db).take(["optimize"])

    assert first is not None
    assert second is not None
    assert second.token > first.token
    assert Jobs(db).renew(first) is False
    assert Jobs(db).finish(first, started_at=now_ms()) is False
    assert Jobs(db).renew(second) is True
    assert Jobs(db).finish(second, started_at=now_ms()) is True
    assert states(db) == []


def test_work_asked_for_while_it_is_done_is_done_again(db: Database) -> None:
    """What it looked at may have changed after it looked."""
    Jobs(db).enqueue("optimize", "text")
    started = now_ms() - 1_000
    lease = Jobs(db).take(["optimize"])
    Jobs(db).enqueue("optimize", "text")

    assert lease is not None
    assert Jobs(db).finish(lease, started_at=started) is True

    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_a_failing_job_is_tried_later_and_kept_in_the_end(db: Database) -> None:
    """A person can see what keeps failing and why; asking again gives it new tries."""

    def fails(subject: str) -> None:
        raise OSError("no room")

    Jobs(db).enqueue("optimize", "text")
    for _ in range(jobs.MOST_TRIES):
        db.execute("update jobs set not_before = 0")
        assert Jobs(db).work({"optimize": fails}) == 0

    (job,) = Jobs(db).all()
    assert (job.state, job.tries, job.error) == ("failed", jobs.MOST_TRIES, "OSError: no room")
    assert Jobs(db).work({"optimize": fails}) == 0
    Jobs(db).enqueue("optimize", "text")
    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_a_limit_leaves_the_rest_waiting(db: Database) -> None:
    """A pass can be kept short."""
    for subject in ("a", "b", "c"):
        Jobs(db).enqueue("optimize", subject)

    assert Jobs(db).work({"optimize": str}, limit=2) == 2

    assert len(states(db)) == 1


def test_only_what_could_be_begun_now_is_due(db: Database) -> None:
    """A process is started for it, and one that finds nothing to do was started in vain."""
    Jobs(db).enqueue("distill", "sessions", at=now_ms() + 3_600_000)
    later = Jobs(db).count_due()
    Jobs(db).enqueue("optimize", "text")
    waiting = Jobs(db).count_due()
    Jobs(db).take(["optimize"])
    taken = Jobs(db).count_due()
    db.execute("update jobs set lease_until = 0 where kind = 'optimize'")

    assert (later, waiting, taken, Jobs(db).count_due()) == (0, 1, 0, 1)
