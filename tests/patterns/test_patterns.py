"""What recurs over sessions and agents, from their logs to what is detected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.habits import AGENTS, HABITS, Session, edit, make_world, run
from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.episodes import Step
from recollect.patterns import learning
from recollect.store.sqlite.old.sql import signals
from tests.builders.worlds import World, session

LOCK = "Error acquiring the state lock"
NOT_FOUND = "bash: docker-compose: command not found"
INSTEAD, LOCKED = (
    "docker-compose up => docker compose up",
    "terraform plan ! locked by another process",
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def compose(number: int, **more: Any) -> Session:
    """A session in which one command fails and another works instead."""
    return session(
        number, run("docker-compose up", NOT_FOUND, 127), run("docker compose up"), **more
    )


def locked(number: int, **more: Any) -> Session:
    """A session in which a command fails, and that is that."""
    return session(number, run("terraform plan", LOCK, 1), **more)


def signatures(world: World) -> dict[str, int]:
    """What is detected, with how many sessions show it."""
    return {pattern.signature: pattern.sessions for pattern in world.patterns()}


def test_planted_patterns_are_found_with_their_evidence(world: World) -> None:
    """All of them, in three agents, among four times as much that means nothing."""
    made = make_world(120, habits=HABITS)
    world.see(made)

    found = {(one.kind, one.signature): one for one in world.memory.old.detect(limit=None)}
    planted = {
        (habit.kind, habit.signature): {
            one.ref for one in made if (habit.kind, habit.signature) in one.planted
        }
        for habit in HABITS
    }

    assert len(planted) == len(HABITS)
    assert found.keys() == planted.keys()
    for key, carriers in planted.items():
        assert found[key].sessions == len(carriers)
        assert {sighting.ref.partition("#")[0] for sighting in found[key].evidence} <= carriers


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_noise_has_no_patterns(world: World, seed: int) -> None:
    """The same commands in any order, failing at random: whoever finds
    something in it would find something anywhere.
    """
    world.see(make_world(120, seed=seed))

    assert world.patterns() == []


def test_what_three_sessions_show_is_a_pattern(world: World) -> None:
    """Two are an anecdote."""
    world.see([compose(1), compose(2)])
    before = signatures(world)

    world.see([compose(3)])

    assert (before, signatures(world)) == ({}, {INSTEAD: 3})


def test_what_several_agents_share_stands_first(world: World) -> None:
    """It is about the project, and not about an agent's ways."""
    alone = [locked(number) for number in range(1, 9)]
    shared = [compose(20 + number, agent=agent) for number, agent in enumerate(AGENTS)]
    world.see([*alone, *shared])

    found = [
        (pattern.signature, pattern.cross_agent, pattern.agents) for pattern in world.patterns()
    ]

    assert found == [(INSTEAD, True, sorted(AGENTS)), (LOCKED, False, ["scribe"])]


def test_a_pattern_says_where_it_was_seen(world: World) -> None:
    """A person who doubts it can look."""
    made = [compose(number, project=f"/srv/shop{number}") for number in (1, 2, 3)]
    world.see(made)

    (found,) = world.patterns()

    assert [one.ref for one in found.evidence] == [f"{one.ref}#2" for one in reversed(made)]
    assert (found.projects, found.went_well, found.went_wrong) == (
        ["/srv/shop1", "/srv/shop2", "/srv/shop3"],
        3,
        0,
    )
    assert found.sentence == "`docker-compose up` fails here; `docker compose up` works instead."
    assert (found.first_at, found.last_at) == (found.evidence[-1].at, found.evidence[0].at)


def test_sub_agents_count_with_their_session(world: World) -> None:
    """One session that hands the same work to three others is still one."""
    first = locked(1)
    world.see([first, *(locked(number, parent=first.native_id) for number in (2, 3, 4))])
    before = signatures(world)

    world.see([locked(5), locked(6)])

    assert (before, signatures(world)) == ({}, {LOCKED: 3})


def test_sub_agents_count_together_before_their_session_is_known(world: World) -> None:
    """Logs come in any order, and some never come."""
    parent = locked(1)
    children = [locked(number, parent=parent.native_id) for number in (2, 3, 4)]

    world.see([*children, locked(5), locked(6)])
    before = signatures(world)
    world.see([parent])

    assert (before, signatures(world)) == ({LOCKED: 3}, {LOCKED: 3})


def test_a_forgotten_session_takes_its_evidence_along(world: World) -> None:
    """What nobody may know any more is no evidence; a candidate without enough of it is gone."""
    made = [compose(number) for number in (1, 2, 3)]
    world.see(made)

    world.memory.store.forget(made[1].ref)

    assert signatures(world) == {}
    assert world.memory.old.patterns() == []


def test_what_a_person_decided_about_stays_when_the_evidence_gets_thin(world: World) -> None:
    """It was looked at, and its history is kept; what it says of itself is how few are left."""
    made = [compose(number) for number in (1, 2, 3)]
    world.see(made)
    (found,) = world.patterns()
    world.memory.old.accept_pattern(found.id)

    world.memory.store.forget(made[1].ref)

    (kept,) = world.memory.old.patterns()
    assert (kept.id, kept.status, kept.sessions) == (found.id, "accepted", 2)


def test_what_a_person_put_aside_is_not_detected(world: World) -> None:
    """They have seen it."""
    world.see([compose(number) for number in (1, 2, 3)])
    (found,) = world.patterns()

    world.memory.old.reject_pattern(found.id)

    assert world.patterns() == []


def test_a_session_that_grew_is_learned_from_again(world: World) -> None:
    """What it showed before is not counted twice."""
    made = [compose(number) for number in (1, 2, 3)]
    world.see(made)
    made[0].turns += compose(1).turns

    world.see(made)

    assert signatures(world) == {INSTEAD: 3}


def test_what_was_seen_stays_when_events_are_let_go(world: World) -> None:
    """Retention takes raw events first; what was learned of them is what they were kept for."""
    made = [compose(number) for number in (1, 2, 3)]
    world.see(made)
    store = world.memory._shared.store()
    turns = [turn for (turn,) in store.db.rows("select id from turns")]
    store.evictions.evict(turns)
    with store.transaction():
        store.db.execute("insert or replace into unlearned select id, 1 from sessions")

    world.learn()

    assert signatures(world) == {INSTEAD: 3}


def test_a_selection_is_detected_as_if_there_were_nothing_else(tmp_path: Path) -> None:
    """`--agent codex` answers what a store with the sessions of that agent alone would."""
    shared = [compose(number, agent=agent) for number, agent in enumerate(AGENTS * 4)]
    own = [locked(50 + number, agent="codex") for number in range(4)]
    every = World(tmp_path / "every").see([*shared, *own])
    alone = World(tmp_path / "alone").see([one for one in [*shared, *own] if one.agent == "codex"])

    chosen = list(every.memory.old.detect(agent="codex", limit=None))

    assert [(one.id, one.sessions, one.agents, one.evidence) for one in chosen] == [
        (one.id, one.sessions, one.agents, one.evidence) for one in alone.patterns()
    ]
    assert len(chosen) == 2


def test_a_project_and_a_time_can_be_chosen(world: World) -> None:
    """Each with its own evidence, and nothing of the others."""
    here = [compose(number) for number in (1, 2, 3)]
    there = [compose(number, project="/srv/other") for number in (11, 12, 13, 14)]
    world.see([*here, *there])

    (found,) = world.memory.old.detect(project="/srv/shop")
    (later,) = world.memory.old.detect(since="2026-01-01T20:00")

    assert (found.sessions, found.projects) == (3, ["/srv/shop"])
    assert (later.sessions, later.projects) == (4, ["/srv/other"])


def test_fewer_sessions_than_usual_bring_what_may_be_chance(world: World) -> None:
    """Somebody who asks for less certainty gets it; somebody who asks for more, too."""
    world.see([compose(1), compose(2)])

    assert [(one.kind, one.sessions) for one in world.memory.old.detect(min_frequency=2)] == [
        ("decision_point", 2),
        ("failure", 2),
    ]
    assert list(world.memory.old.detect(min_frequency=4)) == []


def test_a_time_that_is_none_is_refused(world: World) -> None:
    """A filter that silently does nothing would answer another question."""
    world.see([compose(1)])

    with pytest.raises(UsageError, match='"soon" is not a date'):
        world.memory.old.detect(since="soon")


def test_a_secret_in_a_name_takes_its_patterns_along(world: World) -> None:
    """What the table of secrets did not know when it was imported is
    found later, wherever it got to.
    """
    secret = "sk-live-4f9a8b7c"
    world.see(
        [session(number, run(f"pricer {secret}", "connection refused", 1)) for number in (1, 2, 3)]
    )
    before = signatures(world)
    db = world.memory._shared.store().db

    with db.transaction():
        changed = signals.redact(db, Known(secret))

    assert (before, changed) == ({f"pricer {secret} ! connection refused": 3}, 3)
    assert signatures(world) == {}
    for table, column in (
        ("signals", "signature"),
        ("occasions", "name"),
        ("tallies", "signature"),
        ("patterns", "signature"),
    ):
        assert db.value(f"select count(*) from {table} where instr({column}, ?)", (secret,)) == 0


class Known:
    """A redactor that knows one secret."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        return [
            text.replace(self.secret, "[secret]") if self.secret in text else text for text in texts
        ]


def test_advice_that_fails_is_retired(world: World) -> None:
    """Every later outcome counts: what helped three times and
    then failed five times is no advice.
    """
    bad = (
        run("docker-compose up", NOT_FOUND, 127),
        run("docker compose up", "no space left on device", 1),
    )
    world.see([compose(number) for number in (1, 2, 3)])
    (before,) = world.memory.old.heuristics()

    world.memory.old.accept_pattern(before.patterns[0])
    world.see([session(number, *bad) for number in range(10, 15)])

    assert (before.condition, before.action) == (
        "before running `docker-compose up`",
        "run `docker compose up` instead",
    )
    assert (before.held, before.failed, before.status, before.confidence) == (
        3,
        0,
        "active",
        0.4385,
    )
    assert world.memory.old.heuristics() == []
    assert [
        (one.held, one.failed, one.status) for one in world.memory.old.heuristics(everything=True)
    ] == [(3, 5, "retired")]
    assert INSTEAD not in signatures(world)


def test_what_waits_is_learned_by_the_next_work(world: World) -> None:
    """Import leaves a job behind; whoever works does it, and nobody waits for it."""
    world.take_in([compose(number) for number in (1, 2, 3)])
    before = world.memory._shared.store().old.count_unlearned()

    world.memory.jobs.work()

    assert (before, signatures(world)) == (0, {INSTEAD: 3})
    assert "learn" not in {job.kind for job in world.memory.jobs.all()}


def test_detecting_says_how_many_sessions_wait(world: World) -> None:
    """Otherwise an empty answer would be taken for a no."""
    world.take_in([compose(number) for number in (1, 2, 3)])
    for _ in world.memory.digest_new():
        pass

    assert world.memory.old.detect().remarks == [
        "New sessions: 3. To look for patterns in them now: recollect learn"
    ]


def told(memory: Memory) -> list[object]:
    """Everything that anybody is told about patterns and heuristics."""
    return [
        *memory.old.detect(limit=None),
        *memory.old.patterns(),
        *memory.old.heuristics(everything=True),
    ]


SMALL = [
    *(compose(number, agent=AGENTS[number % 3]) for number in range(1, 5)),
    *(locked(number, agent=AGENTS[number % 3]) for number in range(5, 9)),
    *(
        session(number, edit("/srv/shop/main.tf"), run("terraform validate"))
        for number in range(9, 12)
    ),
    *(compose(number, parent=session(1).native_id) for number in range(12, 14)),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """What is told when all of them came at once."""
    return told(World(tmp_path_factory.mktemp("whole")).see(SMALL).memory)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.permutations(range(len(SMALL))),
    st.lists(st.integers(1, len(SMALL) - 1), max_size=3),
    st.data(),
)
def test_order_restarts_and_repetition_change_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    whole: list[object],
    order: list[int],
    breaks: list[int],
    data: st.DataObject,
) -> None:
    """The same sessions come to the same patterns, however they came in
    and wherever a run was stopped.
    """
    other = World(tmp_path_factory.mktemp("other"))

    for start, end in zip([0, *sorted(breaks)], [*sorted(breaks), len(order)], strict=True):
        other.take_in(
            [
                SMALL[number]
                for number in order[: end if data.draw(st.booleans()) else start] + order[start:end]
            ]
        )
        for _ in other.memory.digest_new():
            pass
        steps = other.memory.old.learn()
        for _ in range(data.draw(st.integers(0, 3))):
            next(steps, None)
        steps.close()  # type: ignore[attr-defined]
        other.reopen()
    other.learn()

    assert told(other.memory) == whole
    assert len(whole) > 4


def test_another_way_of_looking_looks_at_everything_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever upgrades gets what the new rules see in the sessions that are stored already."""
    world.see([compose(number) for number in (1, 2, 3)])
    monkeypatch.setattr(learning, "LOOKING", 2)

    waiting = world.memory.old.detect().remarks
    world.learn()

    assert waiting == ["New sessions: 3. To look for patterns in them now: recollect learn"]
    assert signatures(world) == {INSTEAD: 3}


def test_attempts_that_were_recorded_are_evidence_like_sessions(world: World) -> None:
    """Each counts as one, on its agent's word; nothing is learned from it twice."""
    world.take_in([])
    for attempt in range(3):
        filler = [Step("terminal", f"tool{attempt}-{number}", success=True) for number in range(12)]
        ref = world.memory.episodes.start("start the shop")
        failed = Step("terminal", "docker-compose up", success=False, observation=NOT_FOUND)
        for step in (*filler, failed, Step("Bash", "docker compose up", success=True)):
            world.memory.episodes.log(ref, step)
        world.memory.episodes.complete(ref, "success")
    world.memory.episodes.flush()

    first, second = [[*world.memory.old.learn()][-1] for _ in range(2)]

    (found,) = world.patterns()
    assert (first.episodes, second.episodes) == (3, 0)
    assert (found.signature, found.sessions, found.trust, found.agents) == (
        INSTEAD,
        3,
        "assistant",
        [],
    )
    assert len({sighting.ref for sighting in found.evidence}) == 3
