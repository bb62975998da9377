"""Sessions at a hub: what leaves of them, what the team finds, and what is forgotten with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.serve.mcp.tools import Tools
from recollect.serve.memory_thread import MemoryThread
from tests.builders.homes import claude_log
from tests.builders.work import Work
from tests.share.people import Person

Joins = Callable[..., Person]
SECRET = "sk-ant-api03-" + "q7Wd9" * 18 + "-AAAAAAAA"


def works(person: Person, home: Path, number: int = 1, asked: str = "Fix the basket total") -> str:
    """One session in the project, imported; its reference."""
    work = Work(number, cwd=str(person.project)).ask(asked)
    work = work.run("pytest -q basket", "1 failed: rounding of cents").edit(
        f"{person.project}/basket.py"
    )
    claude_log(home, work.run("pytest -q basket", "3 passed").talk)
    person.memory.import_logs()
    person.memory.jobs.work()
    return next(iter(person.memory.sessions(limit=1))).id


def test_the_turns_of_a_shared_session_are_found_by_the_team(
    ana: Person, joins: Joins, home: Path
) -> None:
    works(ana, home)
    bo = joins("bo").syncs()

    ana.shares("sessions")
    report = ana.memory.team.sync()
    bo.syncs()
    by_word = bo.memory.team.search("basket").hits
    by_meaning = bo.memory.team.search("sum of a shopping cart is wrong").hits

    assert report.turns == 1
    assert {("turn", "ana"), ("session", "ana")} <= {(hit.kind, hit.author) for hit in by_word}
    assert by_meaning[0].text.startswith("Fix the basket total")
    assert "rounding of cents" not in str(by_word)


def test_digests_are_shared_without_the_turns(ana: Person, joins: Joins, home: Path) -> None:
    works(ana, home)
    bo = joins("bo").syncs()

    ana.shares("digests").syncs()

    kinds = {hit.kind for hit in bo.memory.team.search("basket").hits}
    assert "digest" in kinds
    assert "turn" not in kinds


def test_a_session_that_did_not_change_is_not_sent_again(
    ana: Person, joins: Joins, home: Path
) -> None:
    works(ana, home)
    first = ana.shares("sessions").memory.team.sync()

    again = ana.memory.team.sync()
    claude_log(home, Work(2, cwd=str(ana.project)).ask("Round a voucher").done().talk)
    ana.memory.import_logs()
    more = ana.memory.team.sync()

    assert (first.turns, again.pushed, again.turns, again.round_trips) == (1, 0, 0, 1)
    assert (more.pushed, more.turns) == (1, 1)


def test_secrets_and_homes_stay_here(ana: Person, joins: Joins, home: Path) -> None:
    works(ana, home, asked=f"Use {SECRET} for /home/ana/shop/basket.py")
    bo = joins("bo").syncs()

    ana.shares("sessions").syncs()

    hits = str(bo.memory.team.search("basket").hits)
    assert "q7Wd9" not in hits
    assert "~/shop/basket.py" in hits


def test_an_agent_asks_the_team_and_gets_it_framed(ana: Person, joins: Joins, home: Path) -> None:
    """What team mates wrote is data to an agent, and never more than `team`."""
    ana.says("Use pnpm here, never npm")
    ana.shares().syncs()
    bo = joins("bo").syncs()
    thread = MemoryThread(bo.memory)

    tools = Tools(thread, None, str(bo.project))
    answer = tools.call("search", {"query": "pnpm", "scope": "team"}).result(30)
    thread.close()

    assert answer.structured is not None
    [found] = answer.structured["hits"]
    assert (found["id"], found["trust"]) == ("team:ana", "team")
    assert answer.text.startswith("<recalled")
    assert not answer.failed


@pytest.mark.parametrize("how", ["forgotten", "stopped"])
def test_a_session_goes_from_the_hub_with_all_its_turns(
    ana: Person, joins: Joins, home: Path, how: str
) -> None:
    session = works(ana, home)
    bo = joins("bo").syncs()
    ana.shares("sessions").syncs()
    bo.syncs()

    if how == "forgotten":
        ana.memory.store.forget(session)
        ana.syncs()
    else:
        ana.memory.team.stop(project=str(ana.project))
    bo.syncs()

    assert bo.memory.team.search("basket").hits == []
    assert bo.memory._shared.store().db.rows("select * from team_items") == []


def test_a_turn_that_is_forgotten_goes_from_a_shared_session(
    ana: Person, joins: Joins, home: Path
) -> None:
    session = works(ana, home)
    ana.shares("sessions").syncs()
    bo = joins("bo").syncs()

    ana.memory.store.forget(f"{session}#1")
    ana.syncs()

    assert "basket" not in str(bo.memory.team.search("basket").hits)


def test_a_session_that_one_device_forgot_is_not_imported_by_another(
    ana: Person, joins: Joins, home: Path
) -> None:
    """The same logs are on both, as on a machine that was copied."""
    session = works(ana, home)
    other, late = joins("ana", device="other"), joins("ana", device="late")
    works(other, home)
    ana.shares("sessions").syncs()
    other.syncs()
    late.syncs()

    ana.memory.store.forget(session)
    ana.syncs()
    other.syncs()
    late.syncs()
    late.memory.import_logs()

    assert [one.id for one in other.memory.sessions()] == []
    assert [one.id for one in late.memory.sessions()] == []


def test_what_was_pulled_stays_within_its_room(ana: Person, joins: Joins, home: Path) -> None:
    """The store of one is not filled by the sessions of twenty."""
    for number in range(1, 6):
        works(ana, home, number)
    bo = joins("bo").syncs()
    ana.shares("digests").syncs()
    bo.syncs()
    store = bo.memory._shared.store()
    before = store.db.value("select sum(length(body)) from team_items")

    gone = store.team.trim(before // 2)

    assert before > 0
    assert gone >= 2
    assert store.db.value("select sum(length(body)) from team_items") <= before // 2
