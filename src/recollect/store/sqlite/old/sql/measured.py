"""How often notes helped and harmed, as people and agents say."""

from __future__ import annotations

from recollect.store.sqlite.database import Database


def standing(db: Database) -> dict[str, tuple[int, int]]:
    """How often each note helped and harmed, as far as anything is known of it."""
    rows = db.rows(
        """
        select ref, sum(helpful), sum(not helpful) from feedback
         where ref like 'note:%' group by ref
        """
    )
    return {ref: (helpful, harmful) for ref, helpful, harmful in rows}
