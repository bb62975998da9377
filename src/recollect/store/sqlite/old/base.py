"""What every part of the old store stands on: the open file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.database import Database


class Base:
    """The file."""

    def __init__(self, db: Database) -> None:
        self.db = db
