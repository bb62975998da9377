"""Work in the background."""

from __future__ import annotations

import sys

from recollect.memory import Memory
from recollect.system import platforms


def leave_work(memory: Memory, *, gently: bool = False) -> None:
    """Start a process that runs the due jobs and goes on when this one ends.

    `gently` runs it at low priority.
    """
    if memory.jobs.count_due() > 0:
        command = [sys.executable, "-P", "-m", "recollect", "jobs", "run"]
        command += memory.settings.arguments()
        platforms.spawn_detached(command, gently=gently, environ=memory.settings.variables())
