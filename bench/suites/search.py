"""Two words out of 45,000 turns: as a new process, and inside one that is running.

Words of different turns, which make a search look for either, are measured
too: there are more hits then, and each has a snippet.
The store is searched as the import leaves it; the text index has not been
optimised.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import apsw

from bench.measure import Figure, Pair, alternate, compared, spent, wall_of_process
from bench.plan import Plan
from bench.queries import Query, ask, choose_queries, ensure_texts
from recollect import Memory

BARE = "`python -c pass`"


def figures(plan: Plan) -> list[Figure]:
    """All figures, over the same words."""
    home = plan.full_store()
    environ = plan.environ(home)
    texts = ensure_texts(plan.texts, environ)
    queries = choose_queries(home / "recollect.db", texts)
    return [
        search_process(plan, queries, environ),
        search_process_any(plan, queries, environ),
        search_inside(plan, queries, environ, texts),
    ]


def search_process(plan: Plan, queries: list[Query], environ: dict[str, str]) -> Figure:
    """The installed command, from start to end, against an interpreter that does nothing."""
    pairs = processes(queries, environ, plan.runs_or(5), mode="text")
    return compared(
        "search-process",
        "`recollect search` as a new process",
        BARE,
        pairs,
        target=4,
        unit="s wall",
    )


def search_process_any(plan: Plan, queries: list[Query], environ: dict[str, str]) -> Figure:
    """The first word of one query with the second of the next.

    No target, but nobody should be surprised by it.
    """
    crossed: list[Query] = [
        (one[0], other[1]) for one, other in zip(queries, queries[1:] + queries[:1], strict=True)
    ]
    pairs = processes(crossed, environ, plan.runs_or(5), mode="text")
    return compared(
        "search-process-any",
        "the same, with words of different turns",
        BARE,
        pairs,
        target=None,
        unit="s wall",
    )


def processes(
    queries: list[Query], environ: dict[str, str], rounds: int, *, mode: str
) -> list[Pair]:
    """Searches as new processes and interpreters that do nothing, in turn.

    The answers are looked at beforehand.
    """
    command = [str(Path(sysconfig.get_path("scripts"), "recollect")), "search", "--mode", mode]
    with Memory.open(environ=environ) as memory:
        for query in queries:
            ask(memory, query, mode=mode)
            # Also what compiles the modules and fills the page cache.
            subprocess.run([*command, *query], check=True, capture_output=True, env=environ)
    asked = itertools.cycle(queries)
    return alternate(
        lambda: wall_of_process([*command, *next(asked)], environ),
        lambda: wall_of_process([sys.executable, "-c", "pass"], environ),
        len(queries) * rounds,
    )


def search_inside(plan: Plan, queries: list[Query], environ: dict[str, str], texts: Path) -> Figure:
    """Up to ten hits with their snippets, against LIKE over the same text.

    A run asks all queries.
    """
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    with Memory.open(environ=environ) as memory:
        ask(memory, queries[0], mode="text")
        pairs = alternate(
            lambda: _mean(lambda query: ask(memory, query, mode="text"), queries),
            lambda: _mean(lambda query: _like(plain, query), queries),
            plan.runs_or(5),
        )
    plain.close()
    return compared(
        "search-inside",
        "search with snippets, in process",
        "`like` over the same turns",
        pairs,
        target=1 / 20,
        unit="s CPU",
    )


def _mean(ask: Callable[[Query], object], queries: list[Query]) -> float:
    """CPU seconds of a query, over some of them."""
    return spent(lambda: [ask(query) for query in queries]) / len(queries)


def _like(plain: apsw.Connection, query: Query) -> int:
    sql = "select ref from texts where body like ? and body like ?"
    return len(plain.execute(sql, [f"%{word}%" for word in query]).fetchall())
