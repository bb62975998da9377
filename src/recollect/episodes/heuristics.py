"""What follows from patterns: when this, do that.

A heuristic holds as often as its pattern went well, and fails as often as it went wrong:
every later attempt that tries it counts. One that fails more than it may by bad luck is
retired; it comes back only by holding more often than it fails.
"""

from __future__ import annotations

from collections.abc import Iterable

from recollect.episodes.odds import lower_bound, upper_bound
from recollect.episodes.sentences import condition_and_action
from recollect.model.episodes import Heuristic, Pattern

# What may at best be right every other time is no advice.
RETIRED_BELOW = 0.5


def heuristics_of(patterns: Iterable[Pattern], *, everything: bool = False) -> list[Heuristic]:
    """What to do when, the surest first; `everything` brings those that are retired."""
    found = []
    for one in patterns:
        if advice := condition_and_action(one.kind, one.signature):
            held, failed = one.went_well, one.went_wrong
            found.append(
                Heuristic(
                    id=one.id, condition=advice[0], action=advice[1], held=held, failed=failed,
                    confidence=lower_bound(held, held + failed),
                    status="retired" if is_contradicted(held, failed) else "active",
                    evidence=one.evidence,
                )
            )  # fmt: skip
    if not everything:
        found = [one for one in found if one.status == "active"]
    return sorted(
        found, key=lambda one: (one.status == "retired", -one.confidence, one.condition, one.action)
    )


def is_contradicted(held: int, failed: int) -> bool:
    """Whether advice has turned out wrong: it fails more often than not, or has hardly
    a chance to be right half of the time.
    """
    return failed > held or (held + failed > 0 and upper_bound(held, held + failed) < RETIRED_BELOW)
