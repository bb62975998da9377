"""Does something to a copy of the store, to see what it comes to.

A dry run that works things out another way tells something else in the end: what
it says here is what the same code did, and the copy is thrown away. It lies in a
folder of its own among the system's temporary files, which only its user may open.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from recollect.store.spool import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.settings import Settings
    from recollect.store import Store


@contextmanager
def rehearsed(settings: Settings, store: Store | None) -> Iterator[Settings]:
    """The same settings for a copy of the store and a home that is not there yet."""
    with TemporaryDirectory(prefix="recollect-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "recollect.db")
        if store is not None:
            store.upkeep.back_up(path)
            if os.path.exists(path_of(settings.store)):
                shutil.copy(path_of(settings.store), path_of(path))
        yield settings.elsewhere(home=folder, store=path)
