"""Whether what failed worked later, and what was done in between.

The proof that an error was overcome is that the command that met it passes
later in the same session: the same command, or one that is alike (same
program, same subcommand). What changed in between is the fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from recollect.answers import Step
from recollect.recall.verbs.changes import shortened
from recollect.recall.verbs.programs import looks_only, main_pieces, program_of
from recollect.recall.verbs.shell import pieces, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.store import Store
    from recollect.store.calls import Call

    ProofMatch = Literal["same", "alike"]

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
        match: ProofMatch | None = None,
        *,
        hidden: bool = False,
        more: bool = False,
    ) -> None:
        # The last steps before the proof are the likeliest to be the fix; without one, only the first may have to do with it.
        self.steps = steps[-STEPS_SHOWN:] if proof else steps[:STEPS_UNPROVEN]
        self.left_out = len(steps) - len(self.steps)
        self.proof, self.match, self.hidden, self.more = proof, match, hidden, more


def follow(store: Store, turn: int, ordinal: int, fails_again: Callable[[Call], bool]) -> Retry:
    """What came after one failed call.

    Where a line hides how the command in it ended, `fails_again` is asked:
    an output with the same error is no proof, whatever the exit code.
    """
    calls = store.calls_after(turn, TURNS_AFTER)
    at = next((index for index, (_, call) in enumerate(calls) if (call.turn, call.ordinal) == (turn, ordinal)), None)
    if at is None:
        return Retry([])
    failed, later = calls[at][1], calls[at + 1 : at + 1 + CALLS_AFTER]
    matches = [same_command(failed, call) for _, call in later]
    worked = [
        bool(call.ok and match and not (match[1] and fails_again(call))) for (_, call), match in zip(later, matches, strict=True)
    ]
    end = _find_proof(worked, matches)
    steps: list[Step] = []
    for (ref, call), match, passed in zip(later[:end], matches, worked, strict=False):
        # Runs of the same command that failed again are not what helped.
        if _weight(call) and (not match or passed):
            step = _step(ref, call)
            if not steps or (steps[-1].kind, steps[-1].text, steps[-1].ok) != (step.kind, step.text, step.ok):
                steps.append(step)
    if end is None:
        return Retry(steps)
    how, hidden = matches[end] or ("alike", True)
    more = _weight(later[end][1]) > _weight(failed)
    return Retry(steps, _step(*later[end]), how, hidden=hidden, more=more)


def _find_proof(worked: list[bool], matches: list[tuple[ProofMatch, bool] | None]) -> int | None:
    """The run that proves most: the same command before one that is alike, a plain end before a hidden one; the first such."""
    proofs = [(match[0] != "same", match[1], index) for index, match in enumerate(matches) if match and worked[index]]
    return min(proofs)[2] if proofs else None


def same_command(failed: Call, later: Call) -> tuple[ProofMatch, bool] | None:
    """Whether a later call does what a failed one tried, and whether its line hides how that ended.

    In a chain nobody knows which command failed: the same is one that has
    them all, and one that is alike has at least the last of their programs.
    """
    if failed.kind != "shell" or later.kind != "shell":
        matching = failed.kind == later.kind and failed.target is not None and failed.target == later.target
        return ("same" if failed.name == later.name else "alike", False) if matching else None
    tried, run = main_pieces(failed.target or ""), main_pieces(later.target or "")
    if not tried or not run:
        return None
    line = pieces(later.target or "")
    wanted, there = [words for _, words in tried], [words for _, words in run]
    if all(words in there for words in wanted):
        return "same", any(told(later.ok, line, index) is None for index, words in run if words in wanted)
    program = program_of(wanted[-1])
    alike = [index for index, words in run if program_of(words) == program]
    return ("alike", told(later.ok, line, alike[-1]) is None) if alike and program else None


def _weight(call: Call) -> int:
    """How many things a call may have changed; reading and searching change nothing."""
    if call.kind == "shell":
        return sum(not looks_only(piece) for piece in pieces(call.target or ""))
    return call.kind == "edit"


def _step(ref: str, call: Call) -> Step:
    kind: Literal["command", "edit"] = "edit" if call.kind == "edit" else "command"
    text = shortened(call.target or call.name, STEP_CHARACTERS)
    return Step(ref=ref, kind=kind, text=text, ok=call.ok, exit_code=call.exit_code)
