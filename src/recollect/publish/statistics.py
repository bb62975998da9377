"""Intervals for shares and amounts, and for how much a share changed.

Docs/measure.md says why these.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

from recollect.model.publications import Amount, Share

# The normal deviate of intervals that hold the true value 19 times out of 20.
Z = 1.959964
# Below this many sessions or tasks, an interval is so wide that a number in front of it misleads.
LEAST_SESSIONS, LEAST_TASKS = 20, 10


def share(count: int, of: int, least: int) -> Share:
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


def amount(values: Sequence[float]) -> Amount:
    """The geometric mean of amounts above 0, with an interval on their
    logarithms: a few huge tasks do not decide.
    """
    logs = [log(value) for value in values if value > 0]
    if len(logs) < LEAST_TASKS:
        return Amount(of=len(logs))
    middle = sum(logs) / len(logs)
    spread = sqrt(sum((one - middle) ** 2 for one in logs) / (len(logs) - 1))
    half = _student(len(logs) - 1) * spread / sqrt(len(logs))
    return Amount(
        of=len(logs), typical=exp(middle), low=exp(middle - half), high=exp(middle + half)
    )


def _student(freedom: int) -> float:
    """Student's deviate, near enough for 9 degrees of freedom and
    more (Cornish and Fisher's series).
    """
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    third = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    return Z + first / freedom + second / freedom**2 + third / freedom**3
