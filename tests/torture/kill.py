"""Whoever is killed at any moment leaves a sound store, and work that the next run finishes.

Half of the rounds kill after a random time, half at a random change of a file: just before the
n-th write, sync, rename or removal, which time alone would hardly hit.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.torture.campaign import Round
from tests.torture.commands import Command, commands
from tests.torture.disk import Fault
from tests.torture.homes import State, TortureHome
from tests.torture.victim import Ended

# A log that could not be read is read again by the next import.
_TRIED_AGAIN = ("logs that cannot be read",)


class Peace(NamedTuple):
    """What a command comes to when nobody disturbs it."""

    before: State
    right_after: State
    settled: State
    ended: Ended


class Trial(NamedTuple):
    """A command whose turn it is to be disturbed, for the `cycle`-th time."""

    number: int
    cycle: int
    command: Command
    peace: Peace
    chance: random.Random


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    for one in trials(home, seed, count):
        yield Round(one.command.name, attempt(home, one.command, one.peace, one.chance))


def trials(home: TortureHome, seed: int, count: int) -> Iterator[Trial]:
    """Every command in turn, in an order by chance, once it is known what it comes to in peace."""
    made = commands(home)
    random.Random(seed).shuffle(made)
    known: dict[str, Peace] = {}
    for number in range(count):
        command = made[number % len(made)]
        if command.name not in known:
            known[command.name] = in_peace(home, command)
        chance = random.Random(f"{seed} {number}")
        yield Trial(number, number // len(made), command, known[command.name], chance)


def in_peace(home: TortureHome, command: Command) -> Peace:
    """Run a command undisturbed, and all the jobs that follow from it."""
    home.restore(command.saved)
    before = {} if command.between == ("*",) or command.name.startswith("migration") else (
        home.state()
    )  # fmt: skip
    home.restore(command.saved)
    ended = home.run(*command.words, fault=Fault())
    assert ended.code == 0, f"{command.name}: {ended.code} {ended.said}"
    right_after = home.state()
    settle(home)
    return Peace(before, right_after, home.state(), ended)


def settle(home: TortureHome) -> None:
    """An hour later: whatever was left to do is done."""
    for hours in (1, 2):
        home.do("jobs", "run", hours_ahead=hours)


def attempt(home: TortureHome, command: Command, peace: Peace, chance: random.Random) -> list[str]:
    """Kill a command once; what did not hold then, or after its next run."""
    home.restore(command.saved)
    if chance.random() < 0.5:
        # Two in three anywhere, one where most is at stake: when it is put in its place.
        last = max(1, peace.ended.changes)
        at = chance.randint(1 if chance.random() < 0.67 else max(1, last - 12), last)
        moment = f"at change {at}"
        ended = home.run(*command.words, fault=Fault("kill", at))
    else:
        seconds = chance.uniform(0, peace.ended.seconds * 1.1)
        moment = f"after {seconds:.3f} s"
        ended = home.run(*command.words, kill_after=seconds)
    faults = []
    if ended.code not in (0, -signal.SIGKILL):
        faults.append(f"ended with {ended.code}: {ended.said[-300:]}")
    if command.between != ("*",):
        faults += home.unwell(but=command.between)
        if not command.removes and not faults:
            faults += [f"lost {name}" for name in missing(peace.before, home.state())]
    return [f"killed {moment}: {fault}" for fault in [*faults, *finish(home, command, peace)]]


def afterwards(home: TortureHome, command: Command, peace: Peace, ended: Ended) -> list[str]:
    """What does not hold of a command on a disk that failed it, nor after its next run."""
    faults = []
    if "Traceback" in ended.said or (ended.code and "error: " not in ended.said):
        faults.append(f"ended with {ended.code} and no message of ours: {ended.said[-700:]}")
    elif ended.code == 0:
        # Jobs are tried again: what one of them met is said by `recollect jobs`.
        jobs = command.words[0] == "jobs" or "--wait" in command.words
        faults += [] if jobs else differences(peace.right_after, home.state())
    elif ended.code != 74 or "\n  " not in ended.said:
        faults.append(f"ended with {ended.code}: {ended.said[-300:]}")
    if command.between != ("*",):
        faults += home.unwell(but=(*command.between, *_TRIED_AGAIN))
        if not command.removes and not faults:
            faults += [f"lost {name}" for name in missing(peace.before, home.state())]
    return [*faults, *finish(home, command, peace)]


def finish(home: TortureHome, command: Command, peace: Peace) -> list[str]:
    """Run a command again, an hour later; what is not as it is without any trouble."""
    again = home.run(*command.words, hours_ahead=1)
    if again.code != 0:
        return [f"the next run ended with {again.code}: {again.said[-300:]}"]
    try:
        settle(home)
    except AssertionError as error:
        return [f"the jobs after it: {error}"]
    faults = [f"in the end {fault}" for fault in home.unwell(but=command.lacks)]
    faults += differences(peace.settled, home.state())
    left = [path.name for path in home.folder.iterdir() if ".partial" in path.name]
    return faults + [f"left behind: {name}" for name in left]


def missing(before: State, now: State) -> list[str]:
    """What was said before and is said no more."""
    return sorted(before.keys() - now.keys())[:5]


def differences(expected: State, found: State) -> list[str]:
    """What two states do not have in common, by name."""
    return [
        *(f"lacks {name}" for name in sorted(expected.keys() - found.keys())[:5]),
        *(f"has besides {name}" for name in sorted(found.keys() - expected.keys())[:5]),
        *(
            f"has another {name}"
            for name in sorted(expected.keys() & found.keys())
            if expected[name] != found[name]
        ),
    ][:12]
