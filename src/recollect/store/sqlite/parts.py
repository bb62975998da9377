"""A turn's body as it is stored. On the path of a cold search: nothing is imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.database import Database


def stored_parts(db: Database, turn: int) -> list[bytes]:
    """A turn's body, part by part."""
    return [events for (events,) in db.rows("select events from bodies where turn = ? order by part", (turn,))]
