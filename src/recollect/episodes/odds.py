"""How sure one may be of what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, lgamma, log, log1p, sqrt

# Nineteen times out of twenty, the truth is above the lower bound by this.
Z = 1.96
# Up to so many tries the chance is worked out exactly.
EXACT = 64


def lower_bound(good: int, tries: int) -> float:
    """The lower end of what a share may truly be, after Wilson: 0.44 for three
    of three, 0.89 for thirty of thirty.
    """
    if not tries:
        return 0.0
    share, square = good / tries, Z * Z / tries
    middle = share + square / 2
    spread = Z * sqrt(share * (1 - share) / tries + square / (4 * tries))
    return max(0.0, round((middle - spread) / (1 + square), 4))


def upper_bound(good: int, tries: int) -> float:
    """The upper end of it."""
    return round(1 - lower_bound(tries - good, tries), 4)


def chance_of(seen: int, chances: Sequence[float]) -> float:
    """How likely it is that so many of some tries succeed, each
    of which has a chance of its own.
    """
    if seen <= 0:
        return 1.0
    if seen > len(chances):
        return 0.0
    if len(chances) <= EXACT:
        # In any order the same, to the last digit.
        return _exactly(seen, sorted(chances))
    # With the same mean for all of them, so many are a little likelier than they are.
    return tail(seen, len(chances), fsum(chances) / len(chances))


def _exactly(seen: int, chances: Sequence[float]) -> float:
    """The chance of at least so many, try by try; `below[n]` is that of exactly n so far."""
    below = [1.0] + [0.0] * (seen - 1)
    reached = 0.0
    for chance in chances:
        reached += below[-1] * chance
        for count in range(seen - 1, 0, -1):
            below[count] += (below[count - 1] - below[count]) * chance
        below[0] *= 1 - chance
    return reached


def tail(seen: int, tries: int, chance: float) -> float:
    """The chance of at least so many successes when all tries have the same chance."""
    if seen <= tries * chance or chance >= 1.0:
        return 1.0
    if chance <= 0.0:
        return 0.0
    whole, yes, no = lgamma(tries + 1), log(chance), log1p(-chance)
    return fsum(
        exp(
            whole
            - lgamma(count + 1)
            - lgamma(tries - count + 1)
            + count * yes
            + (tries - count) * no
        )
        for count in range(seen, tries + 1)
    )
