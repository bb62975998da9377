"""What belongs to a process is left behind by its forked children.

Threads do not survive a fork, locks may be held by threads that are not there
any more, and a connection to SQLite that a child closes takes the parent's
locks on the file with it. So a child begins with nothing, and keeps what it
may not touch for as long as it lives.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    """Something that begins anew in a forked child."""

    def begin_anew(self) -> None:
        """Everything up to here is the parent's."""


_LIVING: weakref.WeakSet[Forked] = weakref.WeakSet()
_PARENTS: list[object] = []


def notice(one: Forked) -> None:
    """Have something begin anew in forked children."""
    _LIVING.add(one)


def leave(thing: object) -> None:
    """Keep what is the parent's, so that nothing closes it."""
    if thing is not None:
        _PARENTS.append(thing)


def _begin_anew() -> None:
    for one in list(_LIVING):
        one.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
