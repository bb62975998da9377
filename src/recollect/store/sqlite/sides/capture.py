"""The store's side of capture."""

from __future__ import annotations

from recollect.store.sqlite.sides.opened import Opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.batch import KnownSource
    from recollect.store.sqlite.capture import Writing


class Capture(Opened):
    """What an import writes and compares with."""

    def writing(self) -> Writing:
        """One transaction of capture: `with store.writing() as keeper:
        ...` keeps all of it, or nothing.
        """
        from recollect.store.sqlite.capture import Writing

        return Writing(self.db)

    def known_sources(self, paths: list[str] | None = None) -> dict[str, tuple[int, int, int, int]]:
        """What a sweep compares with, for some paths or for all.

        The latter is kept at hand while nobody writes.
        """
        from recollect.store.sqlite import sources

        if paths is not None:
            return sources.known_sources(self.db, paths)
        stamp = (int(self.db.value("pragma data_version")), self.db.connection.total_changes())
        if self._known is None or self._known[0] != stamp:
            self._known = (stamp, sources.known_sources(self.db))
        return self._known[1]

    def find_source(self, path: str) -> KnownSource | None:
        """What is remembered about one source."""
        from recollect.store.sqlite import sources

        return sources.find_source(self.db, path)

    def folders(self) -> list[str]:
        """The folders that sessions took place in, and those known to belong to a project."""
        from recollect.store.sqlite import sources

        return sources.folders(self.db)

    def find_rates(self, model: str, day: str, version: str) -> tuple[bool, str | None]:
        """Whether the prices of a model on a day are known, and what they are."""
        row = self.db.row(
            "select prices from rates where model = ? and day = ? and version = ?",
            (model, day, version),
        )
        return (True, row[0]) if row else (False, None)

    def save_rates(self, model: str, day: str, version: str, prices: str | None) -> None:
        """Remember the prices of a model on a day."""
        self.db.execute(
            "insert or replace into rates (model, day, version, prices) values (?, ?, ?, ?)",
            (model, day, version, prices),
        )
