"""Earlier attempts that bear on a task: found by meaning and context, and explained."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.episodes.retrieve import HALF_LIFE_MS
from recollect.errors import NulCharacter, NumberOutOfRange, WrongKind
from recollect.memory import Memory
from recollect.model.episodes import Context, Episode, EpisodeHit, Reward
from recollect.model.sessions import Outcome
from recollect.settings import Settings
from recollect.system.clock import iso, now_ms
from tests.builders.talks import Said, Talks

DAY = 86_400_000
NOWHERE = Context()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(
        Settings(str(tmp_path), str(tmp_path / "recollect.db"), {"redact.enabled": False})
    ) as opened:
        yield opened


def put(
    memory: Memory,
    task: str,
    *,
    worth: float = 0.5,
    days: float = 0,
    outcome: Outcome = "success",
    context: Context = NOWHERE,
) -> str:
    """An attempt of some age and worth; its reference."""
    ref = f"episode:{task}-{worth}-{days}-{outcome}"
    parts = Reward(total=worth, outcome=worth, efficiency=0, complexity=0, quality=0)
    at = iso(now_ms() - int(days * DAY))
    episode = Episode(
        ref=ref,
        source="live",
        task=task,
        context=context,
        outcome=outcome,
        started_at=at,
        reward=parts,
    )
    memory._shared.ensure_store().episodes.keep([episode])
    return ref


def refs(hits: list[EpisodeHit]) -> list[str]:
    return [hit.episode.ref for hit in hits]


def test_the_most_alike_comes_first_and_what_is_not_alike_not_at_all(memory: Memory) -> None:
    """However recent and however good it was."""
    put(memory, "bake a loaf of sourdough bread", worth=1.0)
    alike = put(memory, "round the sales tax of an order", days=90, worth=0.2)
    same = put(memory, "round the sales tax of each order line", days=90, worth=0.2)

    found = memory.episodes.retrieve("round the sales tax of each order line")

    assert refs(found) == [same, alike]


def test_of_equals_what_went_better_comes_first(memory: Memory) -> None:
    """It is the one to follow."""
    worse, better = (
        put(memory, "round the tax", worth=0.0, outcome="fail"),
        put(memory, "round the tax", worth=0.9),
    )

    assert refs(memory.episodes.retrieve("round the tax")) == [better, worse]


def test_of_equals_the_newer_comes_first(memory: Memory) -> None:
    """What worked a year ago may not any more; thirty days halve what age gives."""
    old, new = put(memory, "round the tax", days=30), put(memory, "round the tax", days=0)

    found = memory.episodes.retrieve("round the tax")

    assert refs(found) == [new, old]
    assert [hit.parts["recency"] for hit in found] == pytest.approx([0.1, 0.05], abs=0.001)
    assert HALF_LIFE_MS == 30 * DAY


@pytest.mark.parametrize(
    "context",
    [
        Context(project="/home/ada/shop"),
        Context(language="Python"),
        Context(domain="work"),
        Context(tags=("tax", "unheard of")),
        Context(project="/home/ada/shop", language="python", domain="work", tags=("tax",)),
    ],
)
def test_of_equals_what_shares_the_context_comes_first(context: Context, memory: Memory) -> None:
    """Only what the asker names counts, each part by its own weight."""
    own = Context(
        project="/home/ada/shop", language="python", domain="work", tags=("tax", "orders")
    )
    put(
        memory,
        "round the tax",
        worth=0.5,
        context=Context(project="/home/bob/x", language="go", domain="play", tags=("css",)),
    )
    put(memory, "round the tax", worth=0.51)
    here = put(memory, "round the tax", worth=0.49, context=own)

    first, *others = memory.episodes.retrieve("round the tax", context)

    assert first.episode.ref == here
    assert first.parts["context"] == pytest.approx(0.1 if len(context.tags) == 2 else 0.2)
    assert [hit.parts["context"] for hit in others] == [0, 0]


def test_a_hit_says_why(memory: Memory) -> None:
    """In numbers that add up to its score, and in words for whoever reads it."""
    put(
        memory,
        "round the tax",
        days=14.5,
        worth=0.4,
        outcome="partial",
        context=Context(language="go", tags=("b", "a"), project="p"),
    )

    (hit,) = memory.episodes.retrieve("round the tax", Context(language="go", tags=("a", "b", "c")))

    assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=0.001)
    assert hit.parts["meaning"] == pytest.approx(0.55, abs=0.001)
    assert (
        hit.why
        == "nearly the same task; same language and tags a, b; went partly well; 2 weeks ago"
    )


def test_no_more_than_were_asked_for(memory: Memory) -> None:
    """Five unless said otherwise."""
    for number in range(12):
        put(memory, f"round the tax of order {number}")

    counts = [
        len(memory.episodes.retrieve("round the tax of an order", limit=limit))
        for limit in (1, 5, 100)
    ]

    assert counts == [1, 5, 12]
    assert len(memory.episodes.retrieve("round the tax of an order")) == 5


def test_what_is_new_or_gone_is_noticed(memory: Memory) -> None:
    """By this process or another: a question never answers with what was forgotten."""
    first = put(memory, "round the tax")
    before = refs(memory.episodes.retrieve("round the tax"))
    with Memory(memory.settings) as other:
        second = put(other, "round the tax, again")
        other.episodes.forget(first)

    assert before == [first]
    assert refs(memory.episodes.retrieve("round the tax")) == [second]


def test_a_project_is_found_by_all_its_names(memory: Memory) -> None:
    """Merging two shows their attempts under one name."""
    put(memory, "round the tax", context=Context(project="/home/ada/old"))
    put(memory, "round the tax!", context=Context(project="/home/ada/shop"))
    memory.projects.merge("/home/ada/old", "/home/ada/shop")

    found = memory.episodes.retrieve("round the tax", Context(project="/home/ada/old"))

    assert [hit.parts["context"] for hit in found] == pytest.approx([0.2, 0.2])
    assert [hit.episode.context.project for hit in found] == ["/home/ada/shop"] * 2


def test_a_copy_of_a_task_in_a_fork_is_told_once(tmp_path: Path) -> None:
    """Forks repeat the turns of the session they come from; that is one attempt."""
    talks = Talks(tmp_path)
    turn = Said("round the sales tax of an order", command="pytest -q", output="1 passed", key="k")
    talks.tell("a", turn).tell("b", turn)
    talks.memory.jobs.work()

    found = talks.memory.episodes.retrieve("round the sales tax of an order")
    talks.close()

    assert refs(found) in (["codex:a#1"], ["codex:b#1"])
    assert found[0].episode.source == "derived"


def test_any_thread_may_ask_while_others_record(memory: Memory) -> None:
    """A server answers several agents at once."""

    def work(number: int) -> list[EpisodeHit]:
        memory.episodes.complete(memory.episodes.start(f"round the tax {number}"), "success")
        return memory.episodes.retrieve("round the tax", limit=100)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(60)))
    memory.episodes.flush()

    assert len(memory.episodes.retrieve("round the tax", limit=100)) == 60


def test_a_question_that_makes_no_sense_is_refused(memory: Memory) -> None:
    """As what is recorded would be."""
    with pytest.raises(NulCharacter):
        memory.episodes.retrieve("a\0b")
    with pytest.raises(WrongKind):
        memory.episodes.retrieve("a", "python")  # type: ignore[arg-type]
    for limit in (0, 101, True, "5"):
        with pytest.raises(NumberOutOfRange):
            memory.episodes.retrieve("a", limit=limit)  # type: ignore[arg-type]
