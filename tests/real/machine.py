"""A machine of one person: a home, a project, and our own command as they would run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.builders.homes import claude_log
from tests.builders.work import Work
from tests.real.agents import environment

RECOLLECT = str(Path(sys.executable).with_name("recollect"))
WAIT_SECONDS = 60


class Machine:
    def __init__(self, home: Path, shop: Path) -> None:
        self.home, self.shop = home, shop

    def recollect(self, *words: str) -> str:
        """What a command of ours prints."""
        ran = subprocess.run(
            [RECOLLECT, *words],
            cwd=self.shop,
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
        )
        assert ran.returncode in (0, 1), ran.stdout + ran.stderr
        return ran.stdout

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """The answers of a command of ours."""
        return [json.loads(line) for line in self.recollect(*words, "--json").splitlines()]

    def learn(self, *works: Work) -> None:
        """Import some work that was done in the project, as if long ago."""
        for work in works:
            claude_log(self.home, work.talk, "-" + str(self.shop).strip("/").replace("/", "-"))
        self.recollect("import", "--wait")

    def wait(self) -> None:
        """Until nothing runs here any more: what a hook started
        goes on after its agent has ended.
        """
        until = time.monotonic() + WAIT_SECONDS
        while running := self._running():
            if time.monotonic() > until:
                for process in running:
                    os.kill(process, signal.SIGKILL)
                raise AssertionError(f"still running after {WAIT_SECONDS} seconds: {running}")
            time.sleep(0.05)

    def _running(self) -> list[int]:
        """Processes that have this home for theirs."""
        mark = f"HOME={self.home}"
        # With an environment of its own: it would find itself.
        listed = subprocess.run(
            ["ps", "axeww", "-o", "pid=,command="],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=True,
        )
        return [int(line.split()[0]) for line in listed.stdout.splitlines() if mark in line.split()]
