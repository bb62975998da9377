"""Signals become clusters, clusters become ranked candidates.

With nothing left out, what stands was settled when it was learned, and only has
to be read. For some agent, project or time, or for another number of
sessions, the same is worked out over those sessions alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.model.answers import Answers
from recollect.patterns.learning import bring_up_to_date, chosen, tallies
from recollect.patterns.verdicts import may_be_habit, rank
from recollect.store.tallies import EVERYTHING, Selection

if TYPE_CHECKING:
    from collections.abc import Collection

    from recollect.model.patterns import Pattern, PatternStatus
    from recollect.store import Store
    from recollect.store.tallies import Tally

# Enough to see where it comes from; the catalogue shows more.
SIGHTINGS_SHOWN = 5
OUT_OF_USE = ("rejected", "retired")


def detect(
    store: Store,
    *,
    least: int,
    frequency: int | None,
    selection: Selection,
    half_life_days: int,
    limit: int | None,
) -> Answers[Pattern]:
    """What recurs, the strongest first and what several agents share before all.

    Not what a person put aside.

    A `frequency` below the `least` of the settings asks for what may be chance as well.
    """
    bring_up_to_date(store, least=least)
    wanted = least if frequency is None else max(frequency, 1)
    if selection == EVERYTHING and wanted >= least:
        found = [tally for tally in store.old.standing_tallies() if tally.sessions >= wanted]
    else:
        units = store.old.units_in(selection)
        counts = store.old.occasion_counts(units)
        often = store.old.often_seen(wanted, stale=False)
        keys = [key for key, seen in often if wanted < least or may_be_habit(key, seen, counts)]
        found = tallies(store, keys, least=wanted, units=units)
        found = found if wanted < least else chosen(store, found, counts, least=wanted, units=units)
    put_aside = {
        tally.pattern for status, tally in store.old.kept_tallies() if status in OUT_OF_USE
    }
    ranked = rank([tally for tally in found if tally.pattern not in put_aside], half_life_days)
    shown = store.old.as_patterns(
        ranked[:limit], half_life_days=half_life_days, shown=SIGHTINGS_SHOWN, selection=selection
    )
    answers = Answers(shown)
    if len(ranked) > len(shown):
        answers.remarks.append(f"{len(ranked) - len(shown)} more. To see them, raise --limit.")
    return answers


def patterns(
    store: Store,
    *,
    least: int,
    half_life_days: int,
    statuses: Collection[PatternStatus],
    limit: int | None,
    shown: int,
) -> list[Pattern]:
    """Every pattern that is kept, with what was decided about it.

    Of some statuses only, if any are given.
    """
    bring_up_to_date(store, least=least)
    found: list[Tally] = [
        tally for status, tally in store.old.kept_tallies() if not statuses or status in statuses
    ]
    ranked = rank(found, half_life_days)[:limit]
    return store.old.as_patterns(
        ranked, half_life_days=half_life_days, shown=shown, selection=EVERYTHING
    )
