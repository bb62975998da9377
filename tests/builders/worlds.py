"""Memories of made-up worlds: sessions of three agents, imported, digested and learned from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.habits import Call, Session, Turn, run
from bench.scribes import adapters, write_logs
from recollect.memory import Memory
from recollect.model.patterns import Pattern
from recollect.settings import Settings


class World:
    """A memory with a few words for what is done to it.

    Strengths do not fade, so that answers can be compared.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = self._open()

    def _open(self) -> Memory:
        home = self.folder / "store"
        values = {"redact.enabled": False, "learn.half_life_days": 0}
        return Memory(Settings(str(home), str(home / "recollect.db"), values), adapters=adapters())

    def reopen(self) -> None:
        """What a process that ends and one that starts leave of it."""
        self.memory.close()
        self.memory = self._open()

    def take_in(self, sessions: Sequence[Session]) -> None:
        """Import the logs of these sessions, and nothing more."""
        self.memory.import_logs(write_logs(sessions, self.folder / "logs"))

    def learn(self) -> None:
        """Digest and learn whatever is new."""
        for _ in (*self.memory.digest_new(), *self.memory.old.learn()):
            pass

    def see(self, sessions: Sequence[Session]) -> World:
        """Both."""
        self.take_in(sessions)
        self.learn()
        return self

    def patterns(self) -> list[Pattern]:
        """Everything that is detected."""
        return list(self.memory.old.detect(limit=None))


def session(
    number: int,
    *calls: Call,
    agent: str = "scribe",
    project: str = "/srv/shop",
    parent: str | None = None,
) -> Session:
    """A session in which something else is done, then these things, and the person is content."""
    filler = [run(f"tool{number}-{part}") for part in range(12)]
    turns = [
        Turn("make the prices add up", filler),
        Turn("now the rest", list(calls)),
        Turn("thanks, that works", []),
    ]
    return Session(agent, number, project, turns, parent=parent)
