"""Nothing changed: what it costs to find that out, which is most of what an importer does."""

from __future__ import annotations

import os

from bench.measure import Figure, alternate, compared, spent
from bench.plan import Plan
from recollect import Memory

AGAINST = "`os.stat` of the known paths"
# One sweep takes milliseconds.
REPEATS = 10


def figures(plan: Plan) -> list[Figure]:
    """A memory that stays open, and one that is opened for the sweep."""
    return [unchanged_sweep(plan), first_sweep(plan)]


def unchanged_sweep(plan: Plan) -> Figure:
    """`import_logs()` again and again, as a watcher or a server does."""
    with Memory.open(environ=plan.environ(plan.full_store())) as memory:
        paths = [found.source.path for found in memory.agents.sources()]
        _sweep(memory, len(paths))
        pairs = alternate(
            lambda: spent(lambda: _sweep(memory, len(paths)), repeats=REPEATS),
            lambda: spent(lambda: _stat(paths), repeats=REPEATS),
            plan.runs_or(15),
        )
    return compared(
        "sweep",
        "sweep that finds nothing changed, in process",
        AGAINST,
        pairs,
        target=2.5,
        unit="s CPU",
    )


def first_sweep(plan: Plan) -> Figure:
    """The same with opening and closing, modules warm.

    No target, but nobody should be surprised by it.
    """
    environ = plan.environ(plan.full_store())
    with Memory.open(environ=environ) as memory:
        paths = [found.source.path for found in memory.agents.sources()]

    def open_and_sweep() -> None:
        with Memory.open(environ=environ) as memory:
            _sweep(memory, len(paths))

    pairs = alternate(
        lambda: spent(open_and_sweep, repeats=REPEATS),
        lambda: spent(lambda: _stat(paths), repeats=REPEATS),
        plan.runs_or(15),
    )
    return compared(
        "sweep-opened",
        "the same, with opening the memory for it",
        AGAINST,
        pairs,
        target=None,
        unit="s CPU",
    )


def _sweep(memory: Memory, expected: int) -> None:
    report = memory.import_logs()
    if report.unchanged != expected:
        raise RuntimeError(f"{report.unchanged} of {expected} sources were found unchanged")


def _stat(paths: list[str]) -> None:
    stat = os.stat
    for path in paths:
        stat(path)
