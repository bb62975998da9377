"""What can be read from tool calls: what tries again what failed, and what got past a failure.

The proof that an error was overcome is that the command that met it passes
later: the same command, or one that is alike (same program, same subcommand).
What changed something in between is what was done about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from recollect.model.calls import Call
from recollect.reading.programs import looks_only, main_pieces, program_of
from recollect.reading.shell import pieces, told


class ShellLine:
    """The commands of a line that matter: their places and words, and their programs.

    `weight` counts the commands that may have changed something, and
    `arguments` is what they were told to look at.
    """

    __slots__ = ("arguments", "main", "programs", "weight")

    def __init__(self, line: str) -> None:
        self.main = main_pieces(line)
        # The program and subcommand of each.
        self.programs = [program_of(words) for _, words in self.main]
        # Options change how commands tell of what they look at.
        self.arguments = {
            word for _, words in self.main for word in words[1:] if not word.startswith("-")
        }
        self.weight = sum(not looks_only(piece) for piece in pieces(line))


@lru_cache(4096)
def read_line(line: str) -> ShellLine:
    """A shell line taken apart; once, because agents run the same again and again."""
    return ShellLine(line)


def weight_of(call: Call) -> int:
    """How many things a call may have changed; reading and searching change nothing."""
    return read_line(call.target).weight if call.kind == "shell" else int(call.kind == "edit")


class Retry(NamedTuple):
    """How a call tries again what another one did; `hidden` when its line hides how that ended."""

    form: Literal["same", "alike"]
    hidden: bool


def find_retry(failed: Call, later: Call) -> Retry | None:
    """How a later call does what a failed one tried, if it does.

    In a chain nobody knows which command failed: the same is one that has
    them all, and one that is alike has at least the last of their programs.
    """
    if failed.kind != "shell" or later.kind != "shell":
        if failed.kind != later.kind or not failed.target or failed.target != later.target:
            return None
        return Retry("same" if failed.name == later.name else "alike", hidden=False)
    tried, run = read_line(failed.target), read_line(later.target)
    if not tried.main or tried.programs[-1] not in run.programs:
        return None
    line = pieces(later.target)
    wanted, there = [words for _, words in tried.main], [words for _, words in run.main]
    if all(words in there for words in wanted):
        ends = [
            told(later.exited_well, line, index) for index, words in run.main if words in wanted
        ]
        return Retry("same", hidden=None in ends)
    program = tried.programs[-1]
    if not program:
        return None
    places = [
        place for (place, _), one in zip(run.main, run.programs, strict=True) if one == program
    ]
    return Retry("alike", hidden=told(later.exited_well, line, places[-1]) is None)


def find_proof(passed: Sequence[bool], retries: Sequence[Retry | None]) -> int | None:
    """The place of the retry that proves most: the same command before one that is alike,
    a plain end before a hidden one; the first such.
    """
    proofs = [
        (retry.form != "same", retry.hidden, place)
        for place, retry in enumerate(retries)
        if retry and passed[place]
    ]
    return min(proofs)[2] if proofs else None


def proves(call: Call, retry: Retry) -> bool:
    """Whether a call that tries again is known to have passed: the line, or what it tries."""
    return call.passed or (call.exited_well is True and not retry.hidden)


class FollowUp(NamedTuple):
    """What was done after a failed call, and which call got past the failure, if one is known to.

    `done` is what may have changed something before that, in order. `more`
    means that the line of the proof did more than the one that failed, so that
    it may be the fix itself.
    """

    done: list[Call]
    proof: Call | None = None
    retry: Retry | None = None
    more: bool = False


def follow(
    failed: Call, later: Sequence[Call], *, fails_again: Callable[[Call], bool] = lambda call: True
) -> FollowUp:
    """What came of a failed call, read from the calls after it.

    Only a logged pass is a proof. Where a line passed and hides how the command
    in it ended, `fails_again` is asked: an output with the same error proves
    nothing, whatever the exit code.
    """
    retries = [find_retry(failed, call) for call in later]
    passed = [
        retry is not None and proves(call, retry) and not (retry.hidden and fails_again(call))
        for call, retry in zip(later, retries, strict=True)
    ]
    end = find_proof(passed, retries)
    done: list[Call] = []
    for call, retry, worked in zip(later[:end], retries, passed, strict=False):
        # Runs of the same command that failed again are not what helped.
        helps = weight_of(call) and (retry is None or worked)
        if helps and (not done or _says(done[-1]) != _says(call)):
            done.append(call)
    if end is None:
        return FollowUp(done)
    more = weight_of(later[end]) > weight_of(failed)
    return FollowUp(done, later[end], retries[end], more)


def _says(call: Call) -> tuple[bool, str, bool | None]:
    """Equal for two calls in a row that are one step to whoever reads them."""
    return call.kind == "edit", call.target or call.name, call.ok
