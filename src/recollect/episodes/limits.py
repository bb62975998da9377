"""What may be recorded of an attempt: lengths, ranges and
characters, each with an error of its own.

Recording is cheap because what is right is told by a few comparisons; the
functions here are asked when those fail. They raise what is wrong, or return
when nothing is: a text of several lines is right, too.
"""

from __future__ import annotations

import re
from typing import Any

from recollect.errors import (
    ControlCharacter,
    NulCharacter,
    NumberOutOfRange,
    TooMany,
    UnknownOutcome,
    WrongKind,
    WrongLength,
)
from recollect.model.episodes import Context, Ending, Step
from recollect.model.sessions import Outcome

MOST_TASK = 10_000
MOST_TOOL = 200
MOST_ACTION = 4_000
MOST_OBSERVATION = 10_000
MOST_RESULT = 10_000
MOST_NAME = 500
MOST_TAGS = 20
MOST_TAG = 100
# A day of waiting for one tool, a month for a task, and more tokens than any model reads at once.
MOST_LATENCY_MS = 86_400_000
MOST_DURATION_MS = 31 * 86_400_000
MOST_TOKENS = 1_000_000_000
MOST_STEPS = 10_000
MOST_OPEN = 10_000

OUTCOMES: dict[str, Outcome] = {
    "success": "success", "partial": "partial", "fail": "fail", "uncertain": "uncertain",
    "abandoned": "abandoned",
    "failure": "fail", "abstained": "abandoned",
}  # fmt: skip

# Tabs and ends of lines are part of what tools print; surrogates are halves
# of characters that cannot be stored.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL_OR_BREAK = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check_text(
    name: str, value: Any, most: int, *, empty: bool = True, one_line: bool = False
) -> None:
    """Raise unless a text fits its field."""
    if not isinstance(value, str):
        raise WrongKind(
            f"{name} must be text, not {type(value).__name__}.", hint=f"Pass {name} as a str."
        )
    if len(value) > most:
        raise WrongLength(
            f"{name} has {len(value)} characters; at most {most} are allowed.",
            hint=f"Shorten {name} before you record it.",
        )
    if not empty and not value.strip():
        raise WrongLength(f"{name} is empty.", hint=f"Describe {name} in a few words.")
    found = (_CONTROL_OR_BREAK if one_line else _CONTROL).search(value)
    if found and found[0] == "\0":
        raise NulCharacter(f"{name} has a NUL at {found.start()}.", hint=f"Remove it from {name}.")
    if found:
        what = f"the character U+{ord(found[0]):04X} at {found.start()}"
        raise ControlCharacter(
            f"{name} has {what}.", hint=f"Remove control characters from {name}."
        )


def check_number(name: str, value: Any, most: int) -> None:
    """Raise unless a number is whole and within its range; None says that it is not known."""
    if value is None:
        return
    if type(value) is not int:
        raise WrongKind(
            f"{name} must be a whole number, not {type(value).__name__}.",
            hint=f"Round {name}, or leave it out.",
        )
    if not 0 <= value <= most:
        raise NumberOutOfRange(
            f"{name} must be between 0 and {most}.", hint=f"Check the unit of {name}."
        )


def check_context(context: Any) -> None:
    """Raise unless a context can be kept."""
    if not isinstance(context, Context):
        raise WrongKind(
            f"context must be a Context, not {type(context).__name__}.",
            hint="Try: from recollect.model.episodes import Context",
        )
    for name in ("language", "domain", "project"):
        value = getattr(context, name)
        if value is not None:
            check_text(name, value, MOST_NAME, empty=False, one_line=True)
    if not isinstance(context.tags, tuple):
        raise WrongKind(
            f"tags must be a tuple, not {type(context.tags).__name__}.",
            hint="Pass tags as a tuple of texts.",
        )
    if len(context.tags) > MOST_TAGS:
        raise TooMany(
            f"There are {len(context.tags)} tags; at most {MOST_TAGS} are allowed.",
            hint="Keep the most characteristic ones.",
        )
    for tag in context.tags:
        check_text("a tag", tag, MOST_TAG, empty=False, one_line=True)


def check_step(step: Any) -> None:
    """Raise unless a step can be kept."""
    if not isinstance(step, Step):
        raise WrongKind(
            f"A step must be a Step, not {type(step).__name__}.",
            hint="Try: from recollect.model.episodes import Step",
        )
    check_call(step.tool, step.action)
    check_number("latency_ms", step.latency_ms, MOST_LATENCY_MS)
    check_number("tokens", step.tokens, MOST_TOKENS)
    if step.success is not None and type(step.success) is not bool:
        raise WrongKind(
            "success must be True, False or None.", hint="Leave it out when it is unknown."
        )
    check_text("observation", step.observation, MOST_OBSERVATION)


def check_call(tool: Any, action: Any) -> None:
    """Raise unless a tool and what it was told can be kept."""
    check_text("tool", tool, MOST_TOOL, empty=False, one_line=True)
    check_text("action", action, MOST_ACTION)


def check_ending(ending: Any) -> None:
    """Raise unless an ending can be kept."""
    if not isinstance(ending, Ending):
        kind = type(ending).__name__
        raise WrongKind(
            f"An outcome must be an Ending or a word, not {kind}.",
            hint="Try: from recollect.model.episodes import Ending",
        )
    if not isinstance(ending.outcome, str):
        raise WrongKind(
            f"outcome must be text, not {type(ending.outcome).__name__}.",
            hint=f"Choose {', '.join(OUTCOMES)}.",
        )
    if ending.outcome not in OUTCOMES:
        raise UnknownOutcome(
            f'There is no outcome "{ending.outcome[:50]}".',
            hint=f"Choose {', '.join(OUTCOMES)}.",
        )
    for name in ("result", "error"):
        value = getattr(ending, name)
        if value is not None:
            check_text(name, value, MOST_RESULT)
    check_number("duration_ms", ending.duration_ms, MOST_DURATION_MS)
