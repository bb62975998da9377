"""What a prompt calls up among the lines that are ready to be told: mostly nothing.

This is what a hook says at every prompt, and the first part of what `recall`
says. It knows words only: the six rarest that any memory of the project holds
decide, and those that none holds speak against all of them.

On the path of a hook: nothing heavy is imported.
"""

from __future__ import annotations

from math import exp

from recollect.recall.clues import STOP_WORDS
from recollect.recall.rank import rarity_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.hook_lines import HookLine
    from recollect.store.sqlite.ready import Ready

# How sure we are that a memory helps with a prompt, as a logistic sum: how much
# of the prompt it holds, and how many rare words that is. Fitted on the
# development part of our own set, where the threshold gives precision 0.94 and
# silence 1.0, and 0.87 and 0.98 on projects that it was not fitted on.
HOLDS, RARE_WORDS, BIAS = 8.0, 1.2, -5.0
CONFIDENT = 0.6
# A prompt whose words together are not worth so much of one that nobody has used
# ("continue", "run the tests") is about no memory more than about another.
SAYS_SOMETHING = 0.8
# Others are only told if they are nearly as good as the best.
NEARLY = 0.9
MOST_LINES = 3
# Fewer words say too little, whatever holds them.
LEAST_WORDS, MOST_WORDS = 3, 6
# Among a handful of memories every word looks common that one of them holds.
LEAST_MEMORIES = 20
# Said to go on with what was talked about before.
GOING_ON = frozenset(
    (
        "above",
        "again",
        "also",
        "continue",
        "now",
        "no",
        "ok",
        "okay",
        "please",
        "thank",
        "thanks",
        "yes",
    )
)

# A prompt that so many lines are about alike is a form that is sent again and again.
TEMPLATE_LINES = 6


def tell(ready: Ready, project: int, prompt: str) -> list[tuple[HookLine, float]]:
    """The memories of a project that help with a prompt, surest
    first, each with how sure we are.
    """
    stems = ready.asked(prompt, STOP_WORDS | GOING_ON)
    if len(stems) < LEAST_WORDS:
        return []
    total = max(ready.total(), LEAST_MEMORIES)
    counts = ready.counts(stems)
    rarest = rarity_of(0, total)
    needed = sum(rarity_of(counts.get(stem, 0), total) for stem in stems)
    if needed < SAYS_SOMETHING * rarest:
        return []
    here = ready.prompt_lines_in(project)
    held: dict[int, float] = {}
    asked = 0
    for stem in sorted(counts, key=lambda stem: (counts[stem], stem)):
        holders, weight = here & ready.holders(stem), rarity_of(counts[stem], total)
        for line in holders:
            held[line] = held.get(line, 0.0) + weight
        asked += bool(holders)
        if asked == MOST_WORDS:
            break
    scored = [(_sure(weight / needed, weight / rarest), line) for line, weight in held.items()]
    best = confident(scored)
    if best and sum(score >= NEARLY * best[0][0] for score, _ in scored) >= TEMPLATE_LINES:
        return []
    told = ready.prompt_lines([line for _, line in best])
    return [(told[line], score) for score, line in best]


def _sure(holds: float, rare_words: float) -> float:
    return round(1 / (1 + exp(-(HOLDS * holds + RARE_WORDS * rare_words + BIAS))), 3)


def confident(scored: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Those of some (confidence, number) that are worth telling,
    surest first, the newest of equals.
    """
    scored = sorted(scored, key=lambda pair: (-pair[0], -pair[1]))
    least = max(CONFIDENT, NEARLY * scored[0][0]) if scored else 1.0
    return [pair for pair in scored if pair[0] >= least][:MOST_LINES]
