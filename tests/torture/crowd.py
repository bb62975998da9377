"""Everybody at once: importers, hooks, readers, and somebody who forgets and retains, on one store.

Logs grow meanwhile. Nobody may see an error, no hook may keep its agent waiting, and in the end the
store tells of every log what it tells when one process imports it in peace.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from recollect.errors import NotFound, RecollectError
from tests.builders.homes import claude_log, small_talk
from tests.torture.campaign import Round
from tests.torture.homes import State, TortureHome, make_homes
from tests.torture.kill import differences

IMPORTERS, HOOKS, READERS = 16, 16, 8
SECONDS = 20
# Forty processes wait for each other: a hook may take twice what a Python that does nothing takes
# among them, and besides as long as it gives itself.
HOOK_SECONDS, HOOK_BARE = 0.9, 2.0
SESSIONS, TURNS = 24, 30
FORGOTTEN = "claude-code:5e551011-0000-4000-8000-000000000001"


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    make_homes(home)
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        home.restore("settled")
        yield Crowd(home, chance).run()


class Crowd:
    """All who work with one store, for a while."""

    def __init__(self, home: TortureHome, chance: random.Random) -> None:
        self.home, self.chance = home, chance
        self.until = time.monotonic() + SECONDS
        self.faults: list[str] = []
        self.bare_seconds: list[float] = []
        self.hook_seconds: list[float] = []
        self.done: Counter[str] = Counter()
        self.environ = {
            "HOME": str(home.path), "USERPROFILE": str(home.path),
            "RECOLLECT_HOME": str(home.folder), "PATH": os.environ.get("PATH", ""),
        }  # fmt: skip

    def run(self) -> Round:
        logs = {}
        for number in range(1, SESSIONS + 1):
            path = claude_log(self.home.path, small_talk(number, TURNS, "lorem ipsum " * 20))
            logs[path] = path.read_bytes()
            path.write_bytes(b"")
        work: list[Callable[[], None]] = [lambda: self._grow(logs)]
        work += [self._import] * IMPORTERS + [self._hook] * HOOKS + [self._read] * READERS
        work += [self._forget_and_retain]
        threads = [threading.Thread(target=one) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        limit = HOOK_SECONDS + HOOK_BARE * max(self.bare_seconds, default=0)
        self.faults += [
            f"a hook took {took:.1f} s, bare Python at most {max(self.bare_seconds):.1f} s"
            for took in self.hook_seconds
            if took > limit
        ]
        for path, data in logs.items():
            path.write_bytes(data)
        self._run("import")
        self.faults += self.home.unwell()
        self.faults += self._lost()
        done = ", ".join(f"{times} {what}" for what, times in sorted(self.done.items()))
        return Round(done, self.faults)

    def _lost(self) -> list[str]:
        """What the store tells besides, or does not tell, of the logs that grew."""
        self._run("forget", FORGOTTEN, "--yes")
        self.home.do("jobs", "run", hours_ahead=1)
        told = self._grown()
        self.home.restore("settled")
        for number in range(1, SESSIONS + 1):
            claude_log(self.home.path, small_talk(number, TURNS, "lorem ipsum " * 20))
        self._run("import")
        self._run("forget", FORGOTTEN, "--yes")
        self.home.do("jobs", "run", hours_ahead=1)
        return differences(self._grown(), told)

    def _grown(self) -> State:
        mine = ("turn claude-code:5e551011", "session claude-code:5e551011")
        return {name: said for name, said in self.home.state().items() if name.startswith(mine)}

    def _run(self, *words: str, said: str = "") -> int:
        ended = subprocess.run(
            [sys.executable, "-m", "recollect", *words],
            input=said, capture_output=True, text=True, env=self.environ, cwd=self.home.path,
        )  # fmt: skip
        if "Traceback" in ended.stderr or ended.returncode not in (0, 1):
            self.faults.append(f"{words} ended with {ended.returncode}: {ended.stderr[-300:]}")
        return ended.returncode

    def _goes_on(self) -> bool:
        return time.monotonic() < self.until

    def _grow(self, logs: dict[Path, bytes]) -> None:
        """Agents write their logs, a few lines at a time, and end in the middle of one."""
        left = {path: memoryview(data) for path, data in logs.items()}
        while self._goes_on():
            path = self.chance.choice(list(left))
            some = self.chance.randint(1, 2_000)
            with path.open("ab") as file:
                file.write(left[path][:some])
            left[path] = left[path][some:]
            time.sleep(0.01)

    def _import(self) -> None:
        while self._goes_on():
            if self._run("import") == 0:
                self.done["imports"] += 1

    def _hook(self) -> None:
        moments = {"SessionStart": {"source": "startup"}, "UserPromptSubmit": {"prompt": "go on"}}
        while self._goes_on():
            for event, more in moments.items():
                given = {"session_id": f"s{threading.get_ident()}", "cwd": str(self.home.path),
                         "transcript_path": str(self.home.path / "x.jsonl"),
                         "hook_event_name": event, **more}  # fmt: skip
                began = time.monotonic()
                self._run("hook", "claude-code", event, said=json.dumps(given))
                self.hook_seconds.append(time.monotonic() - began)
                self.done["hooks"] += 1
            began = time.monotonic()
            subprocess.run([sys.executable, "-c", "pass"], env=self.environ)
            self.bare_seconds.append(time.monotonic() - began)

    def _read(self) -> None:
        """In this process, as a server would: the store stays open for a while."""
        while self._goes_on():
            try:
                with self.home.memory() as memory:
                    for _ in range(5):
                        for hit in memory.search("lorem test", mode="text").hits:
                            with suppress(NotFound):
                                memory.show(hit.ref)
                        list(memory.sessions())
                        memory.summary()
                        self.done["readings"] += 1
            except RecollectError as error:
                self.faults.append(f"a reader: {error}")

    def _forget_and_retain(self) -> None:
        while self._goes_on():
            self._run("forget", FORGOTTEN, "--yes")
            self._run("retain")
            self._run("jobs", "run")
            self.done["times forgotten and retained"] += 1
