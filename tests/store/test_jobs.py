"""Marks and the queue of work that can wait: leases, fencing tokens, tries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.system.clock import iso, now_ms

LEASES = {"optimize": 60_000}


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


def test_a_mark_is_kept_until_a_job_is_asked_for(db: Database) -> None:
    """Killed in between, the next one who looks asks for it."""
    Jobs(db).mark("notes changed")
    before = states(db)

    Jobs(db).follow_marks({"notes changed": [("prepare", "projects"), ("publish", "projects")]})

    assert before == []
    assert states(db) == [
        ("prepare", "projects", "waiting", 0),
        ("publish", "projects", "waiting", 0),
    ]
    assert db.rows("select * from marks") == []


def test_a_mark_goes_with_what_it_marks(db: Database) -> None:
    """What was rolled back is not to be worked on."""
    with suppress(KeyError), db.transaction():
        Jobs(db).mark("notes changed")
        raise KeyError

    assert db.rows("select * from marks") == []


def test_a_mark_that_is_set_is_not_written_again(db: Database) -> None:
    """A thousand notes change one after the other."""
    Jobs(db).mark("notes changed")
    written = db.connection.total_changes()

    Jobs(db).mark("notes changed")
    Jobs(db).mark("notes changed", at=now_ms() + 3_600_000)

    assert db.connection.total_changes() == written


def test_a_mark_can_be_for_later(db: Database) -> None:
    """A session that is still fresh is looked at when it is quiet; the earliest time counts."""
    Jobs(db).mark("session quiet", at=9_000_000_000_000)
    Jobs(db).mark("session quiet", at=8_000_000_000_000)

    Jobs(db).follow_marks({"session quiet": [("digest", "sessions")]})

    assert [job.not_before for job in Jobs(db).all()] == [iso(8_000_000_000_000)]
    assert Jobs(db).take({"digest": 60_000}) is None


def test_a_mark_that_nobody_knows_stays(db: Database) -> None:
    """A newer recollect may have set it."""
    Jobs(db).mark("dreamt")

    Jobs(db).follow_marks({"notes changed": [("prepare", "projects")]})

    assert db.rows("select name from marks") == [("dreamt",)]


def test_a_job_that_failed_is_not_tried_earlier_for_a_mark(db: Database) -> None:
    """What is in its way is still there; it has its own time to be tried again."""
    Jobs(db).enqueue("optimize", "text")
    lease = Jobs(db).take(LEASES)
    assert lease is not None
    Jobs(db).fail(lease, "no room", most_tries=5)

    Jobs(db).enqueue("optimize", "text")

    assert Jobs(db).take(LEASES) is None


def test_a_taken_job_is_nobody_elses(db: Database) -> None:
    """Two workers never do the same job at once."""
    Jobs(db).enqueue("optimize", "text")

    assert Jobs(db).take(LEASES) is not None
    assert Jobs(db).take(LEASES) is None


def test_a_dead_worker_loses_its_job_and_its_say(db: Database) -> None:
    """After the lease another one takes over; the first may wake up and must not finish for it."""
    Jobs(db).enqueue("optimize", "text")
    first = Jobs(db).take(LEASES)
    db.execute("update jobs set lease_until = 0")
    second = Jobs(db).take(LEASES)

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
    lease = Jobs(db).take(LEASES)
    Jobs(db).enqueue("optimize", "text")

    assert lease is not None
    assert Jobs(db).finish(lease, started_at=started) is True

    assert states(db) == [("optimize", "text", "waiting", 0)]


def test_what_was_tried_often_enough_outside_of_the_queue_is_given_up(db: Database) -> None:
    """Each try of a model costs somebody's money."""
    Jobs(db).leave("trace", "codex:a", "busy")
    Jobs(db).leave("trace", "codex:a", "busy")
    Jobs(db).give_up({"trace": 3})
    twice = states(db)
    Jobs(db).leave("trace", "codex:a", "busy")
    Jobs(db).give_up({"trace": 3})

    assert twice == [("trace", "codex:a", "waiting", 2)]
    assert states(db) == [("trace", "codex:a", "failed", 3)]


def test_only_what_could_be_begun_now_is_due(db: Database) -> None:
    """A process is started for it, and one that finds nothing to do was started in vain."""
    Jobs(db).enqueue("distill", "sessions", at=now_ms() + 3_600_000)
    later = Jobs(db).count_due()
    Jobs(db).enqueue("optimize", "text")
    waiting = Jobs(db).count_due()
    Jobs(db).take(LEASES)
    taken = Jobs(db).count_due()
    db.execute("update jobs set lease_until = 0 where kind = 'optimize'")

    assert (later, waiting, taken, Jobs(db).count_due()) == (0, 1, 0, 1)
