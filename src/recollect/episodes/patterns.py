"""What recurs over attempts, and whether that is a pattern or chance: worked out when asked.

A thing is a pattern when enough attempts show it and chance does not explain it. What
chance would do depends on what is looked at:

- steps in a row, what was done before an error went away, what was tried instead, the
  check after a change: the same steps of each attempt in any other order;
- failures: how often anything else that was done met the same error.

So an attempt that does a hundred different things proves little by doing two of them in a
row, and a command that everybody runs all the time is no remedy. The attempts of one
session, with its sub-agents, count as one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import perm, prod
from typing import TYPE_CHECKING, NamedTuple

from recollect.episodes.extractors import AGAIN, extract
from recollect.episodes.odds import chance_of, lower_bound, tail
from recollect.episodes.sentences import sentence_of
from recollect.episodes.sightings import CHANGED, DID, FAILED, OVERCAME, STEPS
from recollect.model.episodes import Pattern
from recollect.reading.signatures import EDIT, FAILS, INSTEAD, THEN

if TYPE_CHECKING:
    from recollect.episodes.sightings import Sighting
    from recollect.model.episodes import Episode, PatternKind
    from recollect.model.notes import Trust

    Key = tuple[PatternKind, str]

# So many sessions or recorded attempts show a pattern; with fewer, what may be chance is shown too.
FREQUENCY = 3
EVIDENCE_SHOWN = 20
# The more was seen, the more of it looks like a habit by chance: so much of a false one is put
# up with among all that was seen. In a large store, so much is enough: there are far more
# sequences to be found by chance than anything else, and few things that are tried instead.
FALSE_HABITS = 0.05
UNLIKELY: dict[PatternKind, float] = {
    "tool_sequence": 1e-6, "decision_point": 1e-3, "error_recovery": 1e-3, "failure": 1e-4,
    "context": 3e-4,
}  # fmt: skip
# A share of tries below which a thing is no habit, whatever chance says; the lower bound of
# three out of three is 0.44.
LEAST_SHARE: dict[PatternKind, float] = {
    "tool_sequence": 0.3, "decision_point": 0.3, "error_recovery": 0.3, "failure": 0.4,
    "context": 0.3,
}  # fmt: skip
# Nothing is believed to be rarer than this: the next attempt may always be the first.
RAREST = 0.02
# A shorter attempt counts as if it had taken so many steps: of three steps any two follow one
# another, and that proves nothing for or against them.
LEAST_STEPS = 8
# What passes when it is run again is so by chance one time in so many.
AGAIN_BY_CHANCE = 0.25
# A sequence is not worth a line of its own when a longer one says it in so many of its attempts.
COVERED = 0.6
_TRUSTS: tuple[Trust, ...] = ("user", "tool-verified", "assistant", "external")


def patterns_in(
    episodes: Iterable[tuple[str, Episode]],
    *,
    frequency: int = FREQUENCY,
    contradicted: bool = False,
) -> list[Pattern]:
    """The patterns of attempts, each of which comes with the name of what it counts for.

    What several agents share stands first, then the surest. `contradicted` brings also what
    went wrong at least as often as well.
    """
    count = _Count()
    for root, episode in episodes:
        count.add(root, episode)
    often = [
        habit
        for key, seen in count.seen.items()
        if len({one.root for one in seen}) >= frequency
        for habit in [_Habit(key, seen)]
        if frequency < FREQUENCY
        or count.is_habit(habit, frequency)
        or (contradicted and habit.is_advice and habit.wrong >= habit.well)
    ]
    found = [habit.pattern() for habit in (often if frequency < FREQUENCY else _apart(often))]
    return sorted(
        found,
        key=lambda one: (
            not one.cross_agent, -one.confidence, -one.sessions, one.kind, one.signature,
        ),
    )  # fmt: skip


class _Seen(NamedTuple):
    """A sighting with the attempt that it is from, and what that counts for."""

    root: str
    episode: Episode
    sighting: Sighting


class _Habit:
    """All sightings of one thing."""

    def __init__(self, key: Key, seen: Sequence[_Seen]) -> None:
        self.key, self.seen = key, seen
        self.kind, self.signature = key
        ends: defaultdict[str, set[bool]] = defaultdict(set)
        for one in seen:
            went_well = one.sighting.went_well
            ends[one.root].update(() if went_well is None else (went_well,))
        self.sessions = len(ends)
        self.well = sum(end == {True} for end in ends.values())
        self.wrong = sum(end == {False} for end in ends.values())

    @property
    def held(self) -> int:
        """In how many sessions a thing was as its sentence says.

        That a task fails does not speak against checking it.
        """
        return self.sessions - (self.wrong if self.is_advice else 0)

    @property
    def is_advice(self) -> bool:
        """Whether it is wanted to end well: a failure is not, and a check is no less of use."""
        return self.kind not in ("failure", "context")

    def pattern(self) -> Pattern:
        import xxhash

        agents = sorted({one.episode.agent for one in self.seen if one.episode.agent})
        dated = sorted(
            self.seen, key=lambda one: (one.episode.started_at or "", one.root), reverse=True
        )
        times = [at for one in dated if (at := one.episode.started_at)]
        good = self.wrong if self.kind == "failure" else self.well
        return Pattern(
            id=xxhash.xxh3_64_hexdigest(f"{self.kind}\0{self.signature}".encode()),
            kind=self.kind, signature=self.signature,
            sentence=sentence_of(self.kind, self.signature),
            sessions=self.sessions, went_well=self.well, went_wrong=self.wrong,
            confidence=lower_bound(good, self.well + self.wrong),
            agents=agents, cross_agent=len(agents) > 1,
            projects=sorted({one.episode.context.project for one in self.seen
                             if one.episode.context.project}),
            trust=max((one.sighting.trust for one in self.seen), key=_TRUSTS.index),
            first_at=times[-1] if times else None, last_at=times[0] if times else None,
            evidence=list(dict.fromkeys(one.episode.ref for one in dated))[:EVIDENCE_SHOWN],
        )  # fmt: skip


class _Count:
    """Everything that attempts show, and how often each thing could have been seen."""

    def __init__(self) -> None:
        self.seen: defaultdict[Key, list[_Seen]] = defaultdict(list)
        self.tries: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._copies: set[tuple[str, str | None]] = set()
        self._failures: Counter[str] | None = None
        self._sightings = 0

    def add(self, root: str, episode: Episode) -> None:
        """One more attempt; a copy of a derived one, from a fork of its session, adds nothing."""
        copy = episode.task, episode.started_at
        if episode.source == "derived" and copy in self._copies:
            return
        self._copies.add(copy)
        found = extract(episode)
        for sighting in found:
            self.seen[sighting[:2]].append(_Seen(root, episode, sighting))
            self._sightings += 1
        for name, times in found.tries.items():
            self.tries[name][root] += times

    def is_habit(self, habit: _Habit, frequency: int) -> bool:
        """Whether enough of those that could have show a thing, and chance does not explain it."""
        if habit.held < frequency or (habit.is_advice and habit.well <= habit.wrong):
            return False
        if lower_bound(habit.held, self._tries_of(habit)) < LEAST_SHARE[habit.kind]:
            return False
        least = max(UNLIKELY[habit.kind], FALSE_HABITS / self._sightings)
        return self._chance(habit) < least

    def _tries_of(self, habit: _Habit) -> int:
        """In how many sessions a thing could have been seen."""
        names = (
            [DID + step for step in habit.signature.split(THEN)]
            if habit.kind == "tool_sequence"
            else [_occasion(*habit.key)]
        )
        return max(habit.sessions, min(len(self.tries[name]) for name in names))

    def _chance(self, habit: _Habit) -> float:
        """How likely it is that a thing is seen so often by chance."""
        if habit.kind == "failure":
            tries = self._tries_of(habit)
            did = sum(len(by) for name, by in self.tries.items() if name.startswith(DID))
            others = self._failures_with(habit.signature) - habit.sessions
            return tail(habit.sessions, tries, max(RAREST, others / max(did - tries, 1)))
        by_root = (
            self._in_a_row(habit.signature.split(THEN))
            if habit.kind == "tool_sequence"
            else {
                root: self._next(habit, root, times)
                for root, times in self.tries[_occasion(*habit.key)].items()
            }
        )
        return chance_of(habit.held, list(by_root.values()))

    def _failures_with(self, signature: str) -> int:
        """In how many sessions anything met the same error."""
        if self._failures is None:
            self._failures = Counter()
            for (kind, failed), seen in self.seen.items():
                if kind == "failure":
                    self._failures[failed.partition(FAILS)[2]] += len({one.root for one in seen})
        return self._failures[signature.partition(FAILS)[2]]

    def _next(self, habit: _Habit, root: str, times: int) -> float:
        """How likely one step is to come next by chance, at least once in so many times."""
        remedy = habit.signature.partition(INSTEAD)[2]
        if remedy == AGAIN:
            return AGAIN_BY_CHANCE
        steps = self.tries[STEPS][root]
        if habit.kind == "context":
            steps -= self.tries[DID + "edit"][root]
        once = min(1.0, self.tries[DID + remedy][root] / max(steps, LEAST_STEPS))
        return float(1 - (1 - once) ** times)

    def _in_a_row(self, steps: Sequence[str]) -> dict[str, float]:
        """How likely some steps are to follow one another by chance, in
        every session that takes all of them.
        """
        first, *rest = sorted((self.tries[DID + step] for step in steps), key=len)
        found = {}
        for root, times in first.items():
            others = [count[root] for count in rest]
            if all(others):
                # So many places for the first, one fewer for each of the others; and
                # any of their repetitions will do.
                places = max(self.tries[STEPS][root], LEAST_STEPS)
                found[root] = min(1.0, times * prod(others) / perm(places, len(rest)))
        return found


def _occasion(kind: PatternKind, signature: str) -> str:
    """What a thing, other than a sequence, is counted against."""
    before = signature.partition(INSTEAD)[0]
    if kind == "failure":
        return DID + signature.partition(FAILS)[0]
    return {"decision_point": FAILED, "error_recovery": OVERCAME, "context": CHANGED}[kind] + before


def _apart(habits: Sequence[_Habit]) -> list[_Habit]:
    """Those that say something the others do not: no part of a longer
    sequence, nothing whose remedy is known.
    """
    sequences = [habit for habit in habits if habit.kind == "tool_sequence"]
    said: set[Key] = set()
    avoided = []
    for habit in habits:
        failed, _, remedy = habit.signature.partition(INSTEAD)
        step = failed.partition(FAILS)[0]
        if habit.kind == "error_recovery":
            said |= {
                ("failure", failed),
                ("tool_sequence", f"{remedy}{THEN}{step}"),
                ("context", f"{remedy.removeprefix(EDIT)}{INSTEAD}{step}"),
            }
        elif habit.kind == "decision_point":
            avoided.append(failed)
    return [
        habit
        for habit in habits
        if habit.key not in said
        and not (habit.kind == "failure" and any(_is_form_of(form, habit) for form in avoided))
        and not any(_covers(other, habit) for other in sequences)
    ]


def _is_form_of(form: str, failure: _Habit) -> bool:
    """Whether a command that is better avoided is the one that fails."""
    return f" {form}".endswith(f" {failure.signature.partition(FAILS)[0]}")


def _covers(longer: _Habit, habit: _Habit) -> bool:
    if habit.kind != "tool_sequence" or len(longer.signature) <= len(habit.signature):
        return False
    inside = f"{THEN}{habit.signature}{THEN}" in f"{THEN}{longer.signature}{THEN}"
    return inside and longer.sessions >= COVERED * habit.sessions
