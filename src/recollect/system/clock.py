"""Times as we store and show them; light enough for a cold search."""

from __future__ import annotations

import time

# What find_moment understands, for those who typed something else.
MOMENTS = "2026-11-18, yesterday or 3d"

_AGES = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


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


def find_moment(text: str, *, end: bool = False) -> int | None:
    """What a person calls a time, as milliseconds; None when it is none.

    A year, a month, a day or a time, all UTC; an age such as `7d` or `12h`;
    `today` or `yesterday`. With `end`, the moment when that year, month or day is over.
    """
    if text[-1:] in _AGES and text[:-1].isdecimal():
        # Nine digits reach back beyond every clock, and stay a number that SQLite can hold.
        return max(0, now_ms() - int(text[:-1][:9]) * _AGES[text[-1]] * 1000)
    from datetime import UTC, datetime, timedelta

    named = {"today": 0, "yesterday": 1}
    if text.lower() in named:
        text = (datetime.now(UTC) - timedelta(days=named[text.lower()])).strftime("%Y-%m-%d")
    try:
        found = datetime.fromisoformat({4: text + "-01-01", 7: text + "-01"}.get(len(text), text))
        if end and len(text) in (4, 7):
            # From a first day, 31 days reach the next month, and 366 the next year.
            found = (found + timedelta(days=31 if len(text) == 7 else 366)).replace(day=1)
        elif end and len(text) <= 10:
            found += timedelta(days=1)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
