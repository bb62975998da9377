"""Recording attempts: what goes in comes out whole, what is wrong is refused whole."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.episodes import limits
from recollect.episodes.recording import Recorder, when_full
from recollect.episodes.reward import reward
from recollect.episodes.writer import CompletedEpisode
from recollect.errors import (
    ControlCharacter,
    EpisodeCompleted,
    EpisodeRefused,
    NulCharacter,
    NumberOutOfRange,
    RecollectError,
    SettingsError,
    TooMany,
    UnknownEpisode,
    UnknownOutcome,
    WrongKind,
    WrongLength,
)
from recollect.memory import Memory
from recollect.model.episodes import Context, Ending, Episode, Step
from recollect.settings import Settings

SHOP = Context(
    language="python", domain="work", tags=("tax", "orders"), project="github.com/acme/shop"
)
STEPS = [
    Step("bash", "pytest -q", 812, 420, False, "1 failed\n32 passed"),
    Step("edit", "src/shop/tax.py", 21, 260, True, "+1 -1"),
    Step("bash", "pytest -q", success=True),
]


class Kept:
    """A place to write to that keeps batches in a list, waits
    when told to, and fails when told to.
    """

    def __init__(self) -> None:
        self.batches: list[list[CompletedEpisode]] = []
        self.fault: RecollectError | None = None
        self.go_on = threading.Event()
        self.go_on.set()

    def keep(self, batch: list[CompletedEpisode]) -> None:
        self.go_on.wait()
        if self.fault:
            raise self.fault
        self.batches.append(list(batch))

    def close(self) -> None: ...

    def leave(self) -> None: ...

    @property
    def tasks(self) -> list[str]:
        return [done.task for batch in self.batches for done in batch]


def open_memory(folder: Path, **settings: object) -> Memory:
    return Memory(
        Settings(str(folder), str(folder / "recollect.db"), {"redact.enabled": False, **settings})
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


def record(
    memory: Memory, task: str = "round the tax", *steps: Step, outcome: Ending | str = "success"
) -> str:
    """A whole attempt; its id."""
    ref = memory.episodes.start(task, SHOP)
    for step in steps:
        memory.episodes.log(ref, step)
    memory.episodes.complete(ref, outcome)
    return ref


# What goes in


def test_an_attempt_comes_back_as_it_was_recorded(memory: Memory) -> None:
    """Task, context, every step, how it ended, and what that was worth."""
    ref = memory.episodes.start("round the tax", SHOP)
    for step in STEPS:
        memory.episodes.log(ref, step)
    worth = memory.episodes.complete(
        ref, Ending("partial", result="rounds per line", error="one test left", duration_ms=61_000)
    )

    told = memory.episodes.flush()
    found = memory.episodes.get(ref)

    assert (told.kept, told.dropped) == (1, 0)
    assert found.started_at is not None
    assert found == Episode(
        ref=ref, source="live", task="round the tax", context=SHOP, outcome="partial",
        result="rounds per line",
        error="one test left", started_at=found.started_at, duration_ms=61_000, tokens=680,
        steps=STEPS,
        reward=reward("partial", STEPS, 61_000), trust="assistant",
    )  # fmt: skip
    assert worth == found.reward


@pytest.mark.parametrize(
    ("word", "outcome"),
    [(word, word) for word in ("success", "partial", "fail", "uncertain", "abandoned")]
    + [("failure", "fail"), ("abstained", "abandoned")],
)
def test_others_words_for_an_outcome_become_ours(word: str, outcome: str, memory: Memory) -> None:
    """Programs that come from elsewhere say failure and abstained."""
    ref = record(memory, outcome=word)

    memory.episodes.flush()

    assert memory.episodes.get(ref).outcome == outcome


def test_the_domain_comes_from_the_settings_unless_it_is_given(tmp_path: Path) -> None:
    """As everywhere else: a project belongs to a domain because the user says so."""
    with open_memory(tmp_path, domains={"work": ["github.com/acme/*"], "home": ["*"]}) as memory:
        left_out = memory.episodes.start("a", Context(project="github.com/acme/shop"))
        given = memory.episodes.start("b", Context(project="github.com/acme/shop", domain="tax"))
        memory.episodes.complete(left_out, "success")
        memory.episodes.complete(given, "success")
        memory.episodes.flush()

        assert [memory.episodes.get(ref).context.domain for ref in (left_out, given)] == [
            "work",
            "tax",
        ]


texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=50
)
lines = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30
).filter(str.strip)
numbers = st.none() | st.integers(0, 1_000_000)
steps = st.builds(Step, lines, texts, numbers, numbers, st.sampled_from([None, True, False]), texts)
contexts = st.builds(
    Context, language=st.none() | lines, domain=st.none() | lines, tags=st.lists(lines,
    max_size=3).map(tuple),
    project=st.none() | lines,
)  # fmt: skip
endings = st.builds(
    Ending, st.sampled_from(sorted(limits.OUTCOMES)), st.none() | texts, st.none() | texts, numbers
)


@settings(deadline=None, max_examples=50)
@given(
    task=texts.filter(str.strip),
    context=contexts,
    logged=st.lists(steps, max_size=5),
    ending=endings,
)
def test_writing_and_reading_is_identity(
    task: str,
    context: Context,
    logged: list[Step],
    ending: Ending,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever may be recorded is kept exactly, in any script."""
    with open_memory(tmp_path_factory.mktemp("home")) as memory:
        ref = memory.episodes.start(task, context)
        for step in logged:
            memory.episodes.log(ref, step)
        memory.episodes.complete(ref, ending)
        memory.episodes.flush()
        found = memory.episodes.get(ref)

    assert (found.task, found.context, found.steps) == (task, context, logged)
    assert (found.outcome, found.result, found.error) == (
        limits.OUTCOMES[ending.outcome],
        ending.result,
        ending.error,
    )
    assert ending.duration_ms is None or found.duration_ms == ending.duration_ms


# What is refused

BAD_STEPS: list[tuple[Any, type[EpisodeRefused]]] = [
    ("pytest", WrongKind),
    (Step(3), WrongKind),  # type: ignore[arg-type]
    (Step(["bash"]), WrongKind),  # type: ignore[arg-type]
    (Step(""), WrongLength),
    (Step("x" * (limits.MOST_TOOL + 1)), WrongLength),
    (Step("two\nlines"), ControlCharacter),
    (Step("bash", "rm\0"), NulCharacter),
    (Step("bash", "\x1b[31m"), ControlCharacter),
    (Step("bash", "x" * (limits.MOST_ACTION + 1)), WrongLength),
    (Step("bash", None), WrongKind),  # type: ignore[arg-type]
    (Step("bash", "a", -1), NumberOutOfRange),
    (Step("bash", "a", limits.MOST_LATENCY_MS + 1), NumberOutOfRange),
    (Step("bash", "a", 1.5), WrongKind),  # type: ignore[arg-type]
    (Step("bash", "a", True), WrongKind),
    (Step("bash", "a", 1, 10**5_000), NumberOutOfRange),
    (Step("bash", "a", 1, 1, 1), WrongKind),  # type: ignore[arg-type]
    (Step("bash", "a", 1, 1, True, "half \ud800"), ControlCharacter),
    (Step("bash", "a", 1, 1, True, "nul \0"), NulCharacter),
    (Step("bash", "a", 1, 1, True, "x" * (limits.MOST_OBSERVATION + 1)), WrongLength),
    (Step("bash", "a", 1, 1, True, b"bytes"), WrongKind),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("step", "error"), BAD_STEPS)
def test_a_step_that_cannot_be_kept_is_refused_whole(
    step: Any, error: type[EpisodeRefused], memory: Memory
) -> None:
    """With an error of its own kind that says the next step.

    The attempt goes on as if nothing had been logged.
    """
    ref = memory.episodes.start("round the tax")
    memory.episodes.log(ref, STEPS[0])

    with pytest.raises(error) as refused:
        memory.episodes.log(ref, step)
    memory.episodes.log(ref, STEPS[1])
    memory.episodes.complete(ref, "success")
    memory.episodes.flush()

    assert type(refused.value) is error
    assert refused.value.hint
    assert memory.episodes.get(ref).steps == STEPS[:2]


BAD_STARTS: list[tuple[Any, Any, type[EpisodeRefused]]] = [
    ("", None, WrongLength),
    (" \n", None, WrongLength),
    ("x" * (limits.MOST_TASK + 1), None, WrongLength),
    ("a\0b", None, NulCharacter),
    ("a\x07b", None, ControlCharacter),
    (7, None, WrongKind),
    ("a", {"language": "python"}, WrongKind),
    ("a", Context(language=3), WrongKind),  # type: ignore[arg-type]
    ("a", Context(tags=["a"]), WrongKind),  # type: ignore[arg-type]
    ("a", Context(tags=("a",) * (limits.MOST_TAGS + 1)), TooMany),
    ("a", Context(tags=("a\nb",)), ControlCharacter),
    ("a", Context(project=""), WrongLength),
    ("a", Context(domain="\0"), NulCharacter),
]


@pytest.mark.parametrize(("task", "context", "error"), BAD_STARTS)
def test_an_attempt_that_cannot_be_kept_is_not_begun(
    task: Any, context: Any, error: type[EpisodeRefused], memory: Memory
) -> None:
    """Better now than when it is written and nobody is there to be told."""
    with pytest.raises(error) as refused:
        memory.episodes.start(task, context)

    assert type(refused.value) is error
    assert refused.value.hint


BAD_ENDINGS: list[tuple[Any, type[EpisodeRefused]]] = [
    ("victory", UnknownOutcome),
    (None, WrongKind),
    (Ending(None), WrongKind),  # type: ignore[arg-type]
    (Ending("success", result="\0"), NulCharacter),
    (Ending("success", error="x" * (limits.MOST_RESULT + 1)), WrongLength),
    (Ending("success", result=b"x"), WrongKind),  # type: ignore[arg-type]
    (Ending("success", duration_ms=-1), NumberOutOfRange),
    (Ending("success", duration_ms="1"), WrongKind),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("ending", "error"), BAD_ENDINGS)
def test_a_bad_end_ends_nothing(ending: Any, error: type[EpisodeRefused], memory: Memory) -> None:
    """Whoever meant something else can say so: the attempt is still under way."""
    ref = memory.episodes.start("round the tax")

    with pytest.raises(error) as refused:
        memory.episodes.complete(ref, ending)
    memory.episodes.complete(ref, "success")

    assert type(refused.value) is error
    assert memory.episodes.flush().kept == 1


def test_an_attempt_ends_once(memory: Memory) -> None:
    """Afterwards nothing can be added, and ending it again changes nothing."""
    ref = record(memory, "round the tax", STEPS[0], outcome="success")

    with pytest.raises(EpisodeCompleted):
        memory.episodes.complete(ref, "fail")
    with pytest.raises(EpisodeCompleted):
        memory.episodes.log(ref, STEPS[1])
    memory.episodes.flush()

    assert (memory.episodes.get(ref).outcome, memory.episodes.get(ref).steps) == (
        "success",
        STEPS[:1],
    )


@pytest.mark.parametrize("ref", ["", "episode:unknown", "note:7", "episode:0-0-1"])
def test_an_id_that_nobody_was_given_is_unknown(ref: str, memory: Memory) -> None:
    """Also one of another process: attempts belong to the one that began them."""
    own = memory.episodes.start("round the tax")

    for call in (
        lambda: memory.episodes.log(ref, STEPS[0]),
        lambda: memory.episodes.complete(ref, "success"),
    ):
        with pytest.raises(UnknownEpisode):
            call()
    with pytest.raises(UnknownEpisode):
        memory.episodes.log(own[:-1] + "ff", STEPS[0])


def test_no_more_steps_and_attempts_than_memory_is_there_for(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that never ends anything is told so, and does not take the machine with it."""
    monkeypatch.setattr("recollect.episodes.recording.MOST_OPEN", 2)
    monkeypatch.setattr("recollect.episodes.recording._MOST_ITEMS", 4)
    first, _ = memory.episodes.start("a"), memory.episodes.start("b")
    memory.episodes.log(first, STEPS[0])

    with pytest.raises(TooMany):
        memory.episodes.start("c")
    with pytest.raises(TooMany):
        memory.episodes.log(first, STEPS[1])


# Threads, loops and queues


def test_every_step_that_was_taken_is_kept_whoever_ends_the_attempt(memory: Memory) -> None:
    """Threads log into one attempt while another ends it: each knows whether its
    step was taken, and those are in the row.
    """
    taken: dict[str, list[int]] = {}

    def log_on(ref: str, worker: int) -> None:
        for number in range(200):
            try:
                memory.episodes.log(
                    ref, Step("bash", f"{worker}", latency_ms=worker * 1000 + number)
                )
            except EpisodeCompleted:
                return
            taken[ref].append(worker * 1000 + number)

    refs = []
    with ThreadPoolExecutor(6) as threads:
        for _ in range(40):
            ref = memory.episodes.start("all at once")
            refs.append(ref)
            taken[ref] = []
            for worker in range(5):
                threads.submit(log_on, ref, worker)
            threads.submit(memory.episodes.complete, ref, "success").result()
    memory.episodes.flush()

    for ref in refs:
        assert sorted(step.latency_ms or 0 for step in memory.episodes.get(ref).steps) == sorted(
            taken[ref]
        )


def test_it_can_be_called_from_a_loop_and_from_its_threads(memory: Memory) -> None:
    """Logging never waits, so a coroutine calls it as it is.

    What may wait for the disk goes to a thread.
    """

    async def attempt(number: int) -> str:
        ref = memory.episodes.start(f"task {number}")
        memory.episodes.log(ref, STEPS[0])
        await asyncio.to_thread(memory.episodes.log, ref, STEPS[1])
        await asyncio.to_thread(memory.episodes.complete, ref, "success")
        return ref

    async def together() -> list[str]:
        refs = await asyncio.gather(*(attempt(number) for number in range(50)))
        await asyncio.to_thread(memory.episodes.flush)
        return refs

    refs = asyncio.run(together())

    assert [memory.episodes.get(ref).steps for ref in refs] == [STEPS[:2]] * 50


def test_what_is_complete_is_written_without_being_asked(memory: Memory) -> None:
    """A program that never flushes loses nothing but its last moment."""
    ref = record(memory)

    assert eventually(lambda: memory.episodes.get(ref).task == "round the tax")


def test_a_full_queue_makes_whoever_completes_wait() -> None:
    """Nothing is lost: the store sets the pace."""
    kept = Kept()
    recorder = Recorder(kept, most=2, when_full="block")  # type: ignore[arg-type]

    for number in range(7):
        recorder.complete(recorder.start(f"{number}"), "success")
    told = recorder.flush()

    assert sorted(kept.tasks) == [f"{number}" for number in range(7)]
    assert (told.kept, told.dropped) == (7, 0)


def test_a_full_queue_drops_the_oldest_when_that_is_wanted() -> None:
    """And says how many: whoever asked for that wants to know when it happens."""
    kept = Kept()
    kept.go_on.clear()
    recorder = Recorder(kept, most=2, when_full="drop-oldest")  # type: ignore[arg-type]
    for number in range(7):
        recorder.complete(recorder.start(f"{number}"), "success")

    kept.go_on.set()
    told = recorder.flush()

    assert kept.tasks[-2:] == ["5", "6"]
    assert told.kept == len(kept.tasks)
    assert told.kept + told.dropped == 7
    assert recorder.flush().dropped == 0


def test_what_comes_while_it_closes_is_written_by_whoever_brings_it() -> None:
    """A thread that completes an attempt at that very moment is not told
    that it is kept, and then it is lost.
    """
    kept = Kept()
    recorder = Recorder(kept, most=0, when_full="drop-oldest")  # type: ignore[arg-type]
    late = recorder.start("late")
    recorder._queue.close()

    recorder.complete(late, "success")

    assert kept.tasks == ["late"]


def test_what_cannot_be_written_waits_and_is_told() -> None:
    """A full disk today is no reason to lose what was recorded: it is
    written once there is room, in order.
    """
    kept = Kept()
    kept.fault = RecollectError("the disk is full")
    recorder = Recorder(kept, most=3, when_full="block")  # type: ignore[arg-type]
    for number in range(3):
        recorder.complete(recorder.start(f"{number}"), "success")

    with pytest.raises(RecollectError, match="full"):
        recorder.flush()
    waiting = recorder.start("3")
    with pytest.raises(RecollectError, match="full"):
        recorder.complete(waiting, "success")
    kept.fault = None
    recorder.complete(waiting, "success")
    recorder.flush()

    assert kept.tasks == ["0", "1", "2", "3"]


def test_the_setting_for_a_full_queue_is_one_of_two_words() -> None:
    """Anything else is a mistake that nobody would notice until it is too late."""
    assert [when_full(word) for word in ("block", "drop-oldest")] == ["block", "drop-oldest"]
    with pytest.raises(SettingsError, match="drop-newest"):
        when_full("drop-newest")


# The end


def test_what_is_still_under_way_at_the_end_is_kept_as_abandoned(tmp_path: Path) -> None:
    """An agent that just stops has told something too."""
    with open_memory(tmp_path) as memory:
        ref = memory.episodes.start("round the tax", SHOP)
        memory.episodes.log(ref, STEPS[0])

    with open_memory(tmp_path) as memory:
        found = memory.episodes.get(ref)

    assert (found.outcome, found.steps) == ("abandoned", STEPS[:1])


def test_a_closed_memory_can_record_again(memory: Memory) -> None:
    """As it can do anything else again: the store is opened when it is needed."""
    first = record(memory, "first")
    memory.close()
    memory.close()

    second = record(memory, "second")
    memory.episodes.flush()

    assert [memory.episodes.get(ref).task for ref in (first, second)] == ["first", "second"]
    with pytest.raises(UnknownEpisode):
        memory.episodes.complete(first, "success")


def test_a_store_that_took_the_place_of_another_gets_what_follows(
    memory: Memory, tmp_path: Path
) -> None:
    """A repair or a restored backup is another file of the same name."""
    record(memory, "before")
    memory.episodes.flush()
    for path in tmp_path.glob("recollect.db*"):
        path.unlink()

    ref = record(memory, "after")
    memory.episodes.flush()
    with open_memory(tmp_path) as other:
        assert other.episodes.get(ref).task == "after"


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something comes true in a while.

    Much longer than it should take, for busy machines.
    """
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            if holds():
                return True
        except RecollectError:
            pass
        time.sleep(0.01)
    return False
