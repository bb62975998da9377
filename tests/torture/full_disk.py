"""A small disk with little room left: whoever writes says so, whoever reads is answered.

The disk is a file system in memory, which only root can make; where that cannot be, SQLite is told
that there is no more room.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.torture.campaign import Round
from tests.torture.disk import Fault
from tests.torture.homes import TortureHome
from tests.torture.kill import afterwards, trials

DISKS_MB = (8, 16, 32)
MOST_ROOM = 1 << 19


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    for number, _, command, peace, chance in trials(home, seed, count):
        room = chance.randint(0, MOST_ROOM)
        with small_disk(home, DISKS_MB[number % len(DISKS_MB)]) as is_real:
            home.restore(command.saved)
            ballast = home.path / "ballast"
            if is_real:
                fill(ballast, room)
            ended = home.run(*command.words, fault=None if is_real else Fault("full", room))
            faults = []
            if is_real and home.store.exists() and command.between != ("*",):
                found = home.run("sessions")
                if found.code not in (0, 1, 74):
                    faults.append(f"reading ended with {found.code}: {found.said[-300:]}")
            ballast.unlink(missing_ok=True)
            faults += afterwards(home, command, peace, ended)
            home.clear()
        how = "had room" if ended.code == 0 else f"ended with {ended.code}"
        how += "" if is_real else ", told by SQLite alone"
        yield Round(f"{command.name}: {how}", [f"with {room} bytes left: {one}" for one in faults])


@contextmanager
def small_disk(home: TortureHome, size_mb: int) -> Iterator[bool]:
    """Make the home a disk of its own for a while; whether that could be done."""
    home.clear()
    options = ["-t", "tmpfs", "-o", f"size={size_mb}m,mode=700", "torture", str(home.path)]
    is_real = (
        sys.platform == "linux"
        and os.geteuid() == 0
        and shutil.which("mount") is not None
        and subprocess.run(["mount", *options], capture_output=True).returncode == 0
    )
    try:
        yield is_real
    finally:
        if is_real:
            subprocess.run(["umount", "--lazy", str(home.path)], check=True)


def fill(ballast: Path, room: int) -> None:
    """Leave so much room on the disk, and no more."""
    free = shutil.disk_usage(ballast.parent).free
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - room))
