"""A store with sessions in a project, and patterns that were seen in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recollect.memory import Memory
from recollect.model.digests import Digest, Task
from recollect.model.patterns import PatternKind
from recollect.model.sessions import Outcome, Tokens
from recollect.settings import Settings
from recollect.store.sqlite import digests
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.old.sql import catalogue
from tests.store.conftest import START, Filled, facts, turn

MINUTE, DAY = 60_000, 24 * 60 * 60_000
SENTENCE = "`npm test` fails with ENOENT until `npm ci` has run"


class Shop:
    """A project's folder, its sessions, and what recurs in them.

    Nothing is derived, everything is said.
    """

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

    def seen(
        self,
        sessions: Sequence[str],
        sentence: str = SENTENCE,
        *,
        id: str = "3f2a90",
        kind: PatternKind = "error_recovery",
        signature: str = "npm test > ENOENT",
        went_well: bool | None = True,
        trust: str = "tool-verified",
        after_minutes: float = 1,
    ) -> str:
        """A pattern that was seen in these sessions, so many minutes after each began,
        and is proposed in these words; its id.
        """
        for ref in sessions:
            number, at = self.db.rows("select id, started_at from sessions where ref = ?", (ref,))[
                0
            ]
            self.db.execute(
                "insert into signals (session, turn, kind, signature, went_well, trust, at) values "
                "(?, 1, ?, ?, ?, ?, ?)",
                (number, kind, signature, went_well, trust, at + int(after_minutes * MINUTE)),
            )
        with self.db.transaction():
            self.db.execute(
                """
                insert or ignore into patterns (id, kind, signature, status, version, made_at)
                values (?, ?, ?, 'candidate', 1, 0)
                """,
                (id, kind, signature),
            )
            count = self.db.value(
                "select count(distinct session) from signals where kind = ? and signature = ?",
                (kind, signature),
            )
            catalogue.propose(self.db, id, sentence, count)
        return id

    def follows(
        self,
        pattern: str,
        condition: str,
        action: str,
        *,
        held: int,
        failed: int = 0,
        id: str = "h1",
    ) -> str:
        """A heuristic that follows from a pattern; its reference."""
        self.db.execute(
            """
            insert into heuristics (id, pattern, condition, action, held, failed, status, made_at)
            values (?, ?, ?, ?, ?, ?, 'active', 0)
            """,
            (id, pattern, condition, action, held, failed),
        )
        return f"heuristic:{id}"

    def offered(
        self, ref: str, session: str, *, after_minutes: float = 0, event: str = "SessionStart"
    ) -> None:
        """A hook told a session's agent about something, so many minutes after it began."""
        agent, _, native = session.partition(":")
        at = self.db.value("select started_at from sessions where ref = ?", (session,)) + int(
            after_minutes * MINUTE
        )
        count = self.db.value("select count(*) from recalls")
        self.db.execute(
            "insert into recalls (id, at, face, event, agent, session, refs) values (?, ?, 'hook', "
            "?, ?, ?, ?)",
            (f"r{count}", at, event, agent, native, ref),
        )

    def came_to(
        self, session: str, outcome: Outcome, *, tokens: int = 1_000, seconds: int = 60
    ) -> None:
        """What the one task of a session came to."""
        number = self.db.value("select id from sessions where ref = ?", (session,))
        spent = Tokens(input=tokens)
        task = Task(
            title="work", asked="work", turns=[1], outcome=outcome, tokens=spent, seconds=seconds
        )
        digest = Digest(
            session=session,
            project=str(self.folder),
            title="work",
            outcome=outcome,
            summary="",
            tasks=[task],
        )
        mark = self.db.value("select mark from undigested where session = ?", (number,))
        digests.save(self.db, number, mark, "state", digest)

    def accepted_at(self, pattern: str, day: float) -> None:
        """Pretend that what was decided about a pattern was decided so
        many days after the first session.
        """
        self.db.execute(
            "update pattern_versions set at = ? where pattern = ?",
            (START + int(day * DAY), pattern),
        )
