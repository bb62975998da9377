"""Asks before something happens that cannot be undone."""

from __future__ import annotations

import sys

from recollect.errors import UsageError
from recollect.serve.output import say


def confirm(what: str, *, otherwise: str) -> None:
    """Go on only if a person types it; a program is told what to do `otherwise`."""
    if not sys.stdin.isatty():
        raise UsageError("This cannot be undone.", hint=otherwise)
    say(f"Forget for good: {what}")
    sys.stderr.write("Type forget to confirm: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "forget":
        raise UsageError("Nothing was forgotten.")
