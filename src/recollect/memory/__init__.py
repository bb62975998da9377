"""The front door: `Memory.open()` and, from there, everything recollect can do.

    from recollect import Memory

    with Memory.open() as memory:
        memory.import_logs()
        for hit in memory.search("deadlock in the migration"):
            print(hit.ref, hit.snippet)

Every method is short: it finds the stage that has the idea and asks it. The
faces (command line, hooks, servers) talk to this class and to nothing below
it, so whatever one of them can do, a script can.

The store is opened at first use, and stages are imported at first use: a cold
search pays for a search and for nothing else.
"""

from __future__ import annotations

from recollect.memory.upkeep import Upkeep


class Memory(Upkeep):
    """A store with the stages around it. Use one per thread; close it, or use `with`."""
