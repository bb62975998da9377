"""How much a sentence looks like knowledge, by the cues that stand in it, in any language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from recollect.distill.finders.cleaning import names_in, size
from recollect.distill.finders.cues import CAPITALS, cues

# Names of code, paths and identifiers count up to so many.
MOST_NAMES = 5
SHORT = 40

_BOTH: Mapping[str, float] = {
    "trap": 0.6, "limit": 0.45, "cause": 0.5, "decision": 0.4, "environment": 0.35,
    "negation": 0.2, "hedge": -0.25, "social": -0.5,
}  # fmt: skip
_PERSON: Mapping[str, float] = {
    "lasting": 1.0, "strong": 0.8, "policy": 0.8, "language": 1.0, "complaint": 0.6,
    "correction": 0.6, "of the agent": 0.4,
}  # fmt: skip
_AGENT: Mapping[str, float] = {
    "strong": 0.3, "lasting": 0.2, "place": 0.2, "run": 0.2, "narration": -0.9, "offer": -1.3,
}  # fmt: skip
_NUMBER = re.compile(r"\d")


@lru_cache(16384)
def of_person(text: str) -> float:
    """How telling some words of a person are."""
    return _value(text, _PERSON)


@lru_cache(32768)
def of_agent(text: str) -> float:
    """How telling some words of an agent are."""
    found = cues(text)
    value = _value(text, _AGENT)
    if "done" in found and "cause" not in found:
        value -= 0.25
    if text.rstrip().endswith(("?", "？")):
        value -= 0.8
    elif text.rstrip().endswith((":", "：")):
        value -= 0.7
    return value


def _value(text: str, weights: Mapping[str, float]) -> float:
    found = cues(text)
    value = 0.5 + sum(_BOTH.get(cue, 0.0) + weights.get(cue, 0.0) for cue in found)
    value += 0.15 * min(MOST_NAMES, names_in(text))
    value += 0.3 * bool(CAPITALS.search(text)) + 0.1 * bool(_NUMBER.search(text))
    return value - 0.4 * (size(text) < SHORT)
