"""Work in the background."""

from __future__ import annotations

import sys

from recollect.memory import Memory
from recollect.system import platforms


def leave_work(memory: Memory, *, gently: bool = False, when_quiet: bool = False) -> None:
    """Start a process that runs the due jobs and goes on when this one ends.

    `gently` runs it at low priority. `when_quiet`, it waits until no turn has ended for a while;
    one that waits already is enough.
    """
    may_wait = gently or when_quiet
    if memory.jobs.count_due() > 0 and not (may_wait and memory.jobs.is_waiting_for_quiet()):
        command = [sys.executable, "-P", "-m", "recollect", "jobs", "run"]
        command += ["--when-quiet"] if when_quiet else []
        command += memory.settings.arguments()
        platforms.spawn_detached(command, gently=gently, environ=memory.settings.variables())
