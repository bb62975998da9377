"""The clock jumps by years, back and forth, between the commands and jobs of one store.

What the store tells of logs does not hang on the clock, and no lease or date in the future keeps
work from being done.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from tests.torture.campaign import Round
from tests.torture.homes import State, TortureHome, make_homes
from tests.torture.kill import differences

STEPS: tuple[tuple[str, ...], ...] = (
    ("import",), ("jobs", "run"), ("memory", "add", "Lint before tests.", "--everywhere"),
    ("doctor", "--rebuild-text"), ("retain",), ("jobs", "run", "embed"), ("sessions",),
)  # fmt: skip
YEAR_HOURS = 24 * 365
JUMPS = (-30 * YEAR_HOURS, -YEAR_HOURS, -1, 0, 1, 24, YEAR_HOURS, 10 * YEAR_HOURS)


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    make_homes(home)
    expected = _told_of_logs(home, [(step, 0) for step in STEPS])[0]
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        steps = [(step, chance.choice(JUMPS)) for step in STEPS]
        told, faults = _told_of_logs(home, steps)
        faults += differences(expected, told)
        where = ", ".join(f"{step[0]} at {hours:+} h" for step, hours in steps)
        yield Round("import, jobs and notes", [f"{where}: {fault}" for fault in faults])


def _told_of_logs(
    home: TortureHome, steps: list[tuple[tuple[str, ...], int]]
) -> tuple[State, list[str]]:
    """What a store tells after some steps, each at its own time, and what went wrong."""
    home.restore("begun")
    faults = []
    for words, hours in [*steps, (("jobs", "run"), 0)]:
        ended = home.run(*words, hours_ahead=hours)
        if ended.code:
            faults.append(f"{words} ended with {ended.code}: {ended.said[-300:]}")
    faults += home.unwell()
    with home.memory() as memory:
        waiting = memory.jobs.count_due()
        undone = memory.jobs.count_undigested() + memory._shared.store().vectors.waiting()
    if waiting or undone:
        faults.append(f"{waiting} jobs are due, {undone} turns or sessions wait")
    kinds = ("turn ", "session ", "word ", "note Lint before tests.")
    told = home.state()
    return {name: said for name, said in told.items() if name.startswith(kinds)}, faults
