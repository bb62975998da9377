"""A store with sessions in a project, and notes that a person accepted there."""

from __future__ import annotations

from pathlib import Path

from recollect.memory import Memory
from recollect.settings import Settings
from recollect.store.sqlite.database import Database
from tests.store.conftest import START, Filled, facts, turn

MINUTE, DAY = 60_000, 24 * 60 * 60_000
SENTENCE = "`npm test` fails with ENOENT until `npm ci` has run"


class Shop:
    """A project's folder and its sessions. Nothing is derived, everything is said."""

    def __init__(self, filled: Filled, folder: Path) -> None:
        self.filled, self.folder = filled, folder
        self.sessions: dict[str, str] = {}

    @property
    def db(self) -> Database:
        return self.filled.db

    @property
    def number(self) -> int:
        return int(self.db.value("select id from projects where key = ?", (str(self.folder),)))

    def memory(self) -> Memory:
        """The front door to the same store; it takes no secrets out of what is stored."""
        return Memory(
            Settings(str(self.filled.path.parent), str(self.filled.path), {"redact.enabled": False})
        )

    def session(
        self,
        name: str,
        *,
        day: float = 0,
        agent: str = "codex",
        folder: Path | None = None,
        reply: str = "done",
    ) -> str:
        """A session with one turn, so many days after the first; its reference."""
        cwd = str(folder or self.folder)
        minute = int(day * DAY / MINUTE)
        said = turn(name, "1", f"work on {name}", reply, minute=minute, cwd=cwd)
        self.filled.keep(f"{agent}-{name}.jsonl", facts(name, cwd=cwd), *said, agent=agent)
        ref = f"{agent}:{name}"
        self.db.execute(
            "update sessions set started_at = ? where ref = ?", (START + int(day * DAY), ref)
        )
        self.sessions[name] = ref
        return ref

    def accepted(self, text: str = SENTENCE) -> str:
        """A note about the project that a person typed; its reference."""
        return self.filled.store.notes.add(
            text, project=str(self.folder), category="constraint", author="person"
        ).ref

    def rejected(self, ref: str) -> None:
        """A person takes a note back."""
        self.filled.store.notes.reject(ref)
