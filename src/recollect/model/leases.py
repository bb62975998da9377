"""A lease as whoever works under it sees it: without the store's dialect."""

from __future__ import annotations

from typing import NamedTuple

from recollect.errors import StoreError


class Lease(NamedTuple):
    """Something that is ours to work on until somebody else has a newer token."""

    name: str
    owner: str
    token: int


class LeaseLost(StoreError):
    """Somebody else has taken over what we were working on, or what it was made of is gone.

    Nothing was written.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Another process has taken over {name}.",
            hint="It goes on there. There is nothing to do.",
        )
