"""Whether what failed worked later, and what was done in between.

The proof that an error was overcome is that the command that met it passes
later in the same session: the same command, or one that is alike (same
program, same subcommand). What changed in between is the fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from recollect.model.answers import Step
from recollect.reading.attempts import Attempt, compare, find_proof
from recollect.recall.verbs.changes import shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.model.calls import Call
    from recollect.reading.attempts import Match
    from recollect.store import Store


# An error is worked on in the turn that met it and the next few; a command
# that passes a day of turns later says little about it.
TURNS_AFTER = 6
CALLS_AFTER = 80
STEPS_SHOWN = 12
STEPS_UNPROVEN = 5
STEP_CHARACTERS = 300


class Retry:
    """The run that worked, what was done before it, and how sure it is that the failed command did.

    `hidden` means that the line of the proof worked, but a pipe or the rest
    of the line hides how the command itself ended; `more`, that this line did
    more than the one that failed, so that it may be the fix itself.
    """

    __slots__ = ("hidden", "left_out", "match", "more", "proof", "steps")

    def __init__(
        self,
        steps: list[Step],
        proof: Step | None = None,
        match: Match | None = None,
        *,
        hidden: bool = False,
        more: bool = False,
    ) -> None:
        # The last steps before the proof are the likeliest to be the fix; without one,
        # only the first may have to do with it.
        self.steps = steps[-STEPS_SHOWN:] if proof else steps[:STEPS_UNPROVEN]
        self.left_out = len(steps) - len(self.steps)
        self.proof, self.match, self.hidden, self.more = proof, match, hidden, more


def follow(store: Store, turn: int, ordinal: int, fails_again: Callable[[Call], bool]) -> Retry:
    """What came after one failed call.

    Where a line hides how the command in it ended, `fails_again` is asked:
    an output with the same error is no proof, whatever the exit code.
    """
    calls = store.calls.after(turn, TURNS_AFTER)
    at = next(
        (
            index
            for index, (_, call) in enumerate(calls)
            if (call.turn, call.ordinal) == (turn, ordinal)
        ),
        None,
    )
    if at is None:
        return Retry([])
    failed, later = calls[at][1], calls[at + 1 : at + 1 + CALLS_AFTER]
    tried, attempts = _attempt(failed), [_attempt(call) for _, call in later]
    matches = [compare(tried, attempt) for attempt in attempts]
    worked = [
        bool(call.ok and match and not (match[1] and fails_again(call)))
        for (_, call), match in zip(later, matches, strict=True)
    ]
    end = find_proof(worked, matches)
    steps: list[Step] = []
    for (ref, call), attempt, match, passed in zip(
        later[:end], attempts, matches, worked, strict=False
    ):
        # Runs of the same command that failed again are not what helped.
        if attempt.weight and (not match or passed):
            step = _step(ref, call)
            if not steps or (steps[-1].kind, steps[-1].text, steps[-1].ok) != (
                step.kind,
                step.text,
                step.ok,
            ):
                steps.append(step)
    if end is None:
        return Retry(steps)
    how, hidden = matches[end] or ("alike", True)
    more = attempts[end].weight > tried.weight
    return Retry(steps, _step(*later[end]), how, hidden=hidden, more=more)


def _attempt(call: Call) -> Attempt:
    return Attempt(call.kind, call.name, call.target, call.ok)


def _step(ref: str, call: Call) -> Step:
    kind: Literal["command", "edit"] = "edit" if call.kind == "edit" else "command"
    text = shortened(call.target or call.name, STEP_CHARACTERS)
    return Step(ref=ref, kind=kind, text=text, ok=call.ok, exit_code=call.exit_code)
