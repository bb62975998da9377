"""Nothing takes more than about its share of time: each reader, rule, query and snippet at 1, 2, 4
and 8 times of an input that is hard for it.

CPU time is compared in one run. Twice the input may take three times as long; what takes longer
is measured again, and counts when it did three times in a row.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import apsw

from recollect.capture.adapters import BUILT_IN
from recollect.model.calls import Call, PlainEvent
from recollect.recall.query import parse
from recollect.recall.snippet import snippet
from recollect.redact import Redactor
from recollect.redact.shapes import INFIXES, SHAPES
from tests.torture.campaign import Round
from tests.torture.fuzz import Case, cases_of
from tests.torture.mutate import MAGIC

SIZES = (1, 2, 4, 8)
MOST_RATIO, TRIES = 3.0, 3
# Less is measured by chance.
LEAST_SECONDS = 0.02
LOG_BYTES, TEXT_CHARACTERS = 60_000, 10_000
# What is hard for a parser: what opens and never closes, what might be anything, what repeats.
QUERIES = (
    '"', "(", "-", "a OR ", "agent:", "NOT ", "x", " ", "é", '"a b', "a:b:c ", "path:/a/b ", "* ",
    "--flag ", "2026-01-01 ", "'", "\\", "#", "error: a.b.c(d) ", "word\n",
)  # fmt: skip
Task = Callable[[int], Callable[[], object]]


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    tasks = list(_tasks(folder))
    random.Random(seed).shuffle(tasks)
    for name, make in tasks:
        yield Round(name.partition(":")[0], [f"{name}: {one}" for one in too_slow(make)])


def too_slow(make: Task) -> list[str]:
    """How the time of something grows, where that is faster than it may.

    What gives more than so many times as many items may take as many times as long.
    """
    taken: list[float] = []
    for _ in range(TRIES):
        taken, amounts, first = [], [], 1
        for size in SIZES:
            work = make(size)
            began = time.process_time()
            given = work()
            taken.append(time.process_time() - began)
            items = given if isinstance(given, int) else 0
            first = first if amounts else max(1, items)
            amounts.append(max(size, items / first))
        steps = pairwise(zip(taken, amounts, strict=True))
        if not any(
            after > LEAST_SECONDS
            and after / much > MOST_RATIO / 2 * max(before, LEAST_SECONDS / 4) / little
            for (before, little), (after, much) in steps
        ):
            return []
    return ["took " + ", ".join(f"{seconds:.3f}" for seconds in taken) + " s"]


def _tasks(folder: Path) -> Iterator[tuple[str, Task]]:
    for agent in BUILT_IN:
        for case in cases_of(agent, folder / agent):
            yield f"readers: {agent}/{case.root.parent.name}", _reading(case)
    redactor = Redactor(b"a key for torture", cache=folder)
    redactor.redact("what takes long once is not what is measured")
    for name, piece in _hard_for_rules():
        yield f"rules: {name} {piece[:40]!r}", _redacting(redactor, piece)
    for piece in QUERIES:
        yield f"queries: {piece!r}", _parsing(piece)
        yield f"snippets: {piece!r}", _cutting(piece)


def _reading(case: Case) -> Task:
    """Every file of a log made so many times as long: records again and again, rows too."""
    whole = {path: path.read_bytes() for path in case.files}

    def make(size: int) -> Callable[[], object]:
        for path, data in whole.items():
            path.write_bytes(data)
            if data.startswith(MAGIC):
                _more_rows(path, size * 8)
            else:
                times = max(1, LOG_BYTES // max(1, len(data))) * size
                path.write_bytes(_repeated(data, times))

        def read() -> int:
            """How many items there are."""
            return sum(1 for source in case.checkpoints for _ in case.adapter.read(source, None))

        return read

    return make


def _repeated(data: bytes, times: int) -> bytes:
    """The records of a log again and again; of a document its longest list."""
    if data.count(b"\n") > 1 or not data.startswith((b"{", b"[")):
        return (data if data.endswith(b"\n") else data + b"\n") * times
    start, end = data.find(b"[{"), data.rfind(b"}]")
    if not 0 <= start < end:
        return data
    inner = data[start + 1 : end + 1]
    return data[: start + 1] + b",".join([inner] * times) + data[end + 1 :]


def _more_rows(path: Path, times: int) -> None:
    """The rows of every table so many times, with keys of their own."""
    connection = apsw.Connection(str(path))
    connection.execute("pragma foreign_keys = off; pragma synchronous = off; begin")
    tables = connection.execute("select name from sqlite_schema where type = 'table'").fetchall()
    for (table,) in tables:
        columns = connection.execute(f'pragma table_info("{table}")').fetchall()
        with suppress(apsw.Error):
            connection.execute(f'create temp table rows_of as select * from main."{table}"')
            for copy in range(1, times):
                chosen = ", ".join(_another(name, kind, key, copy) for _, name, kind, _, _, key
                                   in columns)  # fmt: skip
                connection.execute(
                    f'insert or ignore into main."{table}" select {chosen} from temp.rows_of'
                )
        connection.execute("drop table if exists temp.rows_of")
    connection.execute("commit")
    connection.close()


def _another(name: str, kind: str, key: int, copy: int) -> str:
    """A column in a copy of its row."""
    if not key:
        return f'"{name}"'
    return f'"{name}" + {copy * 100_000}' if "int" in kind.lower() else f"\"{name}\" || '-{copy}'"


def _hard_for_rules() -> Iterator[tuple[str, str]]:
    """Beginnings of secrets of each kind: without an end, one after the other, and in the middle
    of something else.
    """
    for shape in SHAPES:
        for near in (shape.near or ("",))[:1]:
            for piece in (shape.prefix, f"{near} {shape.prefix}a1", f"{near}={shape.prefix}/"):
                yield shape.kind, piece or "a"
    for infix in INFIXES:
        yield infix.kind, infix.mark
        yield infix.kind, f"a1{infix.mark}"
    for piece in ("password=", "key: '", "Authorization: Basic ", "-p ", '{"a": "', "https://a:b"):
        yield "values behind names", piece


def _redacting(redactor: Redactor, piece: str) -> Task:
    def make(size: int) -> Callable[[], object]:
        text = piece * (TEXT_CHARACTERS * size // len(piece))
        return lambda: redactor.redact(text)

    return make


def _parsing(piece: str) -> Task:
    def make(size: int) -> Callable[[], object]:
        text = piece * (TEXT_CHARACTERS * size // len(piece))
        return lambda: parse(text)

    return make


def _cutting(piece: str) -> Task:
    def make(size: int) -> Callable[[], object]:
        text = piece * (TEXT_CHARACTERS * size // len(piece))
        events: list[Call | PlainEvent] = [PlainEvent(1, "reply", text)] * 20
        words = [piece.strip() or "a", "word", "error", *(f"w{number}" for number in range(30))]
        return lambda: snippet(events, words)

    return make
