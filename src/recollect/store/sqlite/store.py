"""The SQLite store: a list of what it can do, by theme, each thing done in a module of its own.

A method imports its module when it is called: a cold search may not pay for
what writing needs.
"""

from __future__ import annotations

from recollect.store.sqlite.sides.capture import Capture
from recollect.store.sqlite.sides.distill import Distill
from recollect.store.sqlite.sides.learn import Learn
from recollect.store.sqlite.sides.notes import Notes
from recollect.store.sqlite.sides.publish import Publish
from recollect.store.sqlite.sides.recall import Recall
from recollect.store.sqlite.sides.upkeep import Upkeep


class SqliteStore(Capture, Recall, Notes, Distill, Learn, Publish, Upkeep):
    """One SQLite file and everything we ask of it."""
