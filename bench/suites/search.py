"""Two words out of 45,000 turns: as a new process, and inside one that is running.

The queries are drawn from the turns themselves, the same ones each time: two
words that stand together in some turn and that at most one turn in 200 has.
Words of different turns, which make a search look for either, are measured
too: there are more hits then, and each has a snippet.
The store is searched as the import leaves it; the text index has not been
optimised.
"""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from bench.measure import Figure, Pair, alternate, compared, spent, wall_of_process
from bench.plan import Plan, say
from recollect import Memory
from recollect.model import SessionDetail

QUERIES = 50
BARE = "`python -c pass`"
RARE_SHARE = 0.005
_WORD = re.compile(r"(?<![^\W_])[a-z]{4,}(?![^\W_])")

Query = tuple[str, str]


def figures(plan: Plan) -> list[Figure]:
    """All figures, over the same words."""
    home = plan.full_store()
    environ = plan.environ(home)
    texts = write_texts(plan.work / "texts.db", environ)
    queries = choose_queries(home / "recollect.db", texts)
    return [
        search_process(plan, queries, environ),
        search_process_any(plan, queries, environ),
        search_inside(plan, queries, environ, texts),
    ]


def search_process(plan: Plan, queries: list[Query], environ: dict[str, str]) -> Figure:
    """The installed command, from start to end, against an interpreter that does nothing."""
    for query in queries:
        # Also what compiles the modules and fills the page cache.
        answer = subprocess.run([*_command(), *query], check=True, capture_output=True, text=True, env=environ)
        if not answer.stdout or answer.stderr:
            raise RuntimeError(f"{query} was answered with {answer.stderr or 'nothing'}")
    pairs = _processes(queries, environ, plan.runs_or(5))
    return compared("search-process", "`recollect search` as a new process", BARE, pairs, target=4, unit="s wall")


def search_process_any(plan: Plan, queries: list[Query], environ: dict[str, str]) -> Figure:
    """The first word of one query with the second of the next; no target, but nobody should be surprised by it."""
    crossed = [(one[0], other[1]) for one, other in zip(queries, queries[1:] + queries[:1], strict=True)]
    pairs = _processes(crossed, environ, plan.runs_or(5))
    return compared("search-process-any", "the same, with words of different turns", BARE, pairs, target=None, unit="s wall")


def _processes(queries: list[Query], environ: dict[str, str], rounds: int) -> list[Pair]:
    asked = itertools.cycle(queries)
    return alternate(
        lambda: wall_of_process([*_command(), *next(asked)], environ),
        lambda: wall_of_process([sys.executable, "-c", "pass"], environ),
        len(queries) * rounds,
    )


def _command() -> list[str]:
    return [str(Path(sysconfig.get_path("scripts"), "recollect")), "search", "--mode", "text"]


def search_inside(plan: Plan, queries: list[Query], environ: dict[str, str], texts: Path) -> Figure:
    """Up to ten hits with their snippets, against LIKE over the same text; a run asks all queries."""
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    with Memory.open(environ=environ) as memory:
        memory.search("the first search opens the store")
        pairs = alternate(
            lambda: _mean(lambda query: memory.search(" ".join(query)), queries),
            lambda: _mean(lambda query: _like(plain, query), queries),
            plan.runs_or(5),
        )
    plain.close()
    return compared(
        "search-inside", "search with snippets, in process", "`like` over the same turns", pairs, target=1 / 20, unit="s CPU"
    )


def write_texts(path: Path, environ: dict[str, str]) -> Path:
    """Every turn's whole text, one row each, in a plain table."""
    say("writing the text of every turn")
    path.unlink(missing_ok=True)
    plain = apsw.Connection(str(path))
    plain.execute("create table texts (ref text, body text)")
    with Memory.open(environ=environ) as memory, plain:
        for session in memory.sessions(limit=None):
            detail = memory.show(session.id)
            for turn in detail.turn_list if isinstance(detail, SessionDetail) else []:
                fields = (getattr(event, name, None) for event in turn.events for name in ("text", "target", "output"))
                plain.execute("insert into texts values (?, ?)", (turn.ref, "\n".join(filter(None, fields))))
    plain.close()
    return path


def choose_queries(store: Path, texts: Path) -> list[Query]:
    """Pairs of rare words, each pair from one turn, the same for the same store."""
    say("choosing queries")
    index = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    chance = random.Random(1)
    refs = [row[0] for row in plain.execute("select rowid from texts order by ref")]
    most = max(1, int(len(refs) * RARE_SHARE))

    @cache
    def count(match: str) -> int:
        return int(_value(index, "select count(*) from turns_text where turns_text match ?", match))

    chance.shuffle(refs)
    queries: list[Query] = []
    for ref in refs:
        words = sorted(set(_WORD.findall(_value(plain, "select body from texts where rowid = ?", ref))))
        chance.shuffle(words)
        # Only the ends of a long output are indexed, so a word may be in the text and in no row.
        rare = list(itertools.islice((word for word in words if 1 <= count(f'"{word}"') <= most), 2))
        if len(rare) == 2 and count(f'"{rare[0]}" AND "{rare[1]}"'):
            queries.append((rare[0], rare[1]))
        if len(queries) == QUERIES:
            break
    if not queries:
        raise SystemExit("bench: this corpus is too small to have rare words; raise --turns")
    return queries


def _mean(ask: Callable[[Query], object], queries: list[Query]) -> float:
    """CPU seconds of a query, over some of them."""
    return spent(lambda: [ask(query) for query in queries]) / len(queries)


def _like(plain: apsw.Connection, query: Query) -> int:
    sql = "select ref from texts where body like ? and body like ?"
    return len(plain.execute(sql, [f"%{word}%" for word in query]).fetchall())


def _value(db: apsw.Connection, sql: str, value: object) -> Any:
    row = db.execute(sql, (value,)).fetchone()
    return row[0] if row else None
