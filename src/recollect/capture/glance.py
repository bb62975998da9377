"""A glance at sources: enough to see that nothing changed, without what reading them needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from recollect.capture.discover import Found
    from recollect.model.logs import Source
    from recollect.store import Store


class SourceState(NamedTuple):
    """What a glance at a source tells: enough to see that nothing changed."""

    size_bytes: int
    mtime_ns: int
    inode: int


def look(source: Source) -> SourceState:
    """A glance at a source; at its companions too, unless it is a file that is appended to.

    What lies beside an appended file is of interest when that grew: a
    folder's index of titles changes with every session in it.
    """
    found = os.stat(source.path)
    size, mtime = found.st_size, found.st_mtime_ns
    for path in () if source.appended else source.companions:
        try:
            beside = os.stat(path)
        except (OSError, ValueError):
            continue
        size, mtime = size + beside.st_size, max(mtime, beside.st_mtime_ns)
    return SourceState(size, mtime, found.st_ino)


def is_up_to_date(store: Store, found: Sequence[Found]) -> bool:
    """Whether all of these sources look as they did when they were read. In doubt they do not:
    a sweep then says what is the matter with them.
    """
    known = store.sources.known()
    try:
        return all(
            known.get(source.path) == (*look(source), adapter.version)
            for adapter, source, _ in found
        )
    except (OSError, ValueError):
        return False
