"""A small store, filled the way capture fills one: items
become batches, the writer keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.assemble import assemble
from recollect.model.batch import Fingerprint, ProjectIdentity
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Problem,
    SessionFacts,
    Source,
    ToolResult,
    TurnFacts,
    Usage,
)
from recollect.model.sessions import SessionDetail
from recollect.store import open_store
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.store import Store

START = 1_767_258_000_000  # 2026-01-01T09:00:00Z


class Filled:
    """A store with a few words for putting things into it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store: Store = open_store(str(path))
        self.positions: dict[str, int] = {}

    @property
    def db(self) -> Database:
        return self.store.db

    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(str(self.path))

    def keep(
        self, log: str, *items: Item, again: bool = False, agent: str = "codex", rank: int = 0
    ) -> None:
        """Import one batch of a log; `again` reads it from its start, as after a rewrite."""
        first = log not in self.positions or again
        self.positions[log] = 0 if first else self.positions[log]
        self.positions[log] += 100
        point = Checkpoint(self.positions[log], b"state of " + log.encode())
        (batch,) = assemble([*items, point])
        folders = {key[0]: part.facts.cwd for key, part in reversed(batch.turns.items())}
        with self.store.writing() as writer:
            written = writer.keep(
                Source(agent, log, rank=rank), batch, version=1, seen=Fingerprint(7,
                self.positions[log], 1, 2, 3),
                rewritten=set() if first else None,
            )  # fmt: skip
            writer.flush()
            self._settle(agent, folders, written.touched)

    def _settle(self, agent: str, folders: dict[str, str | None], touched: set[int]) -> None:
        """Each session belongs to the folder of its first turn."""
        for session in touched:
            native = self.db.value("select native_id from sessions where id = ?", (session,))
            folder = folders.get(native)
            if folder is not None and not self.db.value(
                "select project from sessions where id = ?", (session,)
            ):
                place = ProjectIdentity(folder, "directory")
                self.store.projects.assign([session], self.store.projects.ensure(place))

    def sessions(self) -> list[SessionDetail]:
        """Every session with its turns, by reference."""
        refs = self.store.db.rows("select ref from sessions order by ref")
        return [self.store.sessions.get(ref) for (ref,) in refs]

    def session_refs(self) -> list[str]:
        return [session.id for session in self.sessions()]

    def turn_refs(self) -> list[str]:
        return [turn.ref for session in self.sessions() for turn in session.turn_list]

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table that is not made from others."""
        tables = (
            "sources", "projects", "sessions", "turns", "bodies", "tool_calls", "usage",
            "tombstones", "store_info",
        )  # fmt: skip
        return {table: sorted(self.db.rows(f"select * from {table}"), key=repr) for table in tables}

    def text_index(self) -> list[tuple[Any, ...]]:
        """The whole text index: every word with where it is."""
        self.db.execute(
            "create virtual table if not exists temp.words using fts5vocab (main, turns_text, "
            "instance)"
        )
        return self.db.rows("select term, doc, col, offset from temp.words order by 1, 2, 3, 4")

    def vocabulary(self) -> set[str]:
        return {row[0] for row in self.text_index()}

    def close(self) -> None:
        self.store.close()


def turn(
    session: str, key: str, prompt: str, reply: str = "done", *, minute: int = 0, **call: Any
) -> list[Item]:
    """A turn that asks, runs a command, and is answered."""
    at = START + minute * 60_000
    command, output = call.get("command", f"run {key}"), call.get("output", f"output {key}")
    return [
        TurnFacts(session=session, turn=key, at=at, cwd=call.get("cwd", "/home/ada/shop"),
        telemetry=call.get("telemetry")),
        Event(session=session, turn=key, kind="prompt", at=at, text=prompt),
        Event(
            session=session, turn=key, kind="tool_call", at=at + 1000, call=f"call {key}",
            name="shell", tool_kind="shell",
            target=command, input={"command": command, "why": call.get("why", "because")},
            folder=call.get("folder"),
        ),
        ToolResult(session=session, turn=key, call=f"call {key}", at=at + 2000, output=output,
        ok=True),
        Event(session=session, turn=key, kind="reply", at=at + 3000, text=reply),
        Usage(session=session, turn=key, key=f"call of {key}", model="gpt-5", at=at, input=10,
        output=5),
    ]  # fmt: skip


def facts(session: str, **values: Any) -> SessionFacts:
    return SessionFacts(session=session, started_at=START, **values)


def problem(log: str, reason: str) -> Problem:
    return Problem(path=log, kind="bad_line", reason=reason, line=3)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """An empty store, in a folder of its own."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    made = Filled(folder / "recollect.db")
    yield made
    made.close()
