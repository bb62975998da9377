"""Search by word and by meaning over 45,000 turns that are all embedded.

As a new process, with the two-word queries of the search suite and with whole
questions; and in a process that stays (`Memory.open(resident=True)`), whose
index of vectors is ready.
"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from bench.measure import Figure, absolute, compared, spent, wall_seconds
from bench.plan import Plan, say
from bench.queries import Query, ask, choose_queries, choose_questions, ensure_texts
from bench.suites.search import BARE, processes
from recollect import Memory


def figures(plan: Plan) -> list[Figure]:
    """All figures, over the same store."""
    home = plan.embedded_store()
    environ = plan.environ(home)
    texts = ensure_texts(plan.texts, environ)
    queries = choose_queries(home / "recollect.db", texts)
    return [
        hybrid_process(plan, queries, environ),
        hybrid_process_questions(plan, choose_questions(texts), environ),
        absolute(
            "hybrid-resident-45k",
            "hybrid search in a process that stays, p50",
            resident_seconds(home, queries, environ, plan.runs_or(5)),
            target=0.005,
            unit="s CPU",
        ),
    ]


def hybrid_process(plan: Plan, queries: list[Query], environ: dict[str, str]) -> Figure:
    """The same queries and the same reference as for text alone."""
    pairs = processes(queries, environ, plan.runs_or(5), mode="hybrid")
    return compared(
        "search-hybrid-process",
        "hybrid search as a new process",
        BARE,
        pairs,
        target=8,
        unit="s wall",
    )


def hybrid_process_questions(plan: Plan, questions: list[Query], environ: dict[str, str]) -> Figure:
    """What a person asks has more words, common ones among them.

    No target, but nobody should be surprised by it.
    """
    pairs = processes(questions, environ, plan.runs_or(5), mode="hybrid")
    return compared(
        "search-hybrid-process-questions",
        "the same, with whole questions",
        BARE,
        pairs,
        target=None,
        unit="s wall",
    )


def resident_seconds(
    home: Path, queries: list[Query], environ: dict[str, str], rounds: int
) -> list[float]:
    """What each search takes once the index is there, the modules are
    loaded and the pages have been read.

    Nothing waits for a disk then, so CPU time is what a person waits, and a
    machine that others use too does not spoil it.
    """
    with Memory.open(environ=environ, resident=True) as memory:
        _ask_all(memory, queries)
        _await_index(home)
        _ask_all(memory, queries)
        return [seconds for _ in range(rounds) for seconds in _ask_all(memory, queries)]


def _ask_all(memory: Memory, queries: list[Query]) -> list[float]:
    return [spent(partial(ask, memory, query, mode="hybrid")) for query in queries]


def _await_index(home: Path) -> None:
    """Until the thread that makes the index of vectors has ended."""
    start = wall_seconds()
    for thread in threading.enumerate():
        if thread.name == "vectors":
            thread.join()
    if not (home / "recollect.db-vectors").exists():
        raise RuntimeError("the resident process made no index of vectors; is faiss installed?")
    say(f"waited {wall_seconds() - start:.1f} s for the index of vectors")
