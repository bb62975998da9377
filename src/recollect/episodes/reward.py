"""How good an attempt was: what its outcome is worth, times how it was reached.

    total = outcome * (0.55 + 0.20 efficiency + 0.10 complexity + 0.15 quality)

Every part is between 0 and 1, and so is the total. What failed is worth
nothing however quickly it did so; of two attempts that went well, the shorter
one, the one at a harder task and the one whose steps went well are worth more.

Efficiency falls with the logarithm of steps and of time, from 1 at what a small
task takes to 0 at what nobody would want to watch; plain bounds, because a
task that is like this one may never have been tried. Complexity grows with
the number of steps and of different tools. Quality is the share of steps that
went well; where checks of the work were seen, the last one counts half. What
is not known counts as the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from operator import attrgetter

from recollect.model.episodes import Reward, Step
from recollect.model.sessions import Outcome

WORTH: dict[Outcome, float] = {
    "success": 1.0,
    "partial": 0.6,
    "uncertain": 0.4,
    "abandoned": 0.2,
    "fail": 0.0,
}
BASE, OF_EFFICIENCY, OF_COMPLEXITY, OF_QUALITY = 0.55, 0.20, 0.10, 0.15

# Where efficiency is 1 and where it is 0.
FEW_STEPS, MANY_STEPS = 4, 200
SHORT_MS, LONG_MS = 30_000, 7_200_000
# Where complexity is 1.
COMPLEX_STEPS, COMPLEX_TOOLS = 40, 8
UNKNOWN = 0.5

_STEP_SCALE = 1 / log(MANY_STEPS / FEW_STEPS)
_TIME_SCALE = 1 / log(LONG_MS / SHORT_MS)
# By the number of steps: efficiency, and their half of complexity. Whoever
# completes an attempt waits for this.
_EASE = [1.0] * FEW_STEPS + [
    1.0 - log(count / FEW_STEPS) * _STEP_SCALE for count in range(FEW_STEPS, MANY_STEPS)
]
_LENGTH = [count / COMPLEX_STEPS / 2 for count in range(COMPLEX_STEPS)]
_VARIETY = [count / COMPLEX_TOOLS / 2 for count in range(COMPLEX_TOOLS)]
_tool, _success = attrgetter("tool"), attrgetter("success")


def reward(
    outcome: Outcome, steps: Sequence[Step], duration_ms: int | None, *, checked: bool | None = None
) -> Reward:
    """What an attempt was worth.

    `checked` says how the last check of the work ended, if there was one.
    """
    count = len(steps)
    ease = UNKNOWN if count == 0 else _EASE[count] if count < MANY_STEPS else 0.0
    speed = ease
    if duration_ms is not None and count:
        speed = (
            1.0
            if duration_ms <= SHORT_MS
            else 0.0
            if duration_ms >= LONG_MS
            else 1.0 - log(duration_ms / SHORT_MS) * _TIME_SCALE
        )
    efficiency = (ease + speed) / 2
    tools = len(set(map(_tool, steps)))
    complexity = (_LENGTH[count] if count < COMPLEX_STEPS else 0.5) + (
        _VARIETY[tools] if tools < COMPLEX_TOOLS else 0.5
    )
    try:
        # Nearly always every step says how it went.
        quality = sum(map(_success, steps)) / count if count else UNKNOWN
    except TypeError:
        told = list(map(_success, steps))
        well, badly = told.count(True), told.count(False)
        quality = well / (well + badly) if well or badly else UNKNOWN
    if checked is not None:
        quality = (quality + checked) / 2
    worth = WORTH[outcome]
    total = worth * (
        BASE + OF_EFFICIENCY * efficiency + OF_COMPLEXITY * complexity + OF_QUALITY * quality
    )
    return Reward(
        total=total, outcome=worth, efficiency=efficiency, complexity=complexity, quality=quality
    )
