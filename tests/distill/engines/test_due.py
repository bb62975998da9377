"""An engine is asked seldom: about idle projects with enough that is new, within the day's caps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.distill.engines.due import obstacle, write_due
from recollect.errors import EngineUnavailable
from recollect.memory import Memory
from recollect.model.engines import EngineRun, Reply
from recollect.settings import Settings
from recollect.store import Store
from tests.builders import homes
from tests.builders.work import Work

SHOP = "/home/ada/shop"
ANSWER = """```MEMORY
## Preferences
- "only use pnpm here, never npm" [0001#1]
```
```PACK
## Preferences
- "only use pnpm here, never npm" [0001#1]
```"""


class Counted:
    """An engine that counts how often it was asked."""

    name, model = "counted", "tiny"

    def __init__(self, failing: bool = False) -> None:
        self.times, self.failing = 0, failing

    def ask(self, instructions: str, text: str) -> Reply:
        self.times += 1
        if self.failing:
            raise EngineUnavailable("429", passing=True)
        return Reply(ANSWER, 20_000, 1_000)


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with homes.memory(home) as memory:
        work = Work(1, cwd=SHOP).ask("only use pnpm here, never npm").done("Ok.")
        work.ask("and the cart?").done("Built.").ask("thanks").done("Bye.")
        homes.claude_log(home, work.talk)
        memory.import_logs()
        yield memory


def store_of(memory: Memory) -> Store:
    return memory._shared.store()


def settings(**changed: Any) -> Settings:
    return Settings("/h", "/h/s.db", {key.replace("__", "."): one for key, one in changed.items()})


def run(memory: Memory, engine: Counted | None, **changed: Any) -> list[str]:
    store = store_of(memory)
    redactor = memory._shared.redactor(store)
    return list(write_due(store, settings(**changed), engine, redactor, None))


def test_a_project_that_was_left_alone_is_written_about_once(memory: Memory) -> None:
    engine = Counted()

    assert run(memory, engine) == [SHOP]
    assert run(memory, engine) == []
    assert engine.times == 1


def test_without_an_engine_nothing_happens(memory: Memory) -> None:
    assert run(memory, None) == []


def test_a_project_that_is_worked_on_waits(memory: Memory) -> None:
    """What was said a minute ago may be taken back in the next."""
    engine = Counted()

    assert run(memory, engine, distill__idle_hours=24 * 366 * 100) == []
    assert engine.times == 0


@pytest.mark.parametrize(
    ("cap", "why"),
    [
        ({"distill__runs_per_day": 0}, "distill.runs_per_day"),
        ({"distill__tokens_per_day": 20_000}, "distill.tokens_per_day"),
    ],
)
def test_a_cap_of_the_day_holds_before_anybody_is_asked(
    memory: Memory, cap: dict[str, Any], why: str
) -> None:
    engine = Counted()

    assert run(memory, engine, **cap) == []
    assert engine.times == 0
    assert why in obstacle(store_of(memory), settings(**cap))


def test_what_was_spent_counts_for_a_day(memory: Memory) -> None:
    spent = EngineRun(
        project=SHOP, engine="counted", outcome="kept", tokens_in=90_000, cost_usd=2.0
    )
    store_of(memory).engine_runs.add(spent)

    assert "90,000 tokens" in obstacle(store_of(memory), settings())
    told = obstacle(store_of(memory), settings(distill__tokens_per_day=0))
    assert "2.00 dollars" in told


def test_after_a_failure_the_next_try_waits_longer_each_time(memory: Memory) -> None:
    """A service that is down is not asked with every import."""
    engine = Counted(failing=True)

    run(memory, engine)
    run(memory, engine)

    assert engine.times == 1
    assert "the next try is in 15 minutes" in obstacle(store_of(memory), settings())
    store_of(memory).db.execute("update engine_runs set at = at - 16 * 60000")
    run(memory, engine)
    assert engine.times == 2
    assert "30 minutes" in obstacle(store_of(memory), settings())


def test_only_one_is_asked_at_a_time(memory: Memory) -> None:
    store_of(memory).leases.take("engine")
    engine = Counted()

    assert run(memory, engine) == []
    assert engine.times == 0


def test_the_engine_of_the_settings_is_known_or_named(memory: Memory) -> None:
    """A slip in the settings is said by doctor, and stops nothing."""
    assert memory.engines.name() == "none"
    assert memory.engines.health() is None
    assert memory.engines.open_writer() is None
