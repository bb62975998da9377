"""A full disk is said, and leaves nothing half written behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from recollect.store.sqlite.database import MIGRATIONS
from tests.store.conftest import Filled, facts, turn

resource = pytest.importorskip("resource", reason="only POSIX limits the size of files")

ROOM_BYTES = 40_000


@pytest.fixture
def stored(filled: Filled) -> Path:
    """A store that is larger than what can be written."""
    noise = " ".join(f"{number * 7919 % 100_003:x}" for number in range(4_000))
    for name in ("a", "b", "c"):
        filled.keep(f"{name}.jsonl", facts(name), *turn(name, f"k{name}", noise, output=noise))
    filled.close()
    return filled.path


def recollect(
    stored: Path, *words: str, room: int = ROOM_BYTES
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recollect", *words, "--store", str(stored)],
        capture_output=True,
        text=True,
        env={**os.environ, "RECOLLECT_HOME": str(stored.parent)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def make_older(stored: Path) -> int:
    """Take the last migration off a store's record; says which one is the last now."""
    *_, before_last, last = sorted(MIGRATIONS)
    connection = apsw.Connection(str(stored))
    connection.execute(f"pragma user_version = {before_last}")
    connection.execute("delete from migrations where number = ?", (last,))
    connection.close()
    return before_last


def test_a_backup_that_does_not_fit_leaves_nothing(stored: Path, tmp_path: Path) -> None:
    """Half a copy takes the room that is missing, and looks like a whole one."""
    target = tmp_path / "copies"
    target.mkdir()
    (target / "copy.db").write_text("the copy of yesterday")

    full = recollect(stored, "backup", str(target / "copy.db"), "--force")

    assert full.returncode == 74, full.stderr
    assert "Free some disk space" in full.stderr
    assert files(target) == {"copy.db"}
    assert (target / "copy.db").read_text() == "the copy of yesterday"


def test_a_repair_that_does_not_fit_leaves_the_store_as_it_was(stored: Path) -> None:
    """What is damaged is all that somebody has."""
    data = bytearray(stored.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 8192] = bytes(8192)
    stored.write_bytes(data)
    before = files(stored.parent)

    full = recollect(stored, "doctor", "--repair")

    assert full.returncode == 74, full.stderr
    assert "Traceback" not in full.stderr
    # The log and its index are those of the store, which was looked at.
    assert files(stored.parent) - {"recollect.db-wal", "recollect.db-shm"} == before
    assert stored.read_bytes() == data


def test_an_export_that_does_not_fit_says_so(stored: Path, tmp_path: Path) -> None:
    """Its file is the caller's, who is told by the exit code that it is not whole."""
    with open(tmp_path / "out.jsonl", "w") as out:
        told = subprocess.run(
            [sys.executable, "-m", "recollect", "export", "--store", str(stored)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
        )

    assert told.returncode == 74
    assert told.stderr.startswith("error: Cannot write the answer")
    assert files(tmp_path) >= {"out.jsonl"}
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".partial")]


def test_a_migration_that_cannot_copy_the_store_leaves_it_as_it_was(stored: Path) -> None:
    """No change is made without a copy of what was before."""
    before_last = make_older(stored)
    before = files(stored.parent)

    full = recollect(stored, "sessions")

    assert full.returncode == 74, full.stderr
    assert "Cannot write" in full.stderr
    assert f".before-{before_last + 1:04d}" in full.stderr
    assert files(stored.parent) - {"recollect.db-wal", "recollect.db-shm"} == before


@pytest.mark.parametrize("room", [0, 20_000])
def test_an_older_store_on_a_full_disk_asks_for_room(stored: Path, room: int) -> None:
    """There is no room for the file that readers share; it is not the version that is wrong."""
    make_older(stored)

    full = recollect(stored, "sessions", room=room)

    assert full.returncode == 74, full.stderr
    assert "Free some disk space" in full.stderr


@pytest.mark.parametrize("room", [0, 1_000, 20_000, 40_000])
def test_a_store_that_cannot_be_made_is_said(tmp_path: Path, room: int) -> None:
    """Wherever the room ends; what was begun is made whole by the next run."""
    store = tmp_path / "new" / "recollect.db"
    store.parent.mkdir(mode=0o700)

    full = recollect(store, "import", str(tmp_path), room=room)
    then = recollect(store, "import", str(tmp_path), room=1 << 30)

    assert full.returncode == 74, full.stderr
    assert full.stderr.startswith("error: Cannot write")
    assert then.returncode == 0, then.stderr
