"""A store on a connection of its own, for work that may be done on any thread.

The connection of a memory belongs to the thread that the memory is used on.
What records and retrieves has its own, opened at first use, and looks each time
whether the file is still the one it opened: it may have been made since, or
another may have taken its name.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from recollect.episodes import forks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store import Store

# Held while a recorder or retriever is made, so that two threads
# that are the first do not make two.
MAKING = threading.Lock()


class OwnStore:
    """One thread at a time may use it; whoever has it sees to that."""

    def __init__(self, path: str, open_store: Callable[[], Store]) -> None:
        self._path, self._open_store = path, open_store
        self._store: Store | None = None
        self._file: tuple[int, int] | None = None

    def find(self) -> Store | None:
        """The store, if there is one."""
        file = self._identity()
        if file is None:
            self.close()
            return None
        return self._opened(file)

    def ensure(self) -> Store:
        """The store, made if need be."""
        return self._opened(self._identity())

    def _opened(self, file: tuple[int, int] | None) -> Store:
        if self._store is not None and file != self._file:
            self.close()
        if self._store is None:
            self._store = self._open_store()
            self._file = self._identity()
        return self._store

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._store is not None:
            self._store.close()
        self._store = None

    def leave(self) -> None:
        """In a forked child: the connection is the parent's."""
        forks.leave(self._store)
        self._store = None

    def _identity(self) -> tuple[int, int] | None:
        """What tells the file from another that took its name."""
        try:
            stat = os.stat(self._path)
        except OSError:
            return None
        return stat.st_dev, stat.st_ino
