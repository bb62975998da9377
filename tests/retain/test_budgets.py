"""A budget is kept, the oldest first, and nothing goes that is not distilled unless it is said."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.errors import SettingsError, StoreUnwritable
from recollect.model.logs import Item, SessionFacts
from recollect.model.reports import Retained
from recollect.retain import budgets
from recollect.retain.budgets import DAY_MS, Budget, is_due, retain
from recollect.settings import Settings
from recollect.store import open_store
from recollect.store.sqlite.evictions import Evictions
from recollect.system.clock import now_ms
from tests.store.conftest import START, Filled, facts, turn
from tests.store.test_evictions import digested


def noisy_turn(session: str, number: int, *, minute: int) -> list[Item]:
    """About 4 KB that do not compress to nothing, a few hundred bytes of which stay."""
    noise = Random(f"{session} {number}").randbytes(3_000).hex()
    return turn(
        session, f"{session}-{number}", f"ask {number} of {session}", output=noise, minute=minute
    )


def keep_session(filled: Filled, session: str, *, turns: int = 3, minute: int = 0) -> None:
    for number in range(turns):
        filled.keep(
            f"{session}.jsonl", facts(session), *noisy_turn(session, number, minute=minute + number)
        )


def minutes_ago(minutes: int) -> int:
    return (now_ms() - START) // 60_000 - minutes


def run(filled: Filled, **limits: int) -> Retained:
    """What a whole run comes to."""
    (*_, report) = retain(filled.store, Budget(**limits))
    return report


def cap_for(filled: Filled, *, turns: int) -> int:
    """The cap that so many of the turns, all about as large, have to go for."""
    size = next(one.size_bytes for one in filled.store.evictions.whole_turns(0) if one.turn == 1)
    return filled.store.evictions.raw_bytes() - turns * size + size // 2


def stored_bytes(filled: Filled) -> int:
    return int(filled.db.value("select sum(length(events)) from bodies"))


def evicted(filled: Filled) -> list[str]:
    """The turns whose events are gone, in the order of their numbers."""
    places = filled.store.turns.places(range(1, filled.store.turns.last() + 1))
    gone = [number for number in sorted(places) if filled.store.evictions.at(number) is not None]
    return [places[number].ref.removeprefix("codex:") for number in gone]


@pytest.fixture
def three(filled: Filled) -> Filled:
    """Three sessions of three turns each, the first imported not being the oldest.

    The last has no digest.
    """
    keep_session(filled, "b", minute=100)
    keep_session(filled, "a", minute=0)
    digested(filled)
    keep_session(filled, "c", minute=200)
    return filled


def test_without_a_limit_nothing_goes(three: Filled) -> None:
    """Keeping everything is the default, and a run costs next to nothing."""
    usage = three.store.evictions.raw_bytes()

    report = run(three)

    assert evicted(three) == []
    assert report == Retained(
        final_usage=usage, distilled_usage=three.store.evictions.distilled_bytes()
    )


def test_the_soft_cap_takes_the_oldest_distilled_turns(three: Filled) -> None:
    """The newest are asked for most, and what is not digested has to wait."""
    cap, size = cap_for(three, turns=4), stored_bytes(three)

    report = run(three, soft_bytes=cap)

    assert evicted(three) == ["b#1", "a#1", "a#2", "a#3"]
    assert (report.evicted, report.data_loss, report.alerts) == (
        {"age": 0, "soft": 4, "hard": 0},
        0,
        [],
    )
    assert cap >= report.final_usage == three.store.evictions.raw_bytes()
    assert report.distilled_usage == three.store.evictions.distilled_bytes()
    assert stored_bytes(three) == size - report.freed


def test_the_soft_cap_says_when_it_cannot_be_kept_to(three: Filled) -> None:
    """Somebody has to know why the store is larger than asked for."""
    report = run(three, soft_bytes=1)

    (alert,) = report.alerts
    assert evicted(three) == ["b#1", "b#2", "b#3", "a#1", "a#2", "a#3"]
    assert "3 turns have no digest yet, 0 are in sessions that may go on." in alert


def test_the_hard_cap_takes_undistilled_turns_last_and_says_so(three: Filled) -> None:
    """The disk is full otherwise; it is the one way in which something is lost."""
    report = run(three, hard_bytes=cap_for(three, turns=7))

    assert evicted(three) == ["b#1", "b#2", "b#3", "a#1", "a#2", "a#3", "c#1"]
    assert (report.evicted, report.data_loss) == ({"age": 0, "soft": 0, "hard": 7}, 1)
    assert report.alerts == [
        "Turns shortened before they had a digest, because of retain.raw_hard_cap_bytes: 1"
    ]


def test_age_takes_old_distilled_turns(filled: Filled) -> None:
    """What is old and undigested stays, like what is young."""
    keep_session(filled, "old", minute=minutes_ago(3 * 24 * 60))
    keep_session(filled, "young", minute=minutes_ago(24 * 60))
    digested(filled)
    keep_session(filled, "undigested", minute=minutes_ago(3 * 24 * 60))

    report = run(filled, max_age_days=2)

    assert evicted(filled) == ["old#1", "old#2", "old#3"]
    assert (report.evicted, report.data_loss) == ({"age": 3, "soft": 0, "hard": 0}, 0)


def test_a_turn_without_a_time_does_not_age(filled: Filled) -> None:
    """A missing time is not an old one."""
    timeless = [item for item in noisy_turn("s", 0, minute=0) if not isinstance(item, SessionFacts)]
    for item in timeless:
        item.at = None  # type: ignore[union-attr]
    filled.keep("s.jsonl", *timeless)
    digested(filled)

    report = run(filled, max_age_days=1)

    assert report.evicted == {"age": 0, "soft": 0, "hard": 0}


def test_a_session_that_may_go_on_is_left_alone_but_for_the_hard_cap(filled: Filled) -> None:
    """Its digest is made again with its next turn, and wants to see this one."""
    keep_session(filled, "running", minute=minutes_ago(60))
    digested(filled)

    soft = run(filled, soft_bytes=1)
    hard = run(filled, hard_bytes=1)

    assert soft.evicted == {"age": 0, "soft": 0, "hard": 0}
    assert (hard.evicted, hard.data_loss, hard.final_usage) == (
        {"age": 0, "soft": 0, "hard": 3},
        0,
        0,
    )


def test_a_hard_cap_says_when_a_damaged_body_is_in_its_way(three: Filled) -> None:
    """What cannot be read cannot be made smaller, and is left for a repair."""
    three.db.execute("update bodies set events = zeroblob(9000) where turn = 1")

    report = run(three, hard_bytes=1)

    assert report.final_usage == three.store.evictions.raw_bytes() == 9_000
    assert report.alerts[-1].endswith("1 turns cannot be read. Try: recollect doctor --verify")


def test_passes_share_what_is_left(three: Filled) -> None:
    """What age took need not be taken for a cap."""
    usage = three.store.evictions.raw_bytes()

    report = run(three, max_age_days=1, soft_bytes=usage // 2, hard_bytes=usage)

    assert report.evicted == {"age": 6, "soft": 0, "hard": 0}


def test_distilled_text_is_only_reported(three: Filled) -> None:
    """Digests and notes are what everything else is let go for."""
    report = run(three, distilled_bytes=1)

    (alert,) = report.alerts
    assert "more than retain.distilled_cap_bytes (1)" in alert
    assert evicted(three) == []


def test_a_second_run_has_nothing_to_do(three: Filled) -> None:
    """It runs after every import."""
    run(three, max_age_days=1)
    rows = three.rows() | {"store_info": []}

    report = run(three, max_age_days=1)

    assert report.freed == 0
    assert three.rows() | {"store_info": []} == rows


@pytest.mark.parametrize("stop_after", [1, 2, 5])
def test_a_run_that_stops_is_continued(
    three: Filled, stop_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A laptop that is closed in between loses nothing and repeats nothing."""
    monkeypatch.setattr(budgets, "BATCH_TURNS", 1)
    steps = retain(three.store, Budget(max_age_days=1))
    for _ in range(stop_after):
        next(steps)
    steps.close()
    three.reopen()
    first = len(evicted(three))

    report = run(three, max_age_days=1)

    assert (first, report.evicted["age"]) == (stop_after, 6 - stop_after)


def test_two_runs_at_once_let_go_of_no_more_than_one(
    three: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person may start one while the job after an import is at it."""
    monkeypatch.setattr(budgets, "BATCH_TURNS", 1)
    budget = Budget(soft_bytes=cap_for(three, turns=3))
    other = open_store(str(three.path))

    for _ in zip_longest(retain(three.store, budget), retain(other, budget)):
        pass
    other.close()

    assert evicted(three) == ["a#1", "a#2", "a#3"]


def test_a_cap_is_not_undercut_by_a_batch(three: Filled) -> None:
    """Batches are for the lock's sake; what may stay stays."""
    usage = three.store.evictions.raw_bytes()

    report = run(three, soft_bytes=usage - 1)

    assert report.evicted["soft"] == 1


def test_a_full_disk_is_reported_not_raised(three: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    """The events are gone all the same, and their pages are used before new ones."""

    def full(self: Evictions) -> int:
        raise StoreUnwritable(self.db.path, "database or disk is full")

    monkeypatch.setattr(Evictions, "give_back", full)

    report = run(three, max_age_days=1)

    assert report.evicted["age"] == 6
    assert ["could not be made smaller" in alert for alert in report.alerts] == [True]


@pytest.mark.parametrize(
    ("limits", "turns", "days_since", "due"),
    [
        ({}, 9, 99, False),
        ({"distilled_bytes": 1}, 9, 99, False),
        ({"soft_bytes": 1}, 0, 99, False),
        ({"soft_bytes": 1}, 1, 0, True),
        ({"max_age_days": 1}, 0, 0, False),
        ({"max_age_days": 1}, 0, 2, True),
    ],
)
def test_an_import_asks_for_a_run_when_one_can_do_something(
    filled: Filled, limits: dict[str, Any], turns: int, days_since: int, due: bool
) -> None:
    """Turns age without an import, so once a day is enough for those."""
    filled.db.execute(
        "insert into store_info values ('retained_at', ?)", (now_ms() - days_since * DAY_MS,)
    )

    assert is_due(filled.store, Budget(**limits), turns) is due


@pytest.fixture
def config(home: Path) -> Path:
    return home / "config.toml"


def test_a_limit_below_nothing_is_refused(config: Path) -> None:
    """A slip of the pen may not empty the store."""
    config.write_text("[retain]\nraw_hard_cap_bytes = -1\n")

    with pytest.raises(SettingsError, match=r"retain\.raw_hard_cap_bytes is -1"):
        Settings.load({"RECOLLECT_HOME": str(config.parent)})


def test_settings_become_a_budget(config: Path) -> None:
    """Every key has its place."""
    config.write_text(
        "[retain]\nraw_soft_cap_bytes = 1\nraw_hard_cap_bytes = 2\nraw_max_age_days = "
        "3\ndistilled_cap_bytes = 4\n"
    )

    budget = Budget.of(Settings.load({"RECOLLECT_HOME": str(config.parent)}))

    assert budget == Budget(soft_bytes=1, hard_bytes=2, max_age_days=3, distilled_bytes=4)
