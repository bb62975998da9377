"""What is searched for: words and questions drawn from the turns
themselves, the same for the same store.

A query is two words that stand together in some turn and that at most one
turn in 200 has. A question is what somebody may ask who half remembers: how
did we, and then some words in a row of what was said.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from bench.plan import say
from recollect import Memory
from recollect.model.sessions import SessionDetail

QUERIES = 50
RARE_SHARE = 0.005
ASKING = ("how", "did", "we")
QUESTION_WORDS = (8, 12)
_WORD = re.compile(r"(?<![^\W_])[a-z]{4,}(?![^\W_])")

Query = tuple[str, ...]


def ensure_texts(path: Path, environ: dict[str, str]) -> Path:
    """Every turn's whole text, and what was said in it, one row each in a plain table.

    Written unless it is there.
    """
    if path.exists():
        return path
    say("writing the text of every turn")
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    plain = apsw.Connection(str(partial))
    plain.execute("create table texts (ref text, body text, said text)")
    with Memory.open(environ=environ) as memory, plain:
        for session in memory.sessions(limit=None, subagents=True):
            detail = memory.show(session.id)
            for turn in detail.turn_list if isinstance(detail, SessionDetail) else []:
                fields = (
                    getattr(event, name, None)
                    for event in turn.events
                    for name in ("text", "target", "output")
                )
                said = "\n".join(
                    event.text for event in turn.events if event.kind in ("prompt", "reply")
                )
                plain.execute(
                    "insert into texts values (?, ?, ?)",
                    (turn.ref, "\n".join(filter(None, fields)), said),
                )
    plain.close()
    return partial.rename(path)


def choose_queries(store: Path, texts: Path) -> list[Query]:
    """Pairs of rare words, each pair from one turn."""
    say("choosing queries")
    index = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    chance = random.Random(1)
    most = max(1, int(_value(plain, "select count(*) from texts") * RARE_SHARE))

    @cache
    def count(match: str) -> int:
        return int(_value(index, "select count(*) from turns_text where turns_text match ?", match))

    queries: list[Query] = []
    for number in _shuffled(plain, chance):
        words = sorted(
            set(_WORD.findall(_value(plain, "select body from texts where rowid = ?", number)))
        )
        chance.shuffle(words)
        # Only the ends of a long output are indexed, so a word may be in the text and in no row.
        rare = list(
            itertools.islice((word for word in words if 1 <= count(f'"{word}"') <= most), 2)
        )
        if len(rare) == 2 and count(f'"{rare[0]}" AND "{rare[1]}"'):
            queries.append((rare[0], rare[1]))
        if len(queries) == QUERIES:
            break
    if not queries:
        raise SystemExit("bench: this corpus is too small to have rare words; raise --turns")
    return queries


def choose_questions(texts: Path) -> list[Query]:
    """Whole questions, each about another turn."""
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    chance = random.Random(2)
    said = (
        _value(plain, "select said from texts where rowid = ?", number)
        for number in _shuffled(plain, chance)
    )
    questions = list(itertools.islice(questions_about(said, chance), QUERIES))
    if not questions:
        raise SystemExit("bench: this corpus says too little to ask about; raise --turns")
    return questions


def questions_about(texts: Iterable[str], chance: random.Random) -> Iterator[Query]:
    """A question about each text that is long enough."""
    for text in texts:
        words = re.findall(r"\w+", text)
        length = chance.randint(*QUESTION_WORDS)
        if len(words) >= length:
            start = chance.randint(0, len(words) - length)
            yield (*ASKING, *words[start : start + length])


def ask(memory: Memory, query: Query, *, mode: str) -> None:
    """Search the way somebody does who wants ten hits.

    An answer without hits, or by another mode, is a failure.
    """
    answer = memory.search(" ".join(query), mode=mode, limit=10)
    if answer.mode != mode or not answer.hits:
        raise RuntimeError(
            f"{query} was answered with {len(answer.hits)} hits by {answer.mode}: {answer.remarks}"
        )


def all_said(texts: Path) -> list[str]:
    """What was said in each turn, the prompt first."""
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    return [row[0] for row in plain.execute("select said from texts order by ref")]


def _shuffled(plain: apsw.Connection, chance: random.Random) -> Iterator[int]:
    numbers = [row[0] for row in plain.execute("select rowid from texts order by ref")]
    chance.shuffle(numbers)
    return iter(numbers)


def _value(db: apsw.Connection, sql: str, *values: object) -> Any:
    row = db.execute(sql, values).fetchone()
    return row[0] if row else None
