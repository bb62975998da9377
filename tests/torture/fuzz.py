"""Every adapter reads logs that are almost right, a hundred at a time.

A reading ends with a checkpoint whose state is small, raises nothing, takes less than two seconds
and leaves the process as large as it was. One in a few hundred logs is imported as well: what an
adapter yields has to be fit for the store.
"""

from __future__ import annotations

import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from recollect.capture.adapters import BUILT_IN, Adapter, ProjectAdapter, get_adapter
from recollect.model.logs import Checkpoint, Source
from recollect.testing.contract import STATE_BYTES
from recollect.testing.imports import imported
from recollect.testing.samples import some_files
from tests.golden_logs import laid_out
from tests.torture.campaign import Round
from tests.torture.mutate import MAGIC, mutate_database, mutated

GOLDEN = Path(__file__).parents[1] / "golden"
BATCH, ONE_IMPORT_IN = 100, 250
MOST_SECONDS, GIVEN_UP_SECONDS = 2.0, 20
MOST_GROWTH_MB = 300


class Case(NamedTuple):
    """A golden log that is laid out: the files that matter, and what is read of it unharmed."""

    adapter: Adapter
    root: Path
    files: list[Path]
    checkpoints: dict[Source, list[Checkpoint]]


class TooSlow(BaseException):
    """A reading that would not end."""


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    cases = {agent: list(cases_of(agent, folder / agent)) for agent in BUILT_IN}
    signal.signal(signal.SIGPROF, _give_up)
    sizes: dict[str, int] = {}
    for batch in range(-(-count // (BATCH * len(cases)))):
        for agent, own in cases.items():
            chance = random.Random(f"{seed} {agent} {batch}")
            faults = [
                f"batch {batch}, read {number}: {fault}"
                for number in range(BATCH)
                for fault in attempt(chance.choice(own), chance)
            ]
            grown = _size_mb() - sizes.setdefault(agent, _size_mb())
            if grown > MOST_GROWTH_MB:
                faults.append(f"the process grew by {grown} MB up to batch {batch}")
            yield Round(agent, faults, count=BATCH)


def attempt(case: Case, chance: random.Random) -> list[str]:
    """Spoil one file of a log, and read it, whole or from a checkpoint."""
    file = chance.choice(case.files)
    whole = {path: path.read_bytes() for path in _with_log(file)}
    name = f"{case.root.parent.name}/{file.name}"
    try:
        if whole[file].startswith(MAGIC):
            mutate_database(file, chance)
        else:
            file.write_bytes(mutated(whole[file], chance))
        sources = [source for source in case.checkpoints if _reads(source, file)]
        source = chance.choice(sources or list(case.checkpoints))
        since = chance.choice([None, None, *case.checkpoints[source]])
        faults = _read(case.adapter, source, since)
        if not chance.randrange(ONE_IMPORT_IN):
            faults += _imported(case)
        return [f"{name}: {fault}" for fault in faults]
    finally:
        for path in _with_log(file):
            path.unlink(missing_ok=True)
        for path, data in whole.items():
            path.write_bytes(data)


def _read(adapter: Adapter, source: Source, since: Checkpoint | None) -> list[str]:
    began = time.process_time()
    last: Any = None
    signal.setitimer(signal.ITIMER_PROF, GIVEN_UP_SECONDS)
    try:
        for last in adapter.read(source, since):
            if isinstance(last, Checkpoint) and len(last.state) > STATE_BYTES:
                return [f"a state of {len(last.state)} bytes"]
    except TooSlow:
        return [f"was still reading after {GIVEN_UP_SECONDS} s"]
    except Exception as error:
        return [_told(error)]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    took = time.process_time() - began
    slow = [f"took {took:.1f} s"] if took > MOST_SECONDS else []
    return slow if isinstance(last, Checkpoint) else [*slow, f"ended with {type(last).__name__}"]


def _imported(case: Case) -> list[str]:
    """What becomes of the same log on its way into a store, and out again."""
    try:
        with imported(case.adapter, case.root) as memory:
            failed = [one.reason for one in memory.source_reports if "Error" in one.reason]
            for session in memory.sessions(limit=None, subagents=True):
                memory.show(session.id)
            memory.search("the", mode="text")
        return [f"import: {reason}" for reason in failed]
    except Exception as error:
        return [f"import: {_told(error)}"]


def _told(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return f"{type(error).__name__}: {str(error)[:120]} ({where})"


def cases_of(agent: str, folder: Path) -> Iterator[Case]:
    """The golden logs of an agent, laid out in a folder."""
    adapter = get_adapter(agent)
    for golden in sorted((GOLDEN / agent).glob("*/root")):
        root = laid_out(golden, folder / golden.parent.name / "root")
        sources = list(adapter.sources(str(root)))
        if isinstance(adapter, ProjectAdapter):
            sources += [one for one in adapter.in_project(str(root)) if one not in sources]
        read = {
            source: [item for item in adapter.read(source, None) if isinstance(item, Checkpoint)]
            for source in sources
        }
        files = some_files(root) if read else []
        if files:
            yield Case(adapter, root, files, read)
        else:
            shutil.rmtree(root)


def _reads(source: Source, file: Path) -> bool:
    places = {source.path, source.path.partition("#")[0], *source.companions}
    return any(str(place) in places for place in (file, *file.parents))


def _with_log(file: Path) -> list[Path]:
    """A file and what SQLite keeps beside it, as far as it is there."""
    beside = [file, *(Path(f"{file}{end}") for end in ("-wal", "-shm", "-journal"))]
    return [path for path in beside if path.exists()]


def _give_up(*_: object) -> None:
    raise TooSlow


def _size_mb() -> int:
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size >> (20 if sys.platform == "darwin" else 10)
