"""Importers that are killed, and importers that all come at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from recollect.errors import NotFound
from recollect.memory import Memory
from recollect.model.sessions import SessionDetail
from tests.builders.homes import (
    claude_log,
    codex_log,
    codex_talk,
    everything,
    memory,
    refs,
    small_talk,
)

pytestmark = pytest.mark.store

# With 7 sources at a time each gets its own transaction; all at once share one.
IMPORTER = """
import sys
from recollect.memory import Memory
from recollect.settings import Settings

# What takes time to load is not what is tested.
import recollect.capture.sweep, recollect.store.sqlite.capture.writer

home, store, group = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
with Memory(Settings(home, store, {"redact.enabled": False})) as memory:
    paths = sorted(found.source.path for found in memory.agents.sources([home]))
    for start in range(0, len(paths), group):
        memory.import_logs(paths[start : start + group])
"""


def corpus(home: Path, sessions: int, turns: int) -> list[Path]:
    """Logs of both agents."""
    paths = [
        claude_log(home, small_talk(number, turns, "lorem ipsum dolor " * 12))
        for number in range(1, sessions + 1)
    ]
    for number in range(1, sessions // 4 + 1):
        thread = f"019ca000-0000-7000-8000-{number:012}"
        paths.append(
            codex_log(home, codex_talk(thread, f"water tree {number} " + "sit amet " * 20), thread)
        )
    return paths


def importer(home: Path, store: Path, group: int = 7) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", IMPORTER, str(home), str(store), str(group)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def imported(home: Path, store: Path) -> bool:
    """Whether an importer that is left alone comes to a good end."""
    process = importer(home, store)
    return (process.communicate()[1], process.returncode) == (b"", 0)


def in_peace(home: Path) -> tuple[dict[str, SessionDetail], list[str]]:
    """What a store knows that nobody disturbed, and where a word of every turn is found."""
    with memory(home, "in-peace.db") as mind:
        mind.import_logs([home])
        return everything(mind), refs(mind, "lorem")


def is_sound(store: Path) -> bool:
    """Whether SQLite finds nothing wrong with a file, and the
    text index matches what it indexes.
    """
    with Memory.open(store) as mind:
        db = mind._shared.ensure_store().db
        texts = db.value("select count(*) from turns_text"), db.value("select count(*) from bodies")
        return db.value("pragma integrity_check") == "ok" and texts[0] == texts[1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_killed_at_any_moment_nothing_is_lost_and_nothing_comes_twice(home: Path) -> None:
    """Power fails, laptops close and people are impatient, also
    while an agent is writing its logs.
    """
    rounds, chance = 50, random.Random(20260101)
    paths = corpus(home, 60, 24)
    contents = {path: path.read_bytes() for path in paths}
    store = home / ".recollect" / "recollect.db"
    usual_seconds = 0.3

    killed = 0
    for number in range(1, rounds + 1):
        for path, content in contents.items():
            path.write_bytes(content[: len(content) * number // rounds])
        process = importer(home, store, chance.choice([7, 1000]))
        assert process.stdout is not None
        process.stdout.readline()
        started = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.wait(usual_seconds * chance.random())
            usual_seconds = (usual_seconds + time.monotonic() - started) / 2
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert is_sound(store)
    assert imported(home, store)

    assert killed > rounds // 4
    with Memory.open(store) as mind:
        assert (everything(mind), refs(mind, "lorem")) == in_peace(home)


def test_sixteen_importers_at_once_do_the_work_of_one(home: Path) -> None:
    """Hooks of several agents start an import each.

    The first of them may have to make the store.
    """
    corpus(home, 24, 6)
    store = home / ".recollect" / "recollect.db"
    done = threading.Event()
    failures: list[BaseException] = []
    searches = 0

    def read() -> None:
        nonlocal searches
        while not done.is_set():
            try:
                with Memory.open(store) as mind:
                    for _ in range(20):
                        mind.search("lorem ipsum")
                        list(mind.sessions())
                        searches += 1
            except NotFound:
                time.sleep(0.01)  # Nobody has made the store yet.
            except BaseException as failure:
                failures.append(failure)
                return

    reader = threading.Thread(target=read)
    reader.start()
    processes = [importer(home, store, group) for group in [7, 1000] * 8]
    told = [process.communicate()[1].decode() for process in processes]
    done.set()
    reader.join()

    assert ([process.returncode for process in processes], told) == ([0] * 16, [""] * 16)
    assert failures == []
    assert searches > 0
    assert is_sound(store)
    with Memory.open(store) as mind:
        assert (everything(mind), refs(mind, "lorem")) == in_peace(home)


def test_a_log_may_grow_while_it_is_read(home: Path) -> None:
    """What is written after we looked at the size is there at the next import, once."""
    talk = small_talk(1, 400, "lorem ipsum dolor " * 12)
    path = claude_log(home, talk)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 10])
    store = home / ".recollect" / "recollect.db"
    processes = []

    with path.open("ab", buffering=0) as log:
        rest = content[len(content) // 10 :]
        for start in range(0, len(rest), len(rest) // 60 + 1):
            log.write(rest[start : start + len(rest) // 60 + 1])
            if start % 3 == 0 and len(processes) < 6:
                processes.append(importer(home, store))
            time.sleep(0.02)
    ended = [process.communicate()[1].decode() for process in processes]
    assert imported(home, store)

    assert ended == [""] * len(processes)
    with Memory.open(store) as mind:
        assert (everything(mind), refs(mind, "lorem")) == in_peace(home)


def test_killing_leaves_no_locks_behind(home: Path) -> None:
    """The next command does not wait for somebody who is gone."""
    corpus(home, 12, 12)
    store = home / ".recollect" / "recollect.db"
    process = importer(home, store, 1000)
    deadline = time.monotonic() + 20
    while not os.path.exists(f"{store}-wal") and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()
    process.communicate()

    started = time.monotonic()
    with memory(home) as mind:
        mind.import_logs([home])
        took_seconds = time.monotonic() - started

        assert took_seconds < 5
        assert len(everything(mind)) == 12 + 3
