"""What follows from patterns: when this, do that.

A heuristic holds as often as its pattern went well, and fails as often as it
went wrong: every later session that tries it counts. One that fails more than
it may by bad luck loses its standing, and is retired; it comes back only by
holding more often than it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.patterns.odds import lower_bound, upper_bound
from recollect.patterns.sentences import condition_and_action
from recollect.store.tallies import Rule

if TYPE_CHECKING:
    from recollect.model.patterns import Heuristic
    from recollect.store import Store
    from recollect.store.tallies import Tally

# What may at best be right every other time is no advice.
RETIRED_BELOW = 0.5
SIGHTINGS_SHOWN = 5


def rules_of(tallies: Sequence[Tally]) -> list[Rule]:
    """The heuristics that follow from patterns, each with how often it held."""
    found = []
    for tally in tallies:
        advice = condition_and_action(tally.kind, tally.signature)
        if advice is not None:
            held, failed = tally.went_well, tally.went_wrong
            found.append(
                Rule(
                    tally.pattern,
                    tally.pattern,
                    *advice,
                    held,
                    failed,
                    is_contradicted(held, failed),
                )
            )
    return found


def is_contradicted(held: int, failed: int) -> bool:
    """Whether advice has turned out wrong: it fails more often than not, or has hardly
    a chance to be right half of the time.
    """
    return failed > held or (held + failed > 0 and upper_bound(held, held + failed) < RETIRED_BELOW)


def heuristics(store: Store, *, everything: bool = False) -> list[Heuristic]:
    """What to do when, the surest first; of those that were retired only with `everything`."""
    found = []
    for made in store.old.heuristics(SIGHTINGS_SHOWN):
        made.confidence = lower_bound(made.held, made.held + made.failed)
        if everything or made.status == "active":
            found.append(made)
    return sorted(
        found, key=lambda one: (one.status == "retired", -one.confidence, one.condition, one.action)
    )
