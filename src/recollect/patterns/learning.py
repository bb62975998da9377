"""Learns from sessions and live attempts, one by one, and works out what recurs in all of them.

What a session shows depends on that session alone, and what recurs depends on
what is stored and on nothing else: the order in which sessions come, how often
they are looked at, and where a run was stopped leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.model.reports import Learned
from recollect.patterns.extractors import extract
from recollect.patterns.heuristics import rules_of
from recollect.patterns.lesson import Lesson
from recollect.patterns.moves import moves_of, moves_of_steps
from recollect.patterns.verdicts import (
    UNWANTED,
    Bases,
    chance_in,
    compared_with,
    is_habit,
    is_likely,
    may_be_habit,
    tally_of,
    without_repetition,
)

if TYPE_CHECKING:
    from recollect.model.digests import Digest, Task
    from recollect.model.episodes import Episode
    from recollect.model.sessions import Outcome
    from recollect.settings import Settings
    from recollect.store import Store
    from recollect.store.history import Passage
    from recollect.store.tallies import Key, Tally

    Derive = Callable[[Digest, Sequence[Passage]], list[Episode]]

# Another number whenever the same session would show something else, or the
# same sightings come to something else.
LOOKING = 1
# So many sessions are committed together: writing each for itself
# would wait for the disk each time.
AT_ONCE = 16
_VERDICTS: dict[Outcome, bool] = {"success": True, "partial": True, "fail": False}
# What speaks for a task that has no verdict.
_GOOD_SIGNS = ("accepted", "check_fixed", "kept", "check_passed")


def learn(store: Store, *, least: int, derive: Derive) -> Iterator[Learned]:
    """Learn from whatever is new, a report after each few; the last one counts.

    `derive` makes attempts of a session's tasks, which are kept with what it teaches.
    """
    waiting = store.old.unlearned_sessions()
    report = Learned(remaining=len(waiting))
    for start in range(0, len(waiting), AT_ONCE):
        # Looked at first and kept then, because whoever imports waits for those who write.
        studied = [
            _Studied(store, *session, derive) for session in waiting[start : start + AT_ONCE]
        ]
        with store.transaction():
            report.sessions += sum(one.keep(store) for one in studied)
        report.remaining = max(0, len(waiting) - start - AT_ONCE)
        yield report
    for report.episodes in _learn_episodes(store):
        yield report
    bring_up_to_date(store, least=least)
    report.patterns = len(store.old.standing_tallies())
    yield report


def learn_due(store: Store, settings: Settings, derive: Derive) -> Iterator[Learned]:
    """The job: learn from whatever is new, as the settings say."""
    least = max(settings.number("learn.min_sessions"), 1)
    return learn(store, least=least, derive=derive)


class _Studied:
    """What a session has to teach, and the attempts that it came to."""

    def __init__(self, store: Store, number: int, ref: str, mark: int, derive: Derive) -> None:
        digest, passages = store.digests.find(ref), store.digests.passages(number)
        self.number, self.mark = number, mark
        self.lesson = lesson_of(digest, passages) if digest else Lesson()
        self.episodes = derive(digest, passages) if digest else []
        self.times = {passage.ordinal: passage.at for passage in passages}
        self.gone = {passage.ordinal for passage in passages if not passage.whole}

    def keep(self, store: Store) -> bool:
        """Keep it, unless the session has changed since."""
        lesson = self.lesson
        if not store.old.save_lesson(
            self.number, self.mark, lesson.signals, lesson.occasions, self.times, self.gone
        ):
            return False
        store.episodes.replace(self.number, self.episodes)
        return True


def _learn_episodes(store: Store) -> Iterator[int]:
    """Learn from attempts that were recorded live; how many, after each few."""
    last, numbers = store.old.unlearned_episodes()
    for start in range(0, len(numbers), AT_ONCE):
        found = store.episodes.find(numbers[start : start + AT_ONCE])
        lessons = [
            (number, lesson_of_episode(episode)) for number, episode in sorted(found.items())
        ]
        with store.transaction():
            for number, lesson in lessons:
                store.old.save_episode_lesson(number, lesson.signals, lesson.occasions)
        yield min(start + AT_ONCE, len(numbers))
    store.old.save_learned_episodes(last)


def lesson_of(digest: Digest, passages: Sequence[Passage]) -> Lesson:
    """What a session has to teach, task by task."""
    lesson = Lesson()
    by_turn = {passage.ordinal: passage for passage in passages if passage.live}
    for task in digest.tasks:
        moves = moves_of(by_turn[turn] for turn in task.turns if turn in by_turn)
        extract(moves, lesson, went_well=_went_well(task))
    return lesson


def _went_well(task: Task) -> bool | None:
    verdict = _VERDICTS.get(task.outcome)
    if verdict is None and any(one.kind in _GOOD_SIGNS for one in task.evidence):
        return True
    return verdict


def lesson_of_episode(episode: Episode) -> Lesson:
    """What an attempt that was recorded live has to teach; that it went so is its agent's word."""
    lesson = Lesson(trust="assistant")
    extract(
        moves_of_steps(episode.steps),
        lesson,
        went_well=_VERDICTS.get(episode.outcome or "uncertain"),
    )
    return lesson


# What recurs


def bring_up_to_date(store: Store, *, least: int) -> None:
    """Count again what has changed, and settle which patterns stand and what follows from them."""
    store.old.ensure_learn_rules(LOOKING, least)
    if not store.old.has_stale_tallies():
        return
    with store.transaction():
        store.old.name_stale_tallies()
        counts = store.old.occasion_counts(None)
        decided = store.old.decided_patterns()
        changed = {
            key
            for key, seen in store.old.often_seen(least, stale=True)
            if may_be_habit(key, seen, counts)
        }
        # What a person decided about is counted however little is left of it.
        found = tallies(store, sorted(changed.difference(decided)), least=least) + tallies(
            store, decided, least=1
        )
        store.old.replace_stale_tallies(found)
        store.old.keep_standing(chosen(store, store.old.all_tallies(), counts, least=least))
        store.old.keep_rules(
            rules_of([tally for _, tally in store.old.kept_tallies() if tally.sessions])
        )


def tallies(
    store: Store, keys: Sequence[Key], *, least: int, units: set[int] | None = None
) -> list[Tally]:
    """What the sightings of these come to, where there are enough of them."""
    return [
        tally_of(key, seen)
        for key, seen in store.old.seen(keys, units)
        if len({one.root for one in seen}) >= least
    ]


def chosen(
    store: Store,
    counted: Sequence[Tally],
    counts: Mapping[str, int],
    *,
    least: int,
    units: set[int] | None = None,
) -> list[Tally]:
    """Those that are patterns, without what others say already.

    How likely a thing is by chance is worked out only where it is a habit
    at all, and kept for next time.
    """
    bases = Bases(
        counts,
        store.old.signal_counts("failure", units),
        store.old.signal_counts("friction", units),
    )
    habits = [tally for tally in counted if is_habit(tally, counts, least)]
    chances = {tally.pattern: tally.chance for tally in habits if tally.chance is not None}
    chances |= {
        tally.pattern: bases.chance(tally, counts) for tally in habits if tally.kind in UNWANTED
    }
    found = _chances(store, [tally for tally in habits if tally.pattern not in chances], units)
    if units is None:
        store.old.save_chances(found.items())
    chances |= found
    signals = store.old.count_signals(units)
    return without_repetition(
        [tally for tally in habits if not is_likely(tally, chances[tally.pattern], signals)]
    )


def _chances(store: Store, unknown: Sequence[Tally], units: set[int] | None) -> dict[str, float]:
    roots = store.old.roots()
    occasions = store.old.occasions(
        {name for tally in unknown for name in compared_with(*tally.key)}, units
    )
    return {tally.pattern: chance_in(tally, occasions, roots) for tally in unknown}
