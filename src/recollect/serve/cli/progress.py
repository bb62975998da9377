"""Progress on stderr: a bar on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any

from recollect.serve.output import say

EVERY_SECONDS = 2.0


class ProgressBar:
    """Shows how far something is; says nothing when it is done quickly."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.last = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __call__(self, done: int, total: int, path: str) -> None:
        """Show the next step; the bar is made at the first one. Nothing to do needs none."""
        if not total:
            return
        if sys.stderr.isatty():
            self._draw(done, total, path)
        elif time.monotonic() - self.last >= EVERY_SECONDS:
            self.last = time.monotonic()
            say(f"{self.what} {done} of {total}")

    def _draw(self, done: int, total: int, path: str) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[name]}", markup=False), console=Console(stderr=True),
                transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task(self.what, total=total, name="")
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, name=os.path.basename(path)[:40])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
