"""Runs one command in a process that may be killed, on a disk that may fail, at another time.

Processes are forked from a server that has loaded everything already, so that what is killed is
the command and not the start of Python.
"""

from __future__ import annotations

import os
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.torture.disk import Fault, FaultyDisk

_processes = get_context("forkserver") if sys.platform != "win32" else get_context("spawn")
_processes.set_forkserver_preload(["tests.torture.preload"])
LONG_SECONDS = 120.0


class Ended(NamedTuple):
    """How a command came to its end: a negative code is the signal that killed it."""

    code: int
    said: str
    changes: int
    seconds: float


def run(
    home: Path,
    words: tuple[str, ...],
    *,
    fault: Fault | None = None,
    kill_after: float | None = None,
    hours_ahead: float = 0,
) -> Ended:
    """Run a command line of recollect in a home; kill it after a while where that is said."""
    said, counted = home.parent / "said", home.parent / "changes"
    counted.unlink(missing_ok=True)
    began = time.monotonic()
    process = _processes.Process(
        target=_act, args=(str(home), words, fault, hours_ahead, str(said), str(counted))
    )
    process.start()
    process.join(LONG_SECONDS if kill_after is None else kill_after)
    stuck = kill_after is None and process.is_alive()
    process.kill()
    process.join()
    seconds = time.monotonic() - began
    text = said.read_text(errors="replace") if said.exists() else ""
    changes = int(counted.read_text() or 0) if counted.exists() else 0
    code = process.exitcode or 0
    process.close()
    return Ended(code, f"still running after {LONG_SECONDS:.0f} s" if stuck else text, changes,
                 seconds)  # fmt: skip


def _act(
    home: str,
    words: tuple[str, ...],
    fault: Fault | None,
    hours_ahead: float,
    said: str,
    counted: str,
) -> None:
    os.environ.clear()
    os.environ.update(
        HOME=home, USERPROFILE=home, RECOLLECT_HOME=f"{home}/.recollect", SQLITE_TMPDIR=home
    )
    os.chdir(home)
    for stream in (1, 2):
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (stream == 1) * os.O_TRUNC)
        os.dup2(handle, stream)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    if hours_ahead:
        _set_clock(hours_ahead * 3600)
    from recollect.serve.cli import main
    from recollect.system import platforms

    # What goes on in the background is a command of its own here.
    platforms.spawn_detached = lambda *_, **__: None  # type: ignore[assignment]
    disk = FaultyDisk(home, fault or Fault())
    if fault:
        disk.install()
    code = main(list(words))
    sys.stdout.flush()
    sys.stderr.flush()
    Path(counted).write_text(str(disk.changes))
    os._exit(code)


def _set_clock(ahead_seconds: float) -> None:
    """The time of day is another one; what measures durations goes on."""
    real, real_ns = time.time, time.time_ns
    time.time = lambda: real() + ahead_seconds
    time.time_ns = lambda: real_ns() + int(ahead_seconds * 1e9)
