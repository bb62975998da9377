"""A store that may only be read is read: another user's, a backup, a folder mounted read-only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.errors import StoreUnwritable
from recollect.memory import Memory
from tests.store.conftest import Filled, facts, turn

READ = (
    ("search", "lighthouse"),
    ("sessions",),
    ("show", "codex:a#1"),
    ("recall", "the lighthouse"),
    ("doctor",),
    ("export",),
    ("stats",),
    ("memory", "list"),
    ("projects",),
    (),
)


def fill(filled: Filled) -> None:
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "about the lighthouse"))
    filled.store.upkeep.redaction_key()


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


Runner = Callable[..., "subprocess.CompletedProcess[str]"]


def _run(before: list[str], environ: dict[str, str]) -> Runner:
    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        line = [*before, sys.executable, "-m", "recollect", *words]
        return subprocess.run(line, env=environ, input=stdin, text=True, capture_output=True)

    return run


@pytest.fixture(params=["no permission", "mounted read-only"])
def locked(
    filled: Filled, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Filled, Runner]]:
    """A store, and a way to run recollect where it cannot be written."""
    home = tmp_path / "somebody"
    home.mkdir()
    environ = {
        **os.environ, "HOME": str(home), "RECOLLECT_HOME": str(home),
        "RECOLLECT_STORE": str(filled.path), "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    folder = filled.path.parent
    if request.param == "mounted read-only":
        if sys.platform != "linux" or shutil.which("unshare") is None:
            pytest.skip("needs unshare")
        script = f'mount --bind "{folder}" "{folder}" && mount -o remount,ro,bind "{folder}"'
        before = ["unshare", "--user", "--map-root-user", "--mount"]
        before += ["sh", "-c", f'{script} && exec "$@"', "sh"]
        tried = subprocess.run([*before, "true"], capture_output=True, check=False)
        if tried.returncode:
            pytest.skip("this machine lets nobody mount")
        yield filled, _run(before, environ)
    else:
        if os.name != "posix":
            pytest.skip("needs the permissions of POSIX")
        before = []
        if os.getuid() == 0:
            # Root may write everywhere, unless this one right is taken away.
            before = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
            if shutil.which("setpriv") is None or subprocess.run([*before, "true"]).returncode:
                pytest.skip("needs setpriv")
        yield filled, _run(before, environ)
        folder.chmod(0o755)


def close_to_writers(filled: Filled) -> None:
    folder = filled.path.parent
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def test_everything_that_reads_works(locked: tuple[Filled, Runner]) -> None:
    """Without a log beside it, the file is all there is."""
    filled, run = locked
    fill(filled)
    filled.close()
    before = listing(filled.path.parent)
    close_to_writers(filled)

    for words in READ:
        told = run(*words)
        assert told.returncode in (0, 1, 65), (words, told.stderr)
        assert "error" not in told.stderr, (words, told.stderr)
    found = run("search", "lighthouse", "--json")
    assert json.loads(found.stdout)["ref"] == "codex:a#1"
    assert listing(filled.path.parent) == before


def test_what_is_only_in_the_log_is_read_too(locked: tuple[Filled, Runner], tmp_path: Path) -> None:
    """A program that was killed, or a copy of a store in use, leaves a log beside the file."""
    filled, run = locked
    fill(filled)
    filled.keep("b.jsonl", facts("b"), *turn("b", "k9", "about the harbour"))
    kept = tmp_path / "kept"
    kept.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{filled.path}{end}", kept / f"recollect.db{end}")
    filled.close()
    for path in kept.iterdir():
        shutil.copy(path, filled.path.parent / path.name)
    close_to_writers(filled)
    before = listing(filled.path.parent)

    found = run("search", "harbour", "--json")

    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["ref"] == "codex:b#1"
    assert listing(filled.path.parent) == before


def test_a_store_in_use_by_its_owner_is_read(locked: tuple[Filled, Runner]) -> None:
    """Whoever may write goes on meanwhile; the reader sees what is committed."""
    filled, run = locked
    fill(filled)
    close_to_writers(filled)

    assert run("search", "lighthouse").returncode == 0


def test_a_hook_tells_what_is_ready(locked: tuple[Filled, Runner]) -> None:
    """An agent that runs in a container sees its user's memory, perhaps mounted read-only."""
    filled, run = locked
    fill(filled)
    filled.close()
    with Memory.open(filled.path) as memory:
        memory.notes.add("Run the tests with make.", folder="/home/ada/shop")
        memory.jobs.work()
    close_to_writers(filled)
    event = {"session_id": "s", "cwd": "/home/ada/shop", "hook_event_name": "SessionStart",
             "transcript_path": "/tmp/none.jsonl"}  # fmt: skip

    told = run("hook", "claude-code", "SessionStart", "--debug", stdin=json.dumps(event))

    assert told.returncode == 0
    assert "make" in told.stdout, told.stderr


def test_what_would_write_says_that_it_cannot(locked: tuple[Filled, Runner]) -> None:
    """With the code for it, and without a traceback."""
    filled, run = locked
    fill(filled)
    filled.close()
    close_to_writers(filled)

    for words in (("forget", "codex:a", "--yes"), ("import",)):
        told = run(*words)
        assert told.returncode == StoreUnwritable.exit_code, (words, told.stdout, told.stderr)
        assert "Cannot write" in told.stderr
