"""What was wrong in the logs."""

from __future__ import annotations

from recollect.model.answers import Listing
from recollect.model.logs import Problem
from recollect.model.reports import SourceProblems
from recollect.store.sqlite import listing
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.sources import path_text
from recollect.system.clock import iso, now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.database import Row

# A log full of rubbish may not fill the store with complaints about it.
PROBLEMS_KEPT = 100


class Problems:
    """What was wrong in the logs."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def page(
        self, *, limit: int, cursor: str | None = None, agent: str | None = None
    ) -> Listing[SourceProblems]:
        """The sources in which something was wrong, the last imported first, with all of it."""
        wrong = "(failure is not null or id in (select source from problems))"
        wanted, values = (wrong, []) if agent is None else (f"{wrong} and agent = ?", [agent])
        total = self.db.value(f"select count(*) from sources where {wanted}", values)
        after, shown = listing.beyond(cursor, "imported_at", "id")
        order = listing.order("imported_at", "id")
        rows = self.db.rows(
            f"""
            select id, path, agent, imported_at, failure from sources
             where {wanted} and {after} order by {order} limit ?
            """,
            [*values, *shown, limit + 1],
        )
        last = rows[limit - 1] if len(rows) > limit else None
        return Listing(
            [self._of_source(row) for row in rows[:limit]],
            total=total,
            cursor=None if last is None else listing.cursor_of(last[3], last[0]),
        )

    def _of_source(self, row: Row) -> SourceProblems:
        number, stored, agent, at, failure = row
        path = path_text(stored)
        rows = self.db.rows(
            "select kind, reason, line, count from problems where source = ? order by rowid",
            (number,),
        )
        found = [
            Problem(path=path, kind=kind, reason=reason, line=line, count=count)
            for kind, reason, line, count in rows
        ]
        return SourceProblems(
            path=path, agent=agent, imported_at=iso(at), failure=failure,
            total=sum(one.count for one in found), problems=found,
        )  # fmt: skip

    def save(self, source_id: int, problems: list[Problem]) -> None:
        """Keep what was wrong in a source, up to a number that still says something."""
        kept = self.db.value("select count(*) from problems where source = ?", (source_id,))
        now = now_ms()
        self.db.many(
            """
            insert into problems (source, kind, line, reason, count, at)
            values (?, ?, ?, ?, ?, ?)
            """,
            [
                (source_id, one.kind, one.line, one.reason, one.count, now)
                for one in problems[: max(0, PROBLEMS_KEPT - kept)]
            ],
        )
