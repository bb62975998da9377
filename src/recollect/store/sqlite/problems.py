"""What was wrong in the logs."""

from __future__ import annotations

from recollect.model.logs import Problem
from recollect.store.sqlite.database import Database
from recollect.system.clock import now_ms

# A log full of rubbish may not fill the store with complaints about it.
PROBLEMS_KEPT = 100


class Problems:
    """What was wrong in the logs."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def save(self, source_id: int, problems: list[Problem]) -> None:
        """Keep what was wrong in a source, up to a number that still says something."""
        kept = self.db.value("select count(*) from problems where source = ?", (source_id,))
        now = now_ms()
        self.db.many(
            "insert into problems (source, kind, line, reason, count, at) values (?, ?, ?, ?, ?, "
            "?)",
            [
                (source_id, one.kind, one.line, one.reason, one.count, now)
                for one in problems[: max(0, PROBLEMS_KEPT - kept)]
            ],
        )
