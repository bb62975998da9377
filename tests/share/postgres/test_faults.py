"""A server that dies, a network that is cut or silent: nothing is lost, nothing comes twice."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.errors import HubUnavailable
from recollect.share.postgres import PostgresHub
from tests.share.faults import cut_rounds, rounds, through
from tests.share.people import Person
from tests.share.postgres.test_sessions import works
from tests.share.proxy import Proxy
from tests.share.servers import Postgres, postgres_folder


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """One that a test may kill."""
    server = Postgres(postgres_folder())
    yield server
    server.stop()


def test_a_cut_connection_loses_and_doubles_nothing(
    postgres: Postgres, hub_url: str, tmp_path: Path
) -> None:
    """Cut after any number of bytes, so also when the work was done and the answer was lost."""
    found = cut_rounds(25, 1, tmp_path, postgres, hub_url)

    assert (found.rounds, found.lost, found.doubled) == (25, 0, 0)
    assert found.cut > 5
    assert all(message.startswith("The hub at 127.0.0.1") for message in found.messages)


def test_a_server_that_is_killed_loses_and_doubles_nothing(
    person: Callable[..., Person], own_server: Postgres
) -> None:
    ana = person("ana").founds(own_server.database()).shares()
    bo = person("bo").joins(ana.memory.team.invite("bo"))
    dice = random.Random(2)

    def kill_soon() -> None:
        threading.Timer(dice.random() * 0.05, own_server.process.kill).start()

    def start_again() -> None:
        time.sleep(0.06)
        own_server.process.wait(20)
        own_server.start()

    found = rounds(4, dice, ana, bo, kill_soon, start_again)

    assert (found.rounds, found.lost, found.doubled) == (4, 0, 0)


def test_a_server_that_says_nothing_is_left_after_a_while(
    person: Callable[..., Person], postgres: Postgres, hub_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stalled server would otherwise hold a sync for as long as the system believes in it."""
    proxy = Proxy(postgres.port)
    ana = person("ana").founds(through(hub_url, postgres.port, proxy)).shares()
    joined = ana.memory._shared.store().team.hub()
    assert joined is not None
    hub = PostgresHub(
        joined.url, ana.link.secret, team=joined.team, device=joined.device, answer_seconds=0.5
    )
    hub.identity()
    proxy.is_silent = True

    began = time.monotonic()
    with pytest.raises(HubUnavailable, match="cannot be used now"):
        hub.identity()

    assert time.monotonic() - began < 5
    proxy.is_silent = False
    assert hub.identity().name == "acme"
    hub.close()
    proxy.close()


@pytest.mark.parametrize("size", [40, 300, 1_000])
def test_a_connection_that_is_cut_while_turns_are_sent_leaves_none_or_all_of_them(
    person: Callable[..., Person], postgres: Postgres, hub_url: str, home: Path, size: int
) -> None:
    """In the middle of a COPY: the server keeps none of them, and the next sync sends all."""
    proxy = Proxy(postgres.port)
    ana = person("ana").founds(through(hub_url, postgres.port, proxy))
    bo = person("bo").joins(ana.memory.team.invite("bo"))
    works(ana, home)
    ana.shares("sessions")
    proxy.cut_inside(b"copy arriving from stdin", size)

    with pytest.raises(HubUnavailable, match="cannot be used now"):
        ana.syncs()
    proxy.cut_after(None)
    before = bo.memory.team.search("basket").hits
    report = ana.memory.team.sync()
    after = [hit.kind for hit in bo.memory.team.search("basket").hits]

    assert "turn" not in [hit.kind for hit in before]
    assert report.turns == 1
    assert after.count("turn") == 1
    proxy.close()


def test_a_job_waits_longer_each_time_the_hub_is_away(
    person: Callable[..., Person], postgres: Postgres, hub_url: str
) -> None:
    """Being offline is normal: no job fails, and what waits goes with the next sync."""
    proxy = Proxy(postgres.port)
    ana = person("ana").founds(through(hub_url, postgres.port, proxy)).shares()
    ana.says("Use pnpm here, never npm")
    proxy.cut_after(0)

    ana.memory.jobs.work()
    ana.says("Deploys go out on Tuesdays only")
    ana.memory.jobs.work()
    status = ana.memory.team.status(ask=False)
    jobs = [(row.kind, row.state) for row in ana.memory.jobs.all() if row.kind == "sync"]
    proxy.cut_after(None)
    ana.syncs()

    store = ana.memory._shared.store()
    assert status.failed is not None
    assert jobs == [("sync", "waiting")] or jobs == []
    assert store.db.value("select failures from hub") == 0
    assert store.db.value("select count(*) from marks where name = 'hub is due'") <= 1
    assert ana.memory.team.status().waiting == 0
    proxy.close()
