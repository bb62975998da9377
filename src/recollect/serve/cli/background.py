"""Work that nobody waits for."""

from __future__ import annotations

import sys

from recollect import platforms
from recollect.memory import Memory


def leave_work(memory: Memory) -> None:
    """Have the jobs done by a process that goes on when this one ends."""
    if memory.jobs(limit=1):
        platforms.spawn_detached([sys.executable, "-m", "recollect", "work", "--store", memory.settings.store])
