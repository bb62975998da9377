"""Takes back what is kept ready for hooks, when it may be told there no more."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs


def tell_nothing(db: Database, projects: Sequence[int] | None = None) -> None:
    """Leave nothing of these projects ready, or of any: what it was made of
    is not to be told there any more.
    """
    for table in ("packs", "reminders", "tellings"):
        if projects is None:
            db.execute(f"delete from {table}")
            continue
        db.many(
            f"delete from {table} where project in (select id from projects where id = ?1 or id = "
            "(select merged_into from projects where id = ?1))",
            [(project,) for project in projects],
        )
    Jobs(db).mark("hook lines outdated")
