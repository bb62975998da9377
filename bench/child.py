"""What happens in a fresh process: an import, one embedding, all digests, a run of
retention, or one reading of the same lines.

`python -m bench.child import` brings the store of RECOLLECT_HOME up to date;
`python -m bench.child embed` makes its vectors, `python -m bench.child
digest` its digests, `python -m bench.child jobs` all that waits; `python -m
bench.child retain` brings it within its budget; `python -m bench.child grow
FOLDER SECONDS` imports logs over and over that grow meanwhile; `python -m
bench.child read FOLDER` decodes every line below a folder, `python -m
bench.child rows AGENT FILE` every value of a database. Each prints what it
cost from the first import of a module to the last byte written, that is,
without the start of the interpreter.
"""

import itertools
import os
import sys
import time
from collections.abc import Callable

from bench.clocks import cpu_seconds, peak_bytes


def import_logs(*paths: str) -> dict[str, float]:
    """Open, import, close: modules, schema, discovery and the last checkpoint are all in it."""
    start = cpu_seconds()
    from recollect import Memory

    with Memory.open() as memory:
        report = memory.import_logs(paths)
        store = memory.settings.store
    spent = cpu_seconds() - start
    size = sum(os.path.getsize(path) for path in (store, store + "-wal") if os.path.exists(path))
    return {
        "seconds": spent,
        "peak_bytes": peak_bytes(),
        "store_bytes": size,
        "turns": report.turns,
        "problems": report.problems,
    }


def embed() -> dict[str, float]:
    """Open, embed every turn that waits, close."""
    start = cpu_seconds()
    from recollect import Memory

    with Memory.open() as memory:
        *_, report = memory.store.embed()
    return {
        "seconds": cpu_seconds() - start,
        "peak_bytes": peak_bytes(),
        "turns": report.turns,
        "pieces": report.pieces,
    }


def digest() -> dict[str, float]:
    """Open, say what every session came to, close."""
    start = cpu_seconds()
    from recollect import Memory

    with Memory.open() as memory:
        sessions = sum(1 for _ in memory.digest_new())
    return {"seconds": cpu_seconds() - start, "peak_bytes": peak_bytes(), "sessions": sessions}


def jobs() -> dict[str, float]:
    """Open, do everything that an import left for later, close."""
    start = cpu_seconds()
    from recollect import Memory

    with Memory.open() as memory:
        done = memory.jobs.work()
    return {"seconds": cpu_seconds() - start, "peak_bytes": peak_bytes(), "jobs": done}


def retain() -> dict[str, float]:
    """Open, let go of what there is no room for, close.

    `run` is without the modules, `step` how long others may wait.
    """
    start = cpu_seconds()
    from recollect import Memory

    with Memory.open() as memory:
        before = os.path.getsize(memory.settings.store)
        opened, clock = cpu_seconds(), time.perf_counter
        began = clock()
        steps = [(clock(), report) for report in memory.store.retain()]
        run = cpu_seconds() - opened
    ends = [began, *(end for end, _ in steps)]
    return {
        "seconds": cpu_seconds() - start, "run": run, "turns": sum(steps[-1][1].evicted.values()),
        "step": max(end - start for start, end in itertools.pairwise(ends)),
        "before": before, "after": os.path.getsize(memory.settings.store),
    }  # fmt: skip


def grow(folder: str, seconds: str) -> dict[str, float]:
    """Let every log below a folder grow by a turn and import them, over and over, for so long."""
    from pathlib import Path

    from bench.corpora import generator
    from recollect import Memory

    start, end = cpu_seconds(), time.monotonic() + float(seconds)
    rounds = turns = 0
    with Memory.open() as memory:
        while time.monotonic() < end:
            turns += memory.import_logs([folder]).turns
            rounds += 1
            generator().grow(Path(folder), "codex", sys.maxsize, rounds)
    return {"seconds": cpu_seconds() - start, "turns": turns, "rounds": rounds}


def read(folder: str) -> dict[str, float]:
    """Read every line and decode it; finding the files is not counted."""
    paths = [
        os.path.join(top, name)
        for top, _, names in os.walk(folder)
        for name in names
        if name.endswith(".jsonl")
    ]
    lines = bad = 0
    start = cpu_seconds()
    import orjson

    for path in paths:
        with open(path, "rb") as file:
            for line in file:
                lines += 1
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    # Real logs have torn and broken lines, and others are still compared with.
                    bad += 1
    return {"seconds": cpu_seconds() - start, "lines": lines, "bad_lines": bad}


def items(agent: str, path: str) -> dict[str, float]:
    """Read a database as an import does, and keep nothing."""
    start = cpu_seconds()
    from recollect.capture.adapters import get_adapter

    adapter = get_adapter(agent)
    with open(path, "rb") as file:
        source = adapter.find_source(path, file.read(1 << 16))
    count = sum(1 for _ in adapter.read(source, None)) if source else 0
    return {"items": count, "seconds": cpu_seconds() - start}


def rows(agent: str, path: str) -> dict[str, float]:
    """Read every value of a database that an import reads."""
    from bench.databases import DATABASES

    database = next(one for one in DATABASES if one.agent == agent)
    start = cpu_seconds()
    from bench.databases import read as read_rows

    return {"rows": read_rows(database, path), "seconds": cpu_seconds() - start}


if __name__ == "__main__":
    works: dict[str, Callable[..., dict[str, float]]] = {
        "import": import_logs, "embed": embed, "digest": digest, "retain": retain, "grow": grow,
        "read": read, "rows": rows, "jobs": jobs,
        "items": items,
    }  # fmt: skip
    answer = works[sys.argv[1]](*sys.argv[2:])
    print(" ".join(f"{name}={value}" for name, value in answer.items()))
