"""Asks before something happens that cannot be undone."""

from __future__ import annotations

import sys

from recollect.errors import UsageError


def confirm(what: str, *, otherwise: str) -> None:
    """Go on only if a person says yes; a program is told what to do `otherwise`."""
    if not sys.stdin.isatty():
        raise UsageError("This cannot be undone.", hint=otherwise)
    sys.stderr.write(f"Forget {what} for good? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing was forgotten.")
