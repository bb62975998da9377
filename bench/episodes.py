"""The episode store under work: `python bench/episodes.py [--quick] [--only NAME]`.

Mixes A to F in the manner of YCSB, by threads and by users; steady, bursting
and growing load with peak memory; a hundred to a hundred thousand attempts;
questions of one to a thousand words; batches of one to a thousand attempts.
Each gives p50 and p95, operations a second and bytes written for each operation
(of `growth`: bytes that stay), as lines, as a JSON file and as a page with plots
in bench/results. Numbers here are those of one machine on one day: what we
claim is in `python -m bench episodes`.

| mix | operations |
|---|---|
| A | half reads of an attempt, half steps logged |
| B | 95 % reads, 5 % steps logged |
| C | reads |
| D | 95 % reads of the newest, 5 % attempts recorded |
| E | 95 % questions for five relevant ones, 5 % attempts recorded |
| F | half reads, half questions each followed by an attempt recorded |
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # A script finds what is beside it; the project is one folder up.
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.attempts import STEPS, Making, new_memory  # noqa: E402
from bench.clocks import peak_bytes, written_bytes  # noqa: E402
from bench.measure import machine  # noqa: E402
from bench.page import _STYLE as STYLE  # noqa: E402
from bench.plots import curves, short  # noqa: E402
from recollect.memory import Memory  # noqa: E402

RESULTS = ROOT / "bench" / "results"
MIXES = {
    "A": {"read": 0.5, "log": 0.5},
    "B": {"read": 0.95, "log": 0.05},
    "C": {"read": 1.0},
    "D": {"newest": 0.95, "record": 0.05},
    "E": {"retrieve": 0.95, "record": 0.05},
    "F": {"read": 0.5, "retrieve and record": 0.5},
}
THREADS, USERS = (1, 4, 8, 16), (1, 5, 10, 50)


@dataclass
class Row:
    """What one stretch of work came to.

    Times in seconds of wall clock. `x` is what the stretch varies.
    """

    part: str
    name: str
    x: float
    operations: int
    p50: float
    p95: float
    rate: float
    bytes_each: float = 0.0
    peak_bytes: int = 0
    more: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        peak = f"  peak {self.peak_bytes / 1e6:,.0f} MB" if self.peak_bytes else ""
        more = "".join(f"  {name} {short(value)}" for name, value in self.more.items())
        return (
            f"{self.part:8} {self.name:24} {short(self.x):>6}  p50 {self.p50 * 1e6:>10,.1f} µs  "
            f"p95 {self.p95 * 1e6:>10,.1f} µs"
            f"  {self.rate:>9,.0f}/s  {self.bytes_each:>8,.0f} B{peak}{more}"
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the work, up to 10,000 attempts"
    )
    parser.add_argument("--only", choices=sorted(PARTS), help="one part alone")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder for the results (default: bench/results)"
    )
    parser.add_argument("--shape", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.shape:
        print(json.dumps(asdict(_shape(args.shape, quick=args.quick))))
        return 0
    rows: list[Row] = []
    for name in [args.only] if args.only else PARTS:
        for row in PARTS[name](args.quick):
            rows.append(row)
            print(row, flush=True)
    print(_written(rows, args.out))
    return 0


# Mixes


def by_threads(quick: bool) -> Iterator[Row]:
    """Every mix, by how many threads work at once."""
    with _filled(500 if quick else 5_000) as work:
        for mix in MIXES:
            for threads in THREADS:
                yield work.mixed(
                    "threads", mix, threads=threads, users=10, operations=400 if quick else 4_000
                )


def by_users(quick: bool) -> Iterator[Row]:
    """Every mix on four threads, by how many users' projects there are."""
    for users in USERS:
        with _filled(500 if quick else 5_000, users=users) as work:
            for mix in MIXES:
                row = work.mixed(
                    "users", mix, threads=4, users=users, operations=400 if quick else 4_000
                )
                row.x = users
                yield row


class _Work:
    """A store with attempts, and operations on it.

    Recording and asking share one memory; each thread reads with its own.
    """

    def __init__(self, memory: Memory, refs: list[str]) -> None:
        self.memory, self.refs = memory, refs

    def mixed(self, part: str, mix: str, *, threads: int, users: int, operations: int) -> Row:
        samples: list[list[float]] = [[] for _ in range(threads)]
        before, gate = written_bytes(), threading.Barrier(threads + 1)

        def work(number: int) -> None:
            chance, making = random.Random(number), Making(number)
            with Memory(self.memory.settings, environ={}) as own:
                doings = self._doings(own, chance, making, users)
                names, weights = list(MIXES[mix]), list(MIXES[mix].values())
                plan = chance.choices(
                    [doings[name] for name in names], weights, k=operations // threads
                )
                gate.wait()
                for do in plan:
                    start = time.perf_counter()
                    do()
                    samples[number].append(time.perf_counter() - start)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        gate.wait()
        start = time.perf_counter()
        for worker in workers:
            worker.join()
        self.memory.episodes.flush()
        seconds = time.perf_counter() - start
        done = [sample for own in samples for sample in own]
        return _row(
            part, mix, threads, done, seconds, bytes_each=(written_bytes() - before) / len(done)
        )

    def _doings(
        self, own: Memory, chance: random.Random, making: Making, users: int
    ) -> dict[str, Callable[[], object]]:
        refs = self.refs
        logged = [
            self.memory.episodes.start(making.task(), making.context(users)) for _ in range(20)
        ]

        def record() -> None:
            refs.append(making.record(self.memory, users=users))

        def newest() -> None:
            # Not the very newest: that may still be in the queue.
            own.episodes.get(refs[-1 - min(len(refs) - 1, 200 + int(chance.expovariate(0.05)))])

        def retrieve() -> None:
            self.memory.episodes.retrieve(making.task(), making.context(users))

        def retrieve_and_record() -> None:
            retrieve()
            record()

        return {
            # The few are asked for the most, as in YCSB.
            "read": lambda: own.episodes.get(refs[int(len(refs) * chance.random() ** 3) % 500]),
            "log": lambda: self.memory.episodes.log(chance.choice(logged), chance.choice(STEPS)),
            "newest": newest, "record": record, "retrieve": retrieve,
            "retrieve and record": retrieve_and_record,
        }  # fmt: skip


class _Filled:
    """A store with so many attempts, gone at the end."""

    def __init__(self, attempts: int, users: int) -> None:
        self._attempts, self._users = attempts, users
        self._folder = tempfile.TemporaryDirectory(prefix="recollect-episodes-")

    def __enter__(self) -> _Work:
        self._opened = new_memory(Path(self._folder.name))
        memory, making = self._opened.__enter__(), Making()
        refs = [making.record(memory, users=self._users) for _ in range(self._attempts)]
        memory.episodes.flush()
        memory.episodes.retrieve(making.task())
        return _Work(memory, refs)

    def __exit__(self, *error: object) -> None:
        self._opened.__exit__(None, None, None)
        self._folder.cleanup()


def _filled(attempts: int, users: int = 10) -> _Filled:
    return _Filled(attempts, users)


# Load that comes and goes


def shapes(quick: bool) -> Iterator[Row]:
    """Steady, bursting and growing load, each in a process of
    its own, whose peak memory is told.
    """
    for shape in ("steady", "burst", "gradual"):
        command = [sys.executable, __file__, "--shape", shape, *(["--quick"] if quick else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        yield Row(**json.loads(done.stdout))


def _shape(shape: str, *, quick: bool) -> Row:
    """Attempts at the pace of a shape.

    A sample is one attempt, from its beginning to its completion.
    """
    seconds = 2 if quick else 10
    making, samples = Making(), []
    with (
        tempfile.TemporaryDirectory(prefix="recollect-episodes-") as folder,
        new_memory(Path(folder)) as memory,
    ):
        begun, before = time.perf_counter(), written_bytes()
        for at in _moments(shape, seconds):
            time.sleep(max(0.0, begun + at - time.perf_counter()))
            start = time.perf_counter()
            making.record(memory)
            samples.append(time.perf_counter() - start)
        start = time.perf_counter()
        told = memory.episodes.flush()
        end, size = time.perf_counter(), written_bytes() - before
    row = _row("load", shape, seconds, samples, end - begun, bytes_each=size / len(samples))
    row.peak_bytes, row.more = (
        peak_bytes(),
        {"left to flush, s": end - start, "dropped": told.dropped},
    )
    return row


def _moments(shape: str, seconds: int) -> list[float]:
    if shape == "steady":
        return [number / 200 for number in range(200 * seconds)]
    if shape == "burst":
        return [float(second) for second in range(0, seconds, 2) for _ in range(2_000)]
    # From 20 a second on, more each second.
    return [
        second + number / (20 * 1.5**second)
        for second in range(seconds)
        for number in range(int(20 * 1.5**second))
    ]


# How much there is, and how much at once


def growth(quick: bool) -> Iterator[Row]:
    """Recording and asking, by how many attempts there are."""
    making = Making()
    with (
        tempfile.TemporaryDirectory(prefix="recollect-episodes-") as folder,
        new_memory(Path(folder)) as memory,
    ):
        count, store = 0, Path(folder, "recollect.db")
        for size in (100, 1_000, 10_000) if quick else (100, 1_000, 10_000, 100_000):
            samples, before, start = (
                [],
                store.stat().st_size if store.exists() else 0,
                time.perf_counter(),
            )
            while count < size:
                samples.append(_timed(lambda: making.record(memory)))
                count += 1
            memory.episodes.flush()
            seconds = time.perf_counter() - start
            memory._shared.store().db.execute("pragma wal_checkpoint(truncate)")
            grown = (store.stat().st_size - before) / len(samples)
            yield _row("growth", "record", size, samples, seconds, bytes_each=grown)
            with Memory(memory.settings, environ={}) as fresh:
                first = _timed(lambda: fresh.episodes.retrieve(making.task()))
                asked = [
                    _timed(lambda: fresh.episodes.retrieve(making.task(), making.context()))
                    for _ in range(200)
                ]
            row = _row("growth", "retrieve", size, asked, sum(asked))
            row.peak_bytes, row.more = peak_bytes(), {"first question, s": first}
            yield row


def questions(quick: bool) -> Iterator[Row]:
    """Asking, by how many words the question has."""
    with _filled(500 if quick else 5_000) as work:
        making = Making(1)
        for words in (1, 10, 100, 1_000):
            asked = [making.task(words) for _ in range(50 if quick else 300)]
            samples = [
                _timed(lambda task=task: work.memory.episodes.retrieve(task)) for task in asked
            ]  # type: ignore[misc]
            yield _row("words", "retrieve", words, samples, sum(samples))


def batches(quick: bool) -> Iterator[Row]:
    """Writing durably, by how many attempts are flushed at once.

    A sample is one flush divided by its attempts.
    """
    making = Making()
    with (
        tempfile.TemporaryDirectory(prefix="recollect-episodes-") as folder,
        new_memory(Path(folder)) as memory,
    ):
        for size in (1, 10, 100, 1_000):
            samples, before = [], written_bytes()
            for _ in range(max(3, (100 if quick else 1_000) // size)):
                # The writer would take some of them before.
                (
                    memory.episodes._recorder or memory.episodes._ensure_recorder()
                )._queue.stirred = True
                for _ in range(size):
                    making.record(memory)
                samples.append(_timed(memory.episodes.flush) / size)
            each = (written_bytes() - before) / len(samples) / size
            yield _row("batch", "flush", size, samples, sum(samples), bytes_each=each)


PARTS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "threads": by_threads, "users": by_users, "load": shapes, "growth": growth, "words": questions,
    "batch": batches,
}  # fmt: skip


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _row(
    part: str, name: str, x: float, samples: list[float], seconds: float, *, bytes_each: float = 0.0
) -> Row:
    p95 = statistics.quantiles(samples, n=20)[-1] if len(samples) > 1 else samples[0]
    return Row(
        part,
        name,
        x,
        len(samples),
        statistics.median(samples),
        p95,
        len(samples) / seconds,
        bytes_each,
    )


# What is left of it


TITLES = {
    "threads": ("Mixes by threads", "threads"), "users": ("Mixes by users, on four threads",
    "users"),
    "load": ("Load that comes and goes", "seconds"), "growth": ("By the number of attempts",
    "attempts"),
    "words": ("Questions by their length", "words"), "batch": ("Durable writes by batch",
    "attempts in a flush"),
}  # fmt: skip


_TOLD: dict[str, Callable[[Row], float]] = {
    "p50, µs": lambda row: row.p50 * 1e6, "p95, µs": lambda row: row.p95 * 1e6,
    "operations a second": lambda row: row.rate,
}  # fmt: skip


def _written(rows: list[Row], folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    path = folder / f"episode-store-{date.replace(' ', '-').replace(':', '')}.json"
    path.write_text(
        json.dumps(
            {"date": date, "machine": machine(), "rows": [asdict(row) for row in rows]}, indent=1
        )
        + "\n"
    )
    page = folder / "episodes.html"
    page.write_text(_page(rows, date))
    return f"\n{path}\n{page}"


def _page(rows: list[Row], date: str) -> str:
    facts = machine()
    where = (
        f"{date} UTC, {facts['cpus']} CPUs ({facts['cpu']}), load {facts['load']} at the end, "
        f"{facts['python']}"
    )
    sections = []
    for part, (title, axis) in TITLES.items():
        own = [row for row in rows if row.part == part]
        if own:
            sections.append(f"<section><h2>{title}</h2>{_plots(own, axis)}{_table(own)}</section>")
    more = "table { border-collapse: collapse } td, th { padding: .1rem .6rem; text-align: right }"
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width">'
        f"<title>recollect: episodes</title><style>{STYLE}{more}</style>\n<h1>recollect, measured: "
        "the episode store</h1>"
        f"<p>{where}</p>\n{''.join(sections)}\n</html>\n"
    )


def _plots(rows: list[Row], axis: str) -> str:
    names = list(dict.fromkeys(row.name for row in rows))
    if len({row.x for row in rows}) < 2:
        return ""
    made = []
    for label, told in _TOLD.items():
        series = {name: [(row.x, told(row)) for row in rows if row.name == name] for name in names}
        made.append(f"<figure>{curves(series, x=axis, y=label)}</figure>")
    return "".join(made)


def _table(rows: list[Row]) -> str:
    cells = [
        (
            row.name, short(row.x), f"{row.operations:,}", f"{row.p50 * 1e6:,.1f} µs",
            f"{row.p95 * 1e6:,.1f} µs",
            f"{row.rate:,.0f}", f"{row.bytes_each:,.0f}",
            f"{row.peak_bytes / 1e6:,.0f}" if row.peak_bytes else "",
            ", ".join(f"{name} {short(value)}" for name, value in row.more.items()),
        )
        for row in rows
    ]  # fmt: skip
    head = ("", "", "operations", "p50", "p95", "a second", "bytes each", "peak MB", "")
    lines = [
        "".join(f"<th>{name}</th>" for name in head),
        *("".join(f"<td>{cell}</td>" for cell in row) for row in cells),
    ]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


if __name__ == "__main__":
    sys.exit(main())
