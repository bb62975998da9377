"""The power fails at any moment: what was not synced yet is on the disk, or not, or in part.

Two promises hang on SQLite being told to sync: what a command has committed is there, and what
comes back is sound. The copies that are opened here are what a disk would hold at that instant.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.torture.campaign import Round
from tests.torture.commands import commands
from tests.torture.disk import AFTER_POWER_CUT, Fault
from tests.torture.homes import TortureHome
from tests.torture.kill import Peace, finish, in_peace, missing


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    made = commands(home)
    random.Random(seed).shuffle(made)
    known: dict[str, Peace] = {}
    left = Path(f"{home.path}{AFTER_POWER_CUT}")
    for number in range(count):
        command = made[number % len(made)]
        if command.name not in known:
            known[command.name] = in_peace(home, command)
        peace = known[command.name]
        at = random.Random(f"{seed} {number}").randint(1, max(1, peace.ended.changes))
        home.restore(command.saved)
        home.run(*command.words, fault=Fault("power", at))
        faults = []
        if left.is_dir():
            home.clear()
            shutil.copytree(left, home.path, dirs_exist_ok=True)
            shutil.rmtree(left)
        if command.between != ("*",):
            faults += home.unwell(but=command.between)
            if not command.removes and not faults:
                faults += [f"lost {name}" for name in missing(peace.before, home.state())]
        faults += finish(home, command, peace)
        yield Round(command.name, [f"cut at change {at}: {fault}" for fault in faults])
