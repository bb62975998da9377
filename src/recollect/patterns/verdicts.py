"""What sightings come to, and whether that is a pattern or chance.

A thing is a pattern when enough sessions show it and chance does not explain
it. What chance would do depends on what is looked at:

- steps in a row, what was done before an error went away, what was tried
  instead, the check after a change: the same steps of each session in any other order;
- failures and waste: how often anything else that was done met the same fate.

So a session that does a hundred different things proves little by doing two of
them in a row, and a command that everybody runs all the time is no remedy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import perm, prod
from typing import TYPE_CHECKING

from recollect.patterns.extractors.friction import REFUSED, REREAD, RETRY
from recollect.patterns.extractors.recoveries import AGAIN
from recollect.patterns.lesson import CHANGED, DID, FAILED, OVERCAME, STEPS
from recollect.patterns.odds import chance_of, lower_bound, tail
from recollect.patterns.sentences import sentence_of
from recollect.reading.signatures import EDIT, FAILS, INSTEAD, READ, THEN
from recollect.store.tallies import Tally, fading

if TYPE_CHECKING:
    from recollect.model.notes import Trust
    from recollect.model.patterns import PatternKind
    from recollect.store.tallies import Key, Seen

# The more was seen, the more of it looks like a habit by chance: so much of a false
# one is put up with among all that was seen. In a large store, so much is enough:
# there are far more sequences to be found by chance than anything else, and hardly
# anything that is tried instead of something else.
FALSE_HABITS = 0.05
UNLIKELY: dict[PatternKind, float] = {
    "tool_sequence": 1e-6, "decision_point": 1e-3, "error_recovery": 1e-3, "failure": 1e-4,
    "friction": 1e-4, "context": 3e-4,
}  # fmt: skip
# A share of occasions below which a thing is no habit, whatever chance says; the
# lower bound of three out of three is 0.44.
LEAST_SHARE: dict[PatternKind, float] = {
    "tool_sequence": 0.3, "decision_point": 0.3, "error_recovery": 0.3, "failure": 0.4,
    "friction": 0.2, "context": 0.3,
}  # fmt: skip
# Nothing is believed to be rarer than this: the next session may always be the first.
RAREST = 0.02
# A shorter session counts as if it had taken so many steps: of three steps any two follow one
# another, and that proves nothing for or against them.
LEAST_STEPS = 8
# What passes when it is run again is so by chance one time in so many.
AGAIN_BY_CHANCE = 0.25
# A sequence is not worth a line of its own when a longer one says it in so many of its sessions.
COVERED = 0.6
_TRUSTS: tuple[Trust, ...] = ("user", "tool-verified", "assistant", "external")
# Of these, what ended badly bears the sentence out.
UNWANTED: tuple[PatternKind, ...] = ("failure", "friction")

Occasions = Mapping[str, Mapping[int, int]]


def pattern_id(kind: str, signature: str) -> str:
    """Made of kind and signature alone, so that it is the same in every store."""
    import xxhash

    return xxhash.xxh3_64_hexdigest(f"{kind}\0{signature}".encode())


def occasion_of(kind: PatternKind, signature: str) -> str:
    """What a thing is counted against."""
    if kind == "tool_sequence":
        return DID + signature.partition(THEN)[0]
    if kind == "decision_point":
        return FAILED + signature.partition(INSTEAD)[0]
    if kind == "error_recovery":
        return OVERCAME + signature.partition(INSTEAD)[0]
    if kind == "failure":
        return DID + signature.partition(FAILS)[0]
    if kind == "context":
        return CHANGED + signature.partition(INSTEAD)[0]
    if signature.startswith(REREAD):
        return DID + READ + signature.removeprefix(REREAD)
    return DID + signature.removeprefix(RETRY).removeprefix(REFUSED)


def occasions_of(kind: PatternKind, signature: str) -> list[str]:
    """The occasions of which the rarest says how often a thing could have been seen."""
    return (
        [DID + step for step in signature.split(THEN)]
        if kind == "tool_sequence"
        else [occasion_of(kind, signature)]
    )


def compared_with(kind: PatternKind, signature: str) -> list[str]:
    """Every occasion that has to be known to tell how likely a thing is by chance."""
    if kind == "tool_sequence":
        return [STEPS, *occasions_of(kind, signature)]
    return [
        STEPS,
        DID + "edit",
        occasion_of(kind, signature),
        DID + signature.partition(INSTEAD)[2],
    ]


def tally_of(key: Key, seen: Sequence[Seen]) -> Tally:
    """What the sightings of one thing come to; forks and sub-agents count with their session."""
    kind, signature = key
    verdicts: dict[str, set[bool]] = {}
    for one in seen:
        verdicts.setdefault(one.root, set()).update(
            () if one.went_well is None else (one.went_well,)
        )
    well = sum(verdict == {True} for verdict in verdicts.values())
    wrong = sum(verdict == {False} for verdict in verdicts.values())
    times = [one.at for one in seen if one.at is not None]
    return Tally(
        kind, signature, pattern_id(kind, signature), occasion_of(kind, signature),
        sentence_of(kind, signature),
        sessions=len(verdicts), went_well=well, went_wrong=wrong, chance=None,
        confidence=lower_bound(wrong if kind in UNWANTED else well, well + wrong),
        agents=" ".join(sorted({one.agent for one in seen if one.agent})),
        trust=max((one.trust for one in seen), key=_TRUSTS.index),
        first_at=min(times, default=None), last_at=max(times, default=None),
    )  # fmt: skip


def held_in(tally: Tally) -> int:
    """In how many sessions a thing was as its sentence says.

    That a task fails does not speak against checking it.
    """
    return (
        tally.sessions
        if tally.kind in (*UNWANTED, "context")
        else tally.sessions - tally.went_wrong
    )


def is_habit(tally: Tally, counts: Mapping[str, int], least: int) -> bool:
    """Whether enough sessions show a thing, and enough of those that could have."""
    held = held_in(tally)
    if held < least or (
        tally.kind not in (*UNWANTED, "context") and tally.went_well <= tally.went_wrong
    ):
        return False
    return lower_bound(held, _tries(tally, counts)) >= LEAST_SHARE[tally.kind]


def may_be_habit(key: Key, seen: int, counts: Mapping[str, int]) -> bool:
    """Whether a thing that was seen so often could be one, before anything else is known of it."""
    tries = min(counts.get(name, 0) for name in occasions_of(*key))
    return (
        seen >= tries * LEAST_SHARE[key[0]]
        and lower_bound(min(seen, tries), tries) >= LEAST_SHARE[key[0]]
    )


def _tries(tally: Tally, counts: Mapping[str, int]) -> int:
    tries = min(counts.get(name, 0) for name in occasions_of(*tally.key))
    return max(tries, tally.sessions)


def chance_in(tally: Tally, occasions: Occasions, roots: Mapping[int, object]) -> float:
    """How likely it is that a thing is seen so often, if every session had
    done what it did in any other order.
    """
    kind, signature = tally.key
    if kind == "tool_sequence":
        by_unit = _in_a_row(
            [occasions[DID + step] for step in signature.split(THEN)], occasions[STEPS]
        )
    else:
        had = occasions[tally.occasion]
        by_unit = {
            unit: _next(kind, signature, unit, times, occasions) for unit, times in had.items()
        }
    if not roots.keys().isdisjoint(by_unit):
        by_root: dict[object, float] = {}
        for unit, chance in sorted(by_unit.items()):
            root = roots.get(unit, unit)
            by_root[root] = min(1.0, by_root.get(root, 0.0) + chance)
        return chance_of(held_in(tally), list(by_root.values()))
    return chance_of(held_in(tally), list(by_unit.values()))


def _next(kind: PatternKind, signature: str, unit: int, times: int, occasions: Occasions) -> float:
    """How likely one step is to come next by chance, at least once in so many times."""
    remedy = signature.partition(INSTEAD)[2]
    if remedy == AGAIN:
        return AGAIN_BY_CHANCE
    steps = occasions[STEPS].get(unit, 0)
    if kind == "context":
        steps -= occasions[DID + "edit"].get(unit, 0)
    once = min(1.0, occasions[DID + remedy].get(unit, 0) / max(steps, LEAST_STEPS))
    return 1 - (1 - once) ** times


def _in_a_row(counts: Sequence[Mapping[int, int]], steps: Mapping[int, int]) -> dict[int, float]:
    """How likely some steps are to follow one another by chance, in
    every session that takes all of them.
    """
    first, *rest = sorted(counts, key=len)
    if len(rest) == 1:
        # Most are pairs, and what follows is the same for them, only slower.
        pairs = ((unit, times, rest[0].get(unit, 0)) for unit, times in first.items())
        return {
            unit: min(1.0, times * other / max(steps.get(unit, 0), LEAST_STEPS))
            for unit, times, other in pairs
            if other
        }
    found = {}
    for unit, times in first.items():
        others = [count.get(unit, 0) for count in rest]
        if all(others):
            # So many places for the first, one fewer for each of the others; and
            # any of their repetitions will do.
            found[unit] = min(
                1.0, times * prod(others) / perm(max(steps.get(unit, 0), LEAST_STEPS), len(rest))
            )
    return found


class Bases:
    """How often anything fails, or is wasted, in the same way: what
    failures and waste are compared with.
    """

    def __init__(
        self, counts: Mapping[str, int], failures: Mapping[str, int], friction: Mapping[str, int]
    ) -> None:
        self.did = sum(count for name, count in counts.items() if name.startswith(DID))
        self.seen: Counter[str] = Counter()
        for signature, count in (*failures.items(), *friction.items()):
            self.seen[_way(signature)] += count

    def chance(self, tally: Tally, counts: Mapping[str, int]) -> float:
        """How likely it is that a thing goes that way so often, if it were like all others."""
        tries = _tries(tally, counts)
        usual = (self.seen[_way(tally.signature)] - tally.sessions) / max(self.did - tries, 1)
        return tail(tally.sessions, tries, max(RAREST, usual))


def _way(signature: str) -> str:
    """How a thing went wrong: the sort of error, or the sort of waste."""
    return signature.partition(FAILS)[2] or signature.partition(" ")[0]


def is_likely(tally: Tally, chance: float, signals: int) -> bool:
    """Whether chance explains a thing, in a store where so many signals were seen."""
    return chance >= max(UNLIKELY[tally.kind], FALSE_HABITS / max(signals, 1))


def without_repetition(standing: Sequence[Tally]) -> list[Tally]:
    """The tallies that say something the others do not: no part of a longer
    sequence, nothing whose remedy is known.
    """
    sequences = [tally for tally in standing if tally.kind == "tool_sequence"]
    said: set[Key] = set()
    for tally in standing:
        failed, _, remedy = tally.signature.partition(INSTEAD)
        step = failed.partition(FAILS)[0]
        if tally.kind == "error_recovery":
            said |= {
                ("failure", failed),
                ("tool_sequence", f"{remedy}{THEN}{step}"),
                ("context", f"{remedy.removeprefix(EDIT)}{INSTEAD}{step}"),
            }
    avoided = [
        tally.signature.partition(INSTEAD)[0]
        for tally in standing
        if tally.kind == "decision_point"
    ]
    return [
        tally for tally in standing
        if tally.key not in said
        and not (tally.kind == "failure" and any(_is_form_of(form, tally) for form in avoided))
        and not any(_covers(other, tally) for other in sequences)
    ]  # fmt: skip


def _is_form_of(form: str, failure: Tally) -> bool:
    """Whether a command that is better avoided is the one that fails."""
    return f" {form}".endswith(f" {failure.signature.partition(FAILS)[0]}")


def _covers(longer: Tally, tally: Tally) -> bool:
    if tally.kind != "tool_sequence" or len(longer.signature) <= len(tally.signature):
        return False
    inside = f"{THEN}{tally.signature}{THEN}" in f"{THEN}{longer.signature}{THEN}"
    return inside and longer.sessions >= COVERED * tally.sessions


def rank(tallies: Sequence[Tally], half_life_days: int) -> list[Tally]:
    """The strongest first, those of several agents before all others.

    Equal ones stand in the order of their names.
    """
    newest = max((tally.last_at for tally in tallies if tally.last_at is not None), default=0)

    def place(tally: Tally) -> tuple[object, ...]:
        strength = tally.confidence * fading(tally.last_at, newest, half_life_days)
        return not tally.is_shared, -strength, -tally.sessions, tally.kind, tally.signature

    return sorted(tallies, key=place)
