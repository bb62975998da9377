"""Work that nobody waits for."""

from __future__ import annotations

import sys

from recollect.memory import Memory
from recollect.system import platforms


def leave_work(memory: Memory, *, gently: bool = False) -> None:
    """Have the jobs that are due done by a process that goes on when this one ends.

    `gently` lets everything else go first.
    """
    if memory.has_work():
        command = [
            sys.executable,
            "-P",
            "-m",
            "recollect",
            "work",
            "--store",
            memory.settings.store,
        ]
        platforms.spawn_detached(command, gently=gently)
