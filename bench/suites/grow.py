"""One log grew by a turn: how long until the turn is safe on disk and can be found.

Wall time, because most of it is waiting for the disk: both sides commit with
`synchronous = full` into WAL files that lie in the same folder. A disk that
others write to makes both slower and hides what we add, so let it be quiet.
The store holds the whole corpus; the logs that grow are further ones.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw

from bench.corpora import Corpus, Shape, ensure_corpus, generator
from bench.measure import Figure, alternate, compared, spent, wall_seconds
from bench.plan import Plan
from recollect import Memory

LOGS = Shape(files=8, turns=80, mb=0.6)
# Another seed than the corpus has, so that these are other sessions.
SEED = 2


def figures(plan: Plan) -> list[Figure]:
    """The one figure of this suite."""
    return [grown_by_a_turn(plan)]


def grown_by_a_turn(plan: Plan) -> Figure:
    """`import_logs([path])` of a known path that has a turn more, with redaction."""
    home = plan.home("grow", redact=True)
    shutil.copy(plan.full_store() / "recollect.db", home)
    logs = ensure_corpus(plan.work, LOGS, seed=SEED)
    turns = itertools.count(SEED)
    with Memory.open(environ=plan.environ(home, logs)) as memory:
        memory.import_logs([logs.folder])

        def ours() -> float:
            path = _grow(logs, next(turns))
            return spent(lambda: _import(memory, path), clock=wall_seconds)

        ours()
        insert = _bare_commit(home / "bare.db")
        pairs = alternate(ours, lambda: spent(insert, clock=wall_seconds), plan.runs_or(60))
    return compared(
        "grow",
        "a file grew by a turn, in process",
        "a bare one-row commit on the same disk",
        pairs,
        target=3,
        unit="s wall",
    )


def _grow(logs: Corpus, seed: int) -> Path:
    """Append one turn to one of the logs, as an agent that goes on would."""
    grown = generator().grow(Path(logs.folder), "codex", 1, seed)["grown"]
    return Path(logs.folder, grown[0])


def _import(memory: Memory, path: Path) -> None:
    report = memory.import_logs([path])
    if (report.updated, report.turns) != (1, 1):
        raise RuntimeError(
            f"{report.updated} files with {report.turns} new turns instead of one each"
        )


def _bare_commit(path: Path) -> Callable[[], object]:
    """The least that any program must do to keep a row."""
    connection = apsw.Connection(str(path))
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("create table rows (id integer primary key, body text)")
    body = "a row " * 20
    return lambda: connection.execute("insert into rows (body) values (?)", (body,))
