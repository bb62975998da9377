"""Searches that a person keeps, the last kept first."""

from __future__ import annotations

import json

from recollect.store.sqlite.database import Database

_NAME = "saved_searches"


class SavedSearches:
    """A short list of queries, as they were typed."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def all(self) -> list[str]:
        """Every one of them."""
        found = self.db.value("select value from store_info where name = ?", (_NAME,))
        try:
            kept = json.loads(found) if found else []
        except (ValueError, UnicodeError):
            # What damage made of it is no reason to show nothing else.
            return []
        return [one for one in kept if isinstance(one, str)] if isinstance(kept, list) else []

    def replace(self, searches: list[str]) -> None:
        """Keep these and no others."""
        with self.db.transaction():
            self.db.execute(
                "insert or replace into store_info values (?, ?)", (_NAME, json.dumps(searches))
            )
