"""How likely it is that a line changes what an agent does next: one score for hook and `recall`.

A logistic sum of what the line's turn has in common with the prompt, how it stands out among
the lines of its project, and what is known of it.

On the path of a hook: nothing heavy is imported.
"""

from __future__ import annotations

from math import exp, log, sqrt

from recollect.recall.hooks.facts import (
    ANSWER,
    CHANGED,
    COMMANDS,
    ERRORS,
    FIELDS,
    FILES,
    LENGTH_BITS,
    LENGTH_UNIT,
    LONGEST,
    MENTION_BITS,
    MOST_FAILURES,
    MOST_MENTIONS,
    PROMPT,
    unpacked,
)
from recollect.recall.hooks.words import LEAST_WORDS, is_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    # What is kept of a line before it is told: its facts, packed, and the number of the session.
    Known = Mapping[int, tuple[int, int | None]]

# Fitted on 194 prompts of 15 repositories (`bench/telling.py`), with so strong a pull towards
# zero that another repository more or less changes little. What was tried and did not help
# prompts of repositories that the weights had not seen is in docs/recall.md.
BIAS = -5.443
WEIGHTS = {
    "stands out": 0.811, "rare": 1.606, "commands": 1.442, "newest": 2.203, "changed": 0.933,
    "edited": 0.532, "failed": 0.594, "copies": -0.371,
}  # fmt: skip
# Of what sessions did that were told of a turn the logs hold too little to fit a weight on.
USED = 0.5

# Of a prompt so many words are looked for, those that say most, and the lines that have most
# of them are weighed.
MOST_WORDS, MOST_WEIGHED = 40, 60
# Among a handful of lines every word looks common that one of them holds.
LEAST_LINES = 200
# Nor does any of them stand out: so many lines are reckoned with, the others having nothing.
LEAST_HERE = 20
# A pair of characters is half a word, and a number hardly one.
PAIR, NUMBER = 0.5, 0.6
# What a word counts in each field, how many words such a field usually has, and how much
# a longer one is discounted.
GAIN = {PROMPT: 1.0, ANSWER: 1.0, COMMANDS: 0.6, ERRORS: 0.6, FILES: 0.6}
USUAL = {PROMPT: 40, ANSWER: 70, COMMANDS: 50, ERRORS: 30, FILES: 12}
BY_LENGTH = {PROMPT: 0.4, ANSWER: 0.4, COMMANDS: 0.6, ERRORS: 0.6, FILES: 0.6}
# The gain of each field, and by how much mentions in one of each length are divided.
_FIELDS = [
    (
        GAIN[field],
        [
            1 - BY_LENGTH[field] + BY_LENGTH[field] * units * LENGTH_UNIT / USUAL[field]
            for units in range(LONGEST + 1)
        ],
    )
    for field in FIELDS
]
_IN_COMMANDS = _FIELDS[COMMANDS][1]
# From here on a word is rare.
RARE, MOST_RARE = 0.65, 5
# How far a line stands out is only known up to so many deviations.
LEAST_DEVIATION, FARTHEST = 0.02, 5.0


class PromptWords:
    """The words of a prompt, each with how rare it is in the store: 1 for one that nobody has."""

    def __init__(self, words: Sequence[str], counts: Mapping[str, int], lines: int) -> None:
        everything = max(lines, LEAST_LINES)
        most = _rarity(0, everything)
        rarities = {word: _rarity(counts.get(word, 0), everything) / most for word in words}
        best = sorted(rarities, key=lambda word: -rarities[word] * _share(word))[:MOST_WORDS]
        self.rarities = {word: rarities[word] for word in best}
        self.weights = {word: rarities[word] * _share(word) for word in best}
        self.needed = sum(self.weights.values())
        self.files = sum(map(is_file, best))
        self.different = len(words)


class LineMatch:
    """What a line has of a prompt: the weight of the words it holds, altogether and in commands,
    and how many they are, how many rare, in its prompt, or files that its turn changed.

    Its facts are packed.
    """

    __slots__ = ("changed", "commands", "facts", "held", "prompt", "rare", "strength")

    def __init__(self, facts: int) -> None:
        self.facts = facts
        self.strength = self.commands = 0.0
        self.held = self.rare = self.changed = self.prompt = 0

    def hold(self, posting: int, weight: float, *, rare: bool) -> None:
        """Take in one of the prompt's words; this runs some thousand times for a prompt."""
        self.held += 1
        self.rare += rare
        if posting & MOST_MENTIONS:
            self.prompt += 1
        if posting & CHANGED:
            self.changed += 1
        counts, lengths, strength = posting & CHANGED - 1, self.facts, 0.0
        for gain, discounts in _FIELDS:
            count = counts & MOST_MENTIONS
            if count:
                often = count / discounts[lengths & LONGEST]
                strength += gain * often
                if discounts is _IN_COMMANDS:
                    self.commands += weight * 2 * often / (often + 1)
            counts >>= MENTION_BITS
            if not counts:
                break
            lengths >>= LENGTH_BITS
        # The second mention says less than the first.
        self.strength += weight * 2 * strength / (strength + 1)


def weigh(
    asked: PromptWords, known: Known, found: Mapping[str, Sequence[int]]
) -> dict[int, LineMatch]:
    """What each line has of the prompt's words, by its place.

    `found` has for each word its postings: the place of a line, and below 16 bits where the word
    stands in it.
    """
    lines: dict[int, LineMatch] = {}
    for word, postings in found.items():
        weight, rare = asked.weights[word], asked.rarities[word] > RARE
        for posting in postings:
            place = posting >> 16
            line = lines.get(place)
            if line is None:
                if place not in known:
                    continue
                line = lines[place] = LineMatch(known[place][0])
            line.hold(posting, weight, rare=rare)
    return lines


def features(
    asked: PromptWords, known: Known, lines: Mapping[int, LineMatch]
) -> dict[int, list[float]]:
    """What decides, in the order of the weights, for each of the lines that have most."""
    if not lines:
        return {}
    needed = asked.needed
    strengths = {place: line.strength / needed for place, line in lines.items()}
    here = max(len(known), LEAST_HERE)
    mean = sum(strengths.values()) / here
    squares = sum(one * one for one in strengths.values()) / here
    deviation = sqrt(max(0.0, squares - mean * mean)) + LEAST_DEVIATION
    later = {place: n for n, place in enumerate(sorted(known, reverse=True))}
    made = {}
    for place in sorted(strengths, key=lambda place: -strengths[place])[:MOST_WEIGHED]:
        line = lines[place]
        if line.held < LEAST_WORDS and not line.changed:
            continue
        facts = unpacked(line.facts)
        # A note is kept because it holds now, as what was just done does.
        note = known[place][1] is None
        made[place] = [
            min(FARTHEST, (strengths[place] - mean) / deviation),
            min(MOST_RARE, line.rare) / MOST_RARE,
            line.commands / needed,
            0.5 if note else 1 / (1 + later[place]),
            line.changed / max(1, asked.files),
            float(note or facts.edited),
            facts.failures / MOST_FAILURES,
            log(1 + facts.copies),
        ]
    return made


def chances(asked: PromptWords, known: Known, lines: Mapping[int, LineMatch]) -> dict[int, float]:
    """How likely each of the lines helps that have most of the prompt."""
    weights = list(WEIGHTS.values())
    found = {}
    for place, row in features(asked, known, lines).items():
        logit = (
            sum(map(float.__mul__, weights, row)) + BIAS + USED * unpacked(lines[place].facts).used
        )
        found[place] = 1 / (1 + exp(-logit))
    return found


def _rarity(count: int, everything: int) -> float:
    return log(1 + (max(everything - count, 0) + 0.5) / (count + 0.5))


def _share(word: str) -> float:
    return PAIR if word[0] > "\u3000" else NUMBER if word.isdigit() else 1.0
