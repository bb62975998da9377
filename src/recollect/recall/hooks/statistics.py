"""Intervals for shares, and for how much a share changed."""

from __future__ import annotations

from math import sqrt

from recollect.model.injections import Share

# The normal deviate of intervals that hold the true value 19 times out of 20.
Z = 1.959964
# Below this many sessions an interval is so wide that a number in front of it misleads.
LEAST_SESSIONS = 20


def share(count: int, of: int, least: int = LEAST_SESSIONS) -> Share:
    """A share with its Wilson interval; only the counts when there is not enough data."""
    if of < least:
        return Share(count=count, of=of)
    low, high = wilson(count, of)
    return Share(count=count, of=of, share=count / of, low=low, high=high)


def wilson(count: int, of: int) -> tuple[float, float]:
    """The interval of a share, which is right for small numbers and for shares near 0 and 1 too."""
    seen, spread = count / of, Z * Z / of
    middle = (seen + spread / 2) / (1 + spread)
    half = Z * sqrt(seen * (1 - seen) / of + spread / (4 * of)) / (1 + spread)
    # Rounding may not put a share of all or none outside.
    return max(0.0, min(seen, middle - half)), min(1.0, max(seen, middle + half))


def change(before: Share, after: Share) -> tuple[float, float, float] | None:
    """By how much a share changed, with the interval that both together leave open (Newcombe).

    None without both.
    """
    if before.share is None or after.share is None:
        return None
    old_low, old_high = wilson(before.count, before.of)
    new_low, new_high = wilson(after.count, after.of)
    by = after.share - before.share
    low = by - sqrt((after.share - new_low) ** 2 + (old_high - before.share) ** 2)
    high = by + sqrt((new_high - after.share) ** 2 + (before.share - old_low) ** 2)
    return by, low, high
