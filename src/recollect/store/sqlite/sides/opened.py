"""What every side of the store stands on: the open file."""

from __future__ import annotations

from recollect.store.sqlite.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.resident import Resident


class Opened:
    """One SQLite file, and its vectors in memory for a process that stays."""

    def __init__(
        self, path: str, *, create: bool = True, read_only: bool = False, resident: bool = False
    ) -> None:
        self.path = path
        self.db = Database(path, create=create, read_only=read_only)
        self._resident: Resident | None = None
        if resident:
            # Bodies are read a hundred times as fast once this is loaded.
            import msgspec  # noqa: F401

            from recollect.store.sqlite.resident import Resident

            self._resident = Resident(path)
        self._known: tuple[tuple[int, int], dict[str, tuple[int, int, int, int]]] | None = None

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._resident is not None:
            self._resident.close()
        self.db.close()
