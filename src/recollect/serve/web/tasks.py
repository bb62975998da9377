"""What the page has done to the store and does not wait for: an import, a copy.

One at a time, on a thread of its own: a page asks how far it is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from recollect.errors import RecollectError, UsageError
from recollect.memory import Memory
from recollect.model.reports import SourceReport
from recollect.serve.memory_thread import MemoryThread

BACKUPS = "backups"
MOST_REPORTED = 200


@dataclass(frozen=True)
class StoreTask:
    """An import or a backup: how far it is, and in the end what it came to."""

    kind: Literal["import", "backup"]
    done: int = 0
    total: int = 0
    is_running: bool = True
    said: str = ""
    failed: bool = False
    reports: tuple[SourceReport, ...] = ()


class StoreTasks:
    """The task that runs, or ran last."""

    def __init__(self, like: Memory) -> None:
        self._thread = MemoryThread(like)
        self._lock = threading.Lock()
        self.last: StoreTask | None = None
        self._followed: set[str] = set()

    def start_import(self) -> None:
        """Read what is new in the logs of this machine."""
        self._start(StoreTask("import"), self._import)

    def start_backup(self) -> None:
        """Copy the store into the folder of copies beside it."""
        self._start(StoreTask("backup"), self._backup)

    def follow(self, path: str) -> None:
        """Read a log again that has grown, unless that waits to be done already."""
        with self._lock:
            if path in self._followed:
                return
            self._followed.add(path)
        self._thread.submit(lambda memory: self._read_again(memory, path))

    def close(self) -> None:
        self._thread.close()

    def _start(self, task: StoreTask, run: Callable[[Memory], str]) -> None:
        with self._lock:
            if self.last is not None and self.last.is_running:
                raise UsageError(f"The {self.last.kind} is still running.", hint="Wait for it.")
            self.last = task
        self._thread.submit(lambda memory: self._run(memory, run))

    def _read_again(self, memory: Memory, path: str) -> None:
        with self._lock:
            # What is written from now on is read the next time.
            self._followed.discard(path)
        memory.import_logs([path])

    def _run(self, memory: Memory, run: Callable[[Memory], str]) -> None:
        try:
            said, failed = run(memory), False
        except RecollectError as error:
            said, failed = f"{error} {error.hint or ''}".strip(), True
        except Exception:
            self._change(is_running=False, failed=True, said="It failed; the log says why.")
            raise
        self._change(is_running=False, failed=failed, said=said)

    def _change(self, **values: object) -> None:
        with self._lock:
            assert self.last is not None
            self.last = replace(self.last, **values)  # type: ignore[arg-type]

    def _import(self, memory: Memory) -> str:
        report = memory.import_logs(
            progress=lambda done, total, path: self._change(done=done, total=total)
        )
        changed = [one for one in memory.source_reports if one.outcome != "unchanged"]
        self._change(reports=tuple(changed[:MOST_REPORTED]))
        memory.jobs.work(at_once=True)
        return (
            f"{report.sessions:,} sessions with {report.turns:,} turns are new, "
            f"in {report.imported + report.updated:,} of {report.discovered:,} logs."
        )

    def _backup(self, memory: Memory) -> str:
        folder = os.path.join(os.path.dirname(memory.settings.store), BACKUPS)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, f"recollect-{datetime.now():%Y-%m-%d-%H%M%S}.db")
        size = memory.store.backup(path)
        return f"Copied to {path}, {size / 1e6:,.1f} MB."
