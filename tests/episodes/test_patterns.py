"""What recurs over attempts, and what follows from it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from recollect.episodes.patterns import patterns_in
from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.episodes import Context, Episode, Pattern, Step
from recollect.model.sessions import Outcome
from recollect.settings import Settings

NOT_FOUND = "bash: docker-compose: command not found"
LOCK = "Error acquiring the state lock"
INSTEAD = "docker-compose up => docker compose up"
LOCKED = "terraform plan ! locked by another process"


def run(command: str, output: str = "", code: int = 0) -> Step:
    return Step("Bash", command, success=code == 0, observation=output)


def attempt(
    number: int, *steps: Step, agent: str | None = "claude-code", outcome: Outcome = "success"
) -> Episode:
    """An attempt in which something else is done, then these things."""
    filler = [run(f"tool{number}-{part}") for part in range(12)]
    return Episode(
        ref=f"episode:{number}", source="live", task=f"task {number}", agent=agent,
        context=Context(project="/srv/shop"), outcome=outcome, steps=[*filler, *steps],
        started_at=f"2026-01-{number:02}T09:00:00.000Z",
    )  # fmt: skip


def compose(number: int, *, agent: str | None = "claude-code") -> Episode:
    """An attempt in which one command fails and another works instead."""
    steps = run("docker-compose up", NOT_FOUND, 127), run("docker compose up")
    return attempt(number, *steps, agent=agent)


def locked(number: int) -> Episode:
    """An attempt in which a command fails, and that is that."""
    return attempt(number, run("terraform plan", LOCK, 1))


def found_in(episodes: Iterable[Episode], frequency: int = 3) -> list[Pattern]:
    return patterns_in(((one.ref, one) for one in episodes), frequency=frequency)


def test_what_three_attempts_show_is_a_pattern() -> None:
    """Two are an anecdote, unless somebody asks for those."""
    seen = [compose(1), compose(2)]

    assert found_in(seen) == []
    assert INSTEAD in [one.signature for one in found_in(seen, 2)]
    assert [(one.signature, one.sessions) for one in found_in([*seen, compose(3)])] == [
        (INSTEAD, 3)
    ]


def test_what_several_agents_share_stands_first() -> None:
    """It is about the project, and not about an agent's ways."""
    agents = ("claude-code", "codex", "gemini-cli")
    alone = [locked(number) for number in range(1, 9)]
    shared = [compose(20 + place, agent=agent) for place, agent in enumerate(agents)]

    found = [(one.signature, one.cross_agent, one.agents) for one in found_in([*alone, *shared])]

    assert found == [(INSTEAD, True, sorted(agents)), (LOCKED, False, ["claude-code"])]


def test_a_pattern_says_where_it_was_seen() -> None:
    """A person who doubts it can look."""
    (found,) = found_in([compose(1), compose(2), compose(3)])

    assert found.evidence == ["episode:3", "episode:2", "episode:1"]
    assert (found.projects, found.went_well, found.went_wrong) == (["/srv/shop"], 3, 0)
    assert found.sentence == "`docker-compose up` fails here; `docker compose up` works instead."
    assert (found.first_at, found.last_at) == (
        "2026-01-01T09:00:00.000Z",
        "2026-01-03T09:00:00.000Z",
    )


def test_the_sub_agents_of_a_session_count_with_it() -> None:
    """Ten of them that do the same were told the same."""
    assert patterns_in([("codex:a", compose(number)) for number in range(1, 10)]) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_noise_has_no_patterns(seed: int) -> None:
    """The same commands in any order, failing at random: whoever finds something in it would
    find something anywhere.
    """
    chance = random.Random(seed)
    commands = [f"{tool} {verb}" for tool in ("npm", "flask", "cargo", "terraform", "helm")
                for verb in ("build", "lint", "deploy", "seed")]  # fmt: skip

    def steps() -> Iterable[Step]:
        for _ in range(30):
            fails = chance.random() < 0.15
            yield run(chance.choice(commands), "boom: no such file" if fails else "ok", fails)

    episodes = [
        attempt(number, *steps(), outcome=chance.choice(("success", "fail", "uncertain")))
        for number in range(1, 60)
    ]

    assert found_in(episodes) == []


def test_a_heuristic_says_what_to_do_when_and_how_often_that_held(tmp_path: Path) -> None:
    """Worked out from what is stored at the moment, without a job."""
    settings = Settings(str(tmp_path), str(tmp_path / "recollect.db"), {})
    with Memory(settings) as memory:
        for number in range(3):
            episode = memory.episodes.start(f"bring the shop up {number}", Context())
            for step in compose(number + 1).steps:
                memory.episodes.log(episode, step)
            memory.episodes.complete(episode, "success")

        (found,) = memory.episodes.heuristics()

        assert (found.condition, found.action) == (
            "before running `docker-compose up`",
            "run `docker compose up` instead",
        )
        assert (found.held, found.failed, found.status) == (3, 0, "active")
        assert memory.episodes.patterns(agent="codex") == []
        with pytest.raises(UsageError):
            memory.episodes.patterns(since="banana")


def test_advice_that_fails_is_retired(tmp_path: Path) -> None:
    """It is told only when everything is asked for."""
    settings = Settings(str(tmp_path), str(tmp_path / "recollect.db"), {})
    with Memory(settings) as memory:
        for number in range(4):
            episode = memory.episodes.start(f"bring the shop up {number}", Context())
            memory.episodes.log(episode, run("docker-compose up", NOT_FOUND, 127))
            memory.episodes.log(episode, run("docker compose up", "boom", 1))
            memory.episodes.complete(episode, "fail")

        assert memory.episodes.heuristics() == []
        (found,) = memory.episodes.heuristics(everything=True)
        assert (found.held, found.failed, found.status) == (0, 4, "retired")
