"""Follows the agents' folders and imports what they write, as they write it.

The kernel tells us when something changes, so idling costs nothing. A change
starts an ordinary sweep: finding out that the other thousand files did not
change is cheaper than keeping a second notion of what a source is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from threading import Event as Flag

from watchfiles import watch as changes

# How often we look whether a folder appeared that was not there at the start.
LOOK_AGAIN_MS = 20_000
STEP_MS = 50


def follow(
    roots: Callable[[], list[str]], *, debounce_ms: int, stop: Flag | None = None
) -> Iterator[None]:
    """Yields once at the start, and after each burst of changes below the roots that exist."""
    stop = stop or Flag()
    # Taken before what is there is read: a folder that appears meanwhile is another one.
    existing = _existing(roots())
    yield
    while not stop.is_set():
        if not existing:
            stop.wait(LOOK_AGAIN_MS / 1000)
        else:
            for batch in changes(
                *existing, debounce=debounce_ms, step=STEP_MS, rust_timeout=LOOK_AGAIN_MS,
                yield_on_timeout=True, stop_event=stop,
                raise_interrupt=True, ignore_permission_denied=True, watch_filter=None,
            ):  # fmt: skip
                if batch:
                    yield
                if _existing(roots()) != existing:
                    break
        if (now := _existing(roots())) != existing:
            existing = now
            yield


def _existing(roots: list[str]) -> list[str]:
    """The roots that are there; a database is written to beside itself before it is written to."""
    beside = [f"{root}-wal" for root in roots if os.path.isfile(root)]
    return [path for path in [*roots, *beside] if os.path.exists(path)]
