"""Marks and the queue of work that can wait: leases, fencing tokens, tries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from recollect.store import open_store
from recollect.store.sqlite.jobs import LATE_MS, Jobs
from recollect.system.clock import iso, now_ms

LEASES = {"optimize": 60_000}
OVER_AT_ONCE = {"optimize": -1}


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Jobs]:
    store = open_store(str(tmp_path / "recollect.db"))
    yield store.jobs
    store.close()


def states(queue: Jobs) -> list[tuple[str, str, str, int]]:
    return [(job.kind, job.subject, job.state, job.tries) for job in queue.all()]


def test_asking_twice_asks_once(queue: Jobs) -> None:
    """Every import asks for the same work; it is done once."""
    queue.enqueue("optimize", "text")
    queue.enqueue("optimize", "text")

    assert states(queue) == [("optimize", "text", "waiting", 0)]


def test_a_mark_is_kept_until_a_job_is_asked_for(queue: Jobs) -> None:
    """Killed in between, the next one who looks asks for it."""
    queue.mark("notes changed")
    before = states(queue)

    queue.follow_marks({"notes changed": [("prepare", "projects"), ("publish", "projects")]})

    assert before == []
    assert states(queue) == [
        ("prepare", "projects", "waiting", 0),
        ("publish", "projects", "waiting", 0),
    ]
    assert queue.db.rows("select * from marks") == []


def test_a_mark_goes_with_what_it_marks(queue: Jobs) -> None:
    """What was rolled back is not to be worked on."""
    with suppress(KeyError), queue.db.transaction():
        queue.mark("notes changed")
        raise KeyError

    assert queue.db.rows("select * from marks") == []


def test_a_mark_that_is_set_is_not_written_again(queue: Jobs) -> None:
    """A thousand notes change one after the other."""
    queue.mark("notes changed")
    written = queue.db.connection.total_changes()

    queue.mark("notes changed")
    queue.mark("notes changed", at=now_ms() + 3_600_000)

    assert queue.db.connection.total_changes() == written


def test_a_mark_can_be_for_later(queue: Jobs) -> None:
    """A session that is still fresh is looked at when it is quiet; the earliest time counts."""
    queue.mark("session quiet", at=9_000_000_000_000)
    queue.mark("session quiet", at=8_000_000_000_000)

    queue.follow_marks({"session quiet": [("digest", "sessions")]})

    assert [job.not_before for job in queue.all()] == [iso(8_000_000_000_000)]
    assert queue.take({"digest": 60_000}) is None


def test_a_mark_that_nobody_knows_stays(queue: Jobs) -> None:
    """A newer recollect may have set it."""
    queue.mark("dreamt")

    queue.follow_marks({"notes changed": [("prepare", "projects")]})

    assert queue.db.rows("select name from marks") == [("dreamt",)]


def test_a_job_that_failed_is_not_tried_earlier_for_a_mark(queue: Jobs) -> None:
    """What is in its way is still there; it has its own time to be tried again."""
    queue.enqueue("optimize", "text")
    lease = queue.take(LEASES)
    assert lease is not None
    queue.fail(lease, "no room", most_tries=5)

    queue.enqueue("optimize", "text")

    assert queue.take(LEASES) is None


def test_a_taken_job_is_nobody_elses(queue: Jobs) -> None:
    """Two workers never do the same job at once."""
    queue.enqueue("optimize", "text")

    assert queue.take(LEASES) is not None
    assert queue.take(LEASES) is None


def test_a_dead_worker_loses_its_job_and_its_say(queue: Jobs) -> None:
    """After the lease another one takes over; the first may wake up and must not finish for it."""
    queue.enqueue("optimize", "text")
    first = queue.take(OVER_AT_ONCE)
    second = queue.take(LEASES)

    assert first is not None
    assert second is not None
    assert second.token > first.token
    assert queue.renew(first) is False
    assert queue.finish(first, started_at=now_ms()) is False
    assert queue.renew(second) is True
    assert queue.finish(second, started_at=now_ms()) is True
    assert states(queue) == []


def test_work_asked_for_while_it_is_done_is_done_again(queue: Jobs) -> None:
    """What it looked at may have changed after it looked."""
    queue.enqueue("optimize", "text")
    started = now_ms() - 1_000
    lease = queue.take(LEASES)
    queue.enqueue("optimize", "text")

    assert lease is not None
    assert queue.finish(lease, started_at=started) is True

    assert states(queue) == [("optimize", "text", "waiting", 0)]


def test_a_job_ends_after_the_clock_was_set_back(queue: Jobs) -> None:
    """What was asked for in the future, as it seems now, would be done over and over until then."""
    queue.enqueue("optimize", "text", asked_at=now_ms() + 3_600_000)

    for _ in range(2):
        lease = queue.take(LEASES)
        assert lease is not None
        queue.finish(lease, started_at=now_ms())

    assert states(queue) == []


def test_what_was_tried_often_enough_outside_of_the_queue_is_given_up(queue: Jobs) -> None:
    """Each try of a model costs somebody's money."""
    queue.leave("trace", "codex:a", "busy")
    queue.leave("trace", "codex:a", "busy")
    queue.give_up({"trace": 3})
    twice = states(queue)
    queue.leave("trace", "codex:a", "busy")
    queue.give_up({"trace": 3})

    assert twice == [("trace", "codex:a", "waiting", 2)]
    assert states(queue) == [("trace", "codex:a", "failed", 3)]


def test_only_what_could_be_begun_now_is_due(queue: Jobs) -> None:
    """A process is started for it, and one that finds nothing to do was started in vain."""
    queue.enqueue("distill", "sessions", at=now_ms() + 3_600_000)
    later = queue.count_due()
    queue.enqueue("optimize", "text")
    waiting = queue.count_due()
    lease = queue.take(LEASES)
    taken = queue.count_due()
    assert lease is not None
    queue.renew(lease._replace(lease_ms=-1))
    run_out = queue.count_due()

    assert (later, waiting, taken, run_out) == (0, 1, 0, 1)


def test_what_one_job_makes_is_there_for_the_next(queue: Jobs) -> None:
    """Kinds are taken in their order, whichever was asked for first: else one is done twice."""
    queue.enqueue("remember", "projects", at=now_ms() - 1_000)
    queue.enqueue("digest", "sessions", at=now_ms() - 10)

    taken = queue.take({"digest": 60_000, "remember": 60_000})

    assert taken is not None
    assert taken.kind == "digest"


def test_a_job_that_waited_long_comes_first(queue: Jobs) -> None:
    """While an agent works all day there is always something to digest."""
    queue.enqueue("remember", "projects", at=now_ms() - 2 * LATE_MS)
    queue.enqueue("digest", "sessions", at=now_ms() - 10)

    taken = queue.take({"digest": 60_000, "remember": 60_000})

    assert taken is not None
    assert taken.kind == "remember"
