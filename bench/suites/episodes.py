"""Recording attempts and finding earlier ones.

What is recorded in memory is compared with `uuid.uuid4()`, by the CPU time of the
thread that records: the writer beside it works for the store. Both sides are
timed over so many calls that the clock can tell, in turn. Writing is by wall
time, against appending as many bytes to a file and `fdatasync`.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import quantiles

from bench.attempts import SHOP, STEPS, TASK, WELL, Making, new_memory
from bench.measure import Figure, absolute, alternate, compared, spent, wall_seconds
from bench.plan import Plan, say
from recollect.episodes.extractors import extract as extract_from
from recollect.memory import Memory
from recollect.model.episodes import Episode, Step
from recollect.reading.signatures import step_signature

UUID = "`uuid.uuid4()`"
AT_ONCE = 200
STORED = 5_000


def figures(plan: Plan) -> list[Figure]:
    """All figures, each over a store of its own."""
    return [*in_memory(plan), extract(plan), *retrieve(plan), *durable(plan), settled(plan)]


def in_memory(plan: Plan) -> list[Figure]:
    """Beginning an attempt, logging a step, completing ten of them."""
    runs, samples = plan.runs_or(101), _Samples()
    with new_memory(plan.work / "recorded") as memory:
        samples.take(memory)
        pairs = [(samples.take(memory), _uuid()) for _ in range(runs)]
        logged_long = [(_log_long(memory), _uuid()) for _ in range(plan.runs_or(21))]
        unseen = [(_log_unseen(memory, run), _uuid()) for run in range(plan.runs_or(21))]
    names = ("start", "log", "complete")
    titles = (
        "begin an attempt, in memory",
        "log a step, in memory",
        "complete an attempt of 10 steps, in memory",
    )
    found = [
        compared(
            f"episode-{name}",
            title,
            UUID,
            [(ours[name], theirs) for ours, theirs in pairs],
            target=target,
            unit="s CPU",
        )
        for name, title, target in zip(names, titles, (0.75, 0.25, 1.5), strict=True)
    ]
    more = (
        ("episode-log-long", "log a step with an observation of 1,000 characters", logged_long),
        ("episode-log-unseen", "log a step whose tool and action were not seen before", unseen),
    )
    return found + [
        compared(name, title, UUID, samples, target=None, unit="s CPU")
        for name, title, samples in more
    ]


class _Samples:
    """The three calls, each over a block of attempts."""

    def take(self, memory: Memory) -> dict[str, float]:
        clock, refs = time.thread_time, []
        start, log, complete = memory.episodes.start, memory.episodes.log, memory.episodes.complete
        begun = clock()
        for _ in range(AT_ONCE):
            refs.append(start(TASK, SHOP))
        started = clock()
        for ref in refs:
            for step in STEPS:
                log(ref, step)
        logged = clock()
        for ref in refs:
            complete(ref, WELL)
        completed = clock()
        memory.episodes.flush()
        return {
            "start": (started - begun) / AT_ONCE,
            "log": (logged - started) / AT_ONCE / len(STEPS),
            "complete": (completed - logged) / AT_ONCE,
        }


def _uuid() -> float:
    return spent(uuid.uuid4, clock=time.thread_time, repeats=5 * AT_ONCE)


def _log_long(memory: Memory) -> float:
    ref, step = (
        memory.episodes.start(TASK, SHOP),
        Step("bash", "pytest -q", 5, 5, True, "x" * 1_000),
    )
    seconds = spent(lambda: memory.episodes.log(ref, step), clock=time.thread_time, repeats=AT_ONCE)
    memory.episodes.complete(ref, "success")
    return seconds


def _log_unseen(memory: Memory, run: int) -> float:
    ref = memory.episodes.start(TASK, SHOP)
    steps = iter(
        [Step("bash", f"pytest -q tests/test_{run}_{number}.py") for number in range(AT_ONCE)]
    )
    seconds = spent(
        lambda: memory.episodes.log(ref, next(steps)), clock=time.thread_time, repeats=AT_ONCE
    )
    memory.episodes.complete(ref, "success")
    return seconds


def extract(plan: Plan) -> Figure:
    """What one attempt of ten steps teaches.

    The names of its steps were made when they were logged.
    """
    for step in STEPS:
        step_signature(step.tool, step.action)
    episode = Episode(
        ref="episode:1", source="live", task=TASK, context=SHOP, outcome="success", steps=STEPS
    )

    def ours() -> float:
        return spent(lambda: list(extract_from(episode)), clock=time.thread_time, repeats=AT_ONCE)

    pairs = alternate(ours, _uuid, plan.runs_or(51))
    return compared(
        "episode-extract",
        "patterns of an attempt of 10 steps",
        UUID,
        pairs,
        target=12,
        unit="s CPU",
    )


def retrieve(plan: Plan) -> list[Figure]:
    """Five attempts out of five thousand, each question another one."""
    making = Making()
    with new_memory(plan.work / "retrieved") as memory:
        for _ in range(STORED):
            making.record(memory)
        memory.episodes.flush()
        first = spent(lambda: memory.episodes.retrieve(TASK), clock=time.thread_time)
        say(f"the first question reads {STORED:,} attempts: {first:.2f} s CPU")
        for _ in range(50):
            memory.episodes.retrieve(making.task(), making.context())
        seconds = [_ask(memory, making) for _ in range(plan.runs_or(1_001))]
    return [
        absolute(
            "episode-retrieve",
            "retrieve_relevant, 5,000 attempts, p50",
            seconds,
            target=0.0007,
            unit="s CPU",
        ),
        absolute(
            "episode-retrieve-first",
            "the same, the first question of a process",
            [first],
            target=None,
            unit="s CPU",
        ),
    ]


def _ask(memory: Memory, making: Making) -> float:
    task, context = making.task(), making.context()
    start = time.thread_time()
    found = memory.episodes.retrieve(task, context)
    seconds = time.thread_time() - start
    if len(found) != 5:
        raise RuntimeError(f"{task!r} found {len(found)} attempts")
    return seconds


def durable(plan: Plan) -> list[Figure]:
    """Flushing one completed attempt, and appending as many bytes to a file."""
    folder, runs = plan.work / "durable", plan.runs_or(201)
    with new_memory(folder) as memory:
        flushes = _flushes(memory)
        for _ in islice(flushes, 20):
            pass
        log = folder / "recollect.db-wal"
        before = log.stat().st_size
        for _ in islice(flushes, 20):
            pass
        # With the pages that the store changes for it, and without.
        whole, own = (log.stat().st_size - before) // 20, _row_bytes(memory)
        say(f"an attempt is {own:,} bytes, and the store writes {whole:,}")
        figures = []
        for name, title, size, target in (
            ("episode-durable", "write an attempt durably", whole, 2.5),
            ("episode-durable-row", "the same, against its own bytes alone", own, None),
        ):
            descriptor = os.open(
                folder / f"{name}.plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
            )
            pairs = alternate(
                flushes.__next__, lambda fd=descriptor, size=size: _append(fd, size), runs
            )  # type: ignore[misc]
            os.close(descriptor)
            against = f"append and `fdatasync` of {size:,} bytes"
            figures.append(compared(name, title, against, pairs, target=target, unit="s wall"))
    return figures


def settled(plan: Plan) -> Figure:
    """From completing an attempt until another connection sees it, when nobody flushes.

    The one in twenty that takes longest.
    """
    making, seconds = Making(), []
    with new_memory(plan.work / "settled") as memory:
        making.record(memory)
        memory.episodes.flush()
        with Memory(memory.settings, environ={}) as other:
            db = other._shared.store().db
            for _ in range(plan.runs_or(101)):
                ref = making.record(memory)
                start = wall_seconds()
                while db.value("select 1 from episodes where ref = ?", (ref,)) is None:
                    time.sleep(0.0005)
                seconds.append(wall_seconds() - start)
    title = "an attempt is in the store by itself, p95"
    return absolute(
        "episode-settled",
        title,
        seconds,
        target=0.05,
        unit="s wall",
        of=lambda samples: quantiles(samples, n=20)[-1],
    )


def _flushes(memory: Memory) -> Iterator[float]:
    making = Making()
    while True:
        # The writer would be faster than we are, and there would be nothing to flush.
        _without_writer(memory, lambda: making.record(memory))
        start = wall_seconds()
        told = memory.episodes.flush()
        yield wall_seconds() - start
        if told.kept != 1:
            raise RuntimeError(f"{told.kept} attempts were flushed where there should be one")


def _without_writer(memory: Memory, work: Callable[[], object]) -> None:
    recorder = memory.episodes._recorder or memory.episodes._ensure_recorder()
    recorder._queue.stirred = True
    work()


def _row_bytes(memory: Memory) -> int:
    texts = ("ref", "task", "tags", "reward_parts")
    sizes = " + ".join(f"octet_length({column})" for column in texts)
    sql = f"select avg({sizes} + length(steps)) + 60 from episodes"
    return int(memory._shared.store().db.value(sql))


def _append(descriptor: int, size: int) -> float:
    data = os.urandom(size)
    start = wall_seconds()
    os.write(descriptor, data)
    os.fdatasync(descriptor)
    return wall_seconds() - start
