"""Asks before something is done that cannot be undone."""

from __future__ import annotations

import sys

from recollect.errors import UsageError


def confirm(what: str, *, otherwise: str) -> None:
    """Go on only if a person says yes; a program is told what to do `otherwise`."""
    if not sys.stdin.isatty():
        raise UsageError("this cannot be undone", hint=otherwise)
    sys.stderr.write(f"forget {what} for good? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was forgotten")
