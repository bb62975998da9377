"""Hybrid search over a million turns, in a process that stays.

Logs of that size would take an hour to import, so the turns are short: some
words in a row out of a turn of the corpus, the words of the queries if that
turn holds them, and a word of their own. So the words are as common as in the
corpus, and each word of a query is in the same share of the turns; only the
turns are many. They go through capture and `memory.store.embed` like any others.

The store is made once, in three to ten minutes, and kept in the cache folder,
where it takes 1.6 GB. It is made again when the corpus, the queries, the schema
or the encoder is another one; delete it when something else changed that matters.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import apsw
import msgspec

from bench.clocks import peak_bytes
from bench.judging.sets import Said, TalkSession, session_of
from bench.measure import Figure, absolute, wall_seconds
from bench.plan import Plan, say
from bench.queries import Query, choose_queries, ensure_texts
from bench.suites.meaning import resident_seconds
from bench.talks import fill_with_talks
from recollect.embed.static import StaticEncoder
from recollect.store.sqlite.database import SCHEMA

TURNS = 1_000_000
RUN_OF_WORDS = 20
BEGIN_MS, SESSION_MS = 1_700_000_000_000, 1_000_000
# Digits as letters: the word of a turn's own should be one word.
_LETTERS = str.maketrans("0123456789", "bcdfghjklm")


def figures(plan: Plan) -> list[Figure]:
    """The one figure, with the queries of the smaller store."""
    full = plan.full_store()
    texts = ensure_texts(plan.texts, plan.environ(full))
    queries = choose_queries(full / "recollect.db", texts)
    home = million_store(plan, texts, queries)
    samples = resident_seconds(home, queries, plan.environ(home), plan.runs_or(5))
    say(
        f"{sum(path.stat().st_size for path in home.iterdir()) / 1e9:.2f} GB of disk, "
        f"{peak_bytes() / 1e9:.2f} GB of memory"
    )
    title = "hybrid search in a process that stays, a million turns, p50"
    return [absolute("hybrid-resident-1m", title, samples, target=0.025, unit="s CPU")]


def million_store(plan: Plan, texts: Path, queries: list[Query]) -> Path:
    """The home of the large store, made unless an earlier run did it."""
    made_of = [plan.corpus.facts(), queries, SCHEMA, StaticEncoder().name, TURNS, RUN_OF_WORDS]
    home = plan.cache / f"million-{sha256(repr(made_of).encode()).hexdigest()[:16]}"
    done = home / "done"
    if done.exists():
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    (home / "config.toml").write_text("[redact]\nenabled = false\n")
    logs = home / "logs"
    logs.mkdir()
    start = wall_seconds()
    say(f"making a store of {TURNS:,} turns")
    fill_with_talks(plan.environ(home), write_logs(logs, texts, queries), TURNS)
    shutil.rmtree(logs)
    say(f"that took {wall_seconds() - start:.0f} s")
    # Written last: a run that was interrupted leaves no mark and is made again.
    done.touch()
    return home


def write_logs(folder: Path, texts: Path, queries: list[Query]) -> list[Path]:
    """Talks, one for each time that the corpus is gone through.

    Every session of the corpus stands behind one in each.
    """
    plain = apsw.Connection(str(texts), flags=apsw.SQLITE_OPEN_READONLY)
    wanted = {word for query in queries for word in query}
    count = plain.execute("select count(*) from texts").get
    paths = [folder / str(number) / "talk.jsonl" for number in range(-(-TURNS // count))]
    left = [count] * (len(paths) - 1) + [TURNS - count * (len(paths) - 1)]
    chance = random.Random(1)
    with ExitStack() as stack:
        files = []
        for path in paths:
            path.parent.mkdir()
            files.append(stack.enter_context(path.open("wb")))
        for number, bodies in enumerate(_sessions(plain)):
            words = [re.findall(r"\w+", body) for body in bodies]
            shared = [sorted(wanted.intersection(found)) for found in words]
            for copy, file in enumerate(files):
                turns = [_turn(*both, chance) for both in zip(words, shared, strict=True)][
                    : left[copy]
                ]
                left[copy] -= len(turns)
                session = TalkSession(
                    f"{copy}-{number}", BEGIN_MS + (copy + number) * SESSION_MS, turns
                )
                file.write(msgspec.json.encode(session) + b"\n" if turns else b"")
    return paths


def _sessions(plain: apsw.Connection) -> Iterator[list[str]]:
    """The texts of the turns of each session."""
    rows = plain.execute("select ref, body from texts order by rowid")
    for _, turns in groupby(rows, key=lambda row: session_of(row[0])):
        yield [body for _, body in turns]


def _turn(words: list[str], wanted: list[str], chance: random.Random) -> Said:
    start = chance.randint(0, max(0, len(words) - RUN_OF_WORDS))
    # Log-uniform, as words are: few of them are in many turns, and most in one or two.
    own = str(int(TURNS ** chance.random())).translate(_LETTERS)
    return Said(" ".join([*words[start : start + RUN_OF_WORDS], *wanted, own]))
