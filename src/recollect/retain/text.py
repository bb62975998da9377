"""Keeps the text index small and quick after much has changed."""

from __future__ import annotations

from recollect.store import Store


def optimize_text(store: Store) -> None:
    """Merge the segments of the text index; also ends a scrub that somebody was in the way of."""
    store.upkeep.optimize()
