"""The machine a timer is set on: which system it is, and how its commands are run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol
from zlib import crc32

from recollect.errors import UsageError
from recollect.serve.install.command import program
from recollect.settings import KEYS, variable_of
from recollect.system import platforms

# How many hours lie between two runs. They divide a day, so that it begins the same every day.
DAY_HOURS = 24
CADENCES = (1, 2, 3, 4, 6, 8, 12, DAY_HOURS)


class CommandResult(NamedTuple):
    """What a command came to."""

    code: int
    output: str = ""
    complaint: str = ""


class Runner(Protocol):
    """Runs the commands of a machine's scheduler."""

    def has(self, program: str) -> bool:
        """Whether there is such a program."""

    def run(self, *words: str, stdin: str = "") -> CommandResult:
        """Run a command to its end; one that cannot be started ends with 127."""


class SystemRunner:
    """The commands of this machine."""

    def has(self, program: str) -> bool:
        return shutil.which(program) is not None

    def run(self, *words: str, stdin: str = "") -> CommandResult:
        # What they say is read by us, so they say it in English.
        environ = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                words, input=stdin, env=environ, timeout=30, check=False,
                capture_output=True, encoding="utf-8", errors="surrogateescape",
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return CommandResult(127, complaint=str(error))
        return CommandResult(done.returncode, done.stdout, done.stderr.strip())


class Machine:
    """Where the timer will run, and what it will run there.

    `store` and `config` are the files that are asked for instead of the usual ones, `platform`
    that of `sys.platform`; `variables` can say where logs are. `systemd` says whether it is
    systemd that runs this machine: its commands may be there without it, in a container for one.
    """

    def __init__(
        self,
        *,
        store: str | None = None,
        config: str | None = None,
        command: list[str] | None = None,
        platform: str = sys.platform,
        environ: Mapping[str, str] = os.environ,
        variables: Iterable[str] = (),
        systemd: bool | None = None,
        runner: Runner | None = None,
        every_hours: int = DAY_HOURS,
    ) -> None:
        self.platform, self.environ, self.variables = platform, environ, set(variables)
        self.home, self.every_hours = platforms.user_home(), every_hours
        if every_hours not in CADENCES:
            raise UsageError(
                f"A timer cannot run every {every_hours} hours.",
                hint=f"timer.every_hours is one of {', '.join(map(str, CADENCES))}.",
            )
        self.systemd = os.path.isdir("/run/systemd/system") if systemd is None else systemd
        self.runner = runner or SystemRunner()
        self.command = command or program()
        # Import does the jobs it leaves, if it is told to wait for them.
        self.daily = ["import", "--wait"]
        for option, path in (("--store", store), ("--config", config)):
            self.daily += [option, os.path.abspath(path)] if path else []
        for word in [*self.words, *self.carried().values()]:
            if not word.isprintable():
                raise UsageError(
                    f"{word!r} cannot be written into a timer.",
                    hint="Move it to a path without control characters.",
                )

    @property
    def words(self) -> list[str]:
        """The whole command."""
        return self.command + self.daily

    def carried(self) -> dict[str, str]:
        """The variables that say where the logs are and what our settings are: a timer is
        not started by the shell that sets them.
        """
        places = {"RECOLLECT_HOME", "RECOLLECT_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
        names = sorted(self.variables | places | {variable_of(key) for key in KEYS})
        return {name: self.environ[name] for name in names if self.environ.get(name)}

    @property
    def hours(self) -> list[int]:
        """The hours of the day at which it runs; noon, when the machine is likely to be on, is
        one of them.
        """
        return list(range(12 % self.every_hours, DAY_HOURS, self.every_hours))

    @property
    def cadence(self) -> str:
        """How often it runs, in words."""
        if self.every_hours == DAY_HOURS:
            return "daily"
        return "every hour" if self.every_hours == 1 else f"every {self.every_hours} hours"

    @property
    def minute(self) -> int:
        """The minute of the hour for schedulers that have no random delay: the same at
        each install, another for each user.
        """
        return crc32(self.home.encode("utf-8", "surrogateescape")) % 60
