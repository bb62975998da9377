"""All SQL lives here; everybody else asks the store.

`store.turns.get(...)`: a store is an object of parts, each a class with its SQL
on the page (`sqlite/store.py` lists them).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.reports import RepairReport
    from recollect.store.sqlite.capture.writer import Writer
    from recollect.store.sqlite.store import Store

__all__ = ["Store", "Writer", "open_store", "repair_store"]


def open_store(
    path: str, *, create: bool = True, read_only: bool = False, resident: bool = False
) -> Store:
    """The store at a path; `resident` keeps in memory what a process
    that stays asks for again and again.
    """
    from recollect.store.sqlite.store import Store

    return Store(path, create=create, read_only=read_only, resident=resident)


def repair_store(path: str, *, rebuild_text: bool = False) -> RepairReport:
    """Salvage a damaged store; a sound one only gets its text index made again, when asked."""
    from recollect.store.sqlite.salvage.repair import repair

    return repair(path, rebuild=rebuild_text)


def __getattr__(name: str) -> object:
    # Late, because a cold search opens the store and never writes to it.
    if name == "Writer":
        from recollect.store.sqlite.capture.writer import Writer

        return Writer
    if name == "Store":
        from recollect.store.sqlite.store import Store

        return Store
    raise AttributeError(name)
