"""How likely it is that a task succeeded: a sum of what is known, each with its weight.

Weights are logits: +0.7 doubles the odds. Those of the work were fitted to trajectories
of agents whose results are known (`python -m bench.outcome --public MIRROR`: 448 tries
at SWE-bench, Terminal-Bench and τ-bench, chosen by eight folds over tasks) and rounded.
Those of what people say, and of what agents do for people only, stand in no such
trajectory: they are set by hand, so that a word decides and the agent's own word does not.

An outcome is named only where the sum is sure, and where something besides the
plain course of the work speaks for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.distill.outcomes.facts import Facts
    from recollect.model.digests import EvidenceKind

SURE, SURE_NOT = 0.8, 0.2
# Nothing in a log is surer than that.
CERTAIN = 0.97
# Of work of which nothing else is known.
START = 1.0
FACTS: dict[str, float] = {
    # Commands that did something and failed: 3 of them are -0.9, 10 are -1.6.
    "failures": -0.65,
    # "Wait", "still fails", "my mistake" in the agent's last replies.
    "late_doubts": -0.3,
    # Scripts written in the shell to try something: what needs many is hard.
    "scripts": -0.55,
    # How many tests passed in the last check after the last change: 10 are +1.1.
    "tests_passed": 0.45,
    # What has to be fetched or installed first is work on machines, not on code.
    "fetches": -0.9,
    "installs": -0.75,
    # Changes through tools of other programs, which nothing checks: 3 are -1.5.
    "tool_changes": -1.1,
    # Nothing was run or changed here.
    "only_talk": -0.5,
    # There were tests, and the agent ran some.
    "ran_tests": 0.6,
    # The same commands again: what was tried before is tried after.
    "ran_again": 0.65,
    # The very command that failed before the last change passed afterwards.
    "check_fixed": 0.4,
    "check_failed": -0.3,
    # The last command after the last change passed.
    "ran_well": 0.2,
}
# What people say, and what only stands in sessions with people.
EVIDENCE: dict[EvidenceKind, float] = {
    "accepted": 5.0,
    # Thanks and praise without a word of the work; customers thank for everything.
    "praised": 0.5,
    # Kept without having been asked to; agents do so by themselves.
    "kept": 0.3,
    # Another topic began and nobody complained.
    "left": 0.2,
    "corrected": -5.5,
    # An error was pasted after the work: it may be about anything.
    "shown": -1.5,
    "annoyed": -2.0,
    "refused": -5.0,
    "reverted": -4.5,
    # The check that was run last fails, or the last command, or it took too long.
    "check_failed": -0.9,
    "command_failed": -0.6,
    "timeout": -0.6,
    "loop": -1.0,
    "admitted": -1.5,
    "aborted": -1.0,
}


def odds_of(facts: Facts, evidence: Iterable[EvidenceKind]) -> float:
    """The probability that a task succeeded; of each kind of evidence the first counts."""
    total = START
    for name, weight in FACTS.items():
        total += weight * getattr(facts, name)
    for kind in sorted(set(evidence)):
        total += EVIDENCE.get(kind, 0.0)
    return round(min(max(1 / (1 + exp(-max(-20.0, min(20.0, total)))), 1 - CERTAIN), CERTAIN), 2)
