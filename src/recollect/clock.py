"""Times as we store and show them; light enough for a cold search."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def iso(at: int | None) -> str | None:
    """Milliseconds as ISO 8601 text in UTC, the way records show a time."""
    if at is None:
        return None
    seconds, rest = divmod(at, 1000)
    try:
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:03d}Z"
    except (OverflowError, ValueError, OSError):
        return None
