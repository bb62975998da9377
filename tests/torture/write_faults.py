"""A disk that refuses a write, a sync, a rename or a removal: said, survived and made up for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.torture.campaign import Round
from tests.torture.disk import Fault
from tests.torture.homes import TortureHome
from tests.torture.kill import afterwards, trials

MOST_CHANGES = 500


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    for _, cycle, command, peace, chance in trials(home, seed, count):
        nth = chance.randint(1, min(MOST_CHANGES, max(1, peace.ended.changes)))
        fault = Fault("error", nth, lasting=cycle % 2 == 1)
        home.restore(command.saved)
        ended = home.run(*command.words, fault=fault)
        which = f"changes from {nth} on refused" if fault.lasting else f"change {nth} refused"
        faults = afterwards(home, command, peace, ended)
        how = "went on" if ended.code == 0 else f"ended with {ended.code}"
        yield Round(f"{command.name}: {how}", [f"{which}: {one}" for one in faults])
