"""What was offered to which agent, and when each hook ran."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import msgspec

from recollect.store import spool
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.projects import Projects
from recollect.system.clock import now_ms

# A greater one cannot be bound, and a line that cannot be kept would stop every import.
Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class Line(msgspec.Struct, array_like=True):
    """One line of the spool: a hook that ran, what it offered, and how it failed if it did."""

    id: str
    at: Number
    agent: str
    event: str
    session: str | None
    folder: str | None
    project: Number | None
    refs: str
    fault: str | None = None


def save(
    db: Database,
    face: str,
    event: str,
    refs: Sequence[str],
    *,
    agent: str | None,
    session: str | None,
    project: str | None,
) -> None:
    """Note down what a face offered at one of its events or tools."""
    at = now_ms()
    with db.transaction():
        db.execute(
            "insert into recalls (id, at, face, event, agent, session, project, refs) values (?, "
            "?, ?, ?, ?, ?, ?, ?)",
            (
                f"{time.time_ns()}-{os.getpid()}",
                at,
                face,
                event,
                agent,
                session,
                _number(db, project),
                " ".join(refs),
            ),
        )


def _number(db: Database, project: str | None) -> int | None:
    found = Projects(db).find([project]) if project else None
    return int(db.value("select id from projects where key = ?", (found,))) if found else None


def drain(db: Database) -> int:
    """Take in what hooks left in the spool.

    A line that is torn is passed over, one that comes twice counts once.
    """
    if db.path == ":memory:":
        return 0
    count = 0
    for path in spool.take(spool.path_of(db.path), f"{os.getpid()}-{time.time_ns()}"):
        lines = [line for raw in spool.read(path).splitlines() if (line := _line(raw))]
        if lines:
            with db.transaction():
                _keep(db, lines)
        # Somebody else may have read the same, and been faster.
        with suppress(OSError):
            os.unlink(path)
        count += len(lines)
        for ref in dict.fromkeys(line.session for line in lines if line.fault == spool.OFF):
            if ref:
                _switch_off(db, ref)
    return count


def _switch_off(db: Database, session: str) -> None:
    """Keep nothing of a session from now on, nor what was read of it before."""
    from recollect.store.sqlite.forget import Forgetting

    if db.value("select 1 from sessions where ref = ?", (session,)):
        Forgetting(db).session_or_turn(session)
        return
    with db.transaction():
        db.execute("insert or ignore into tombstones values ('session', ?, ?)", (session, now_ms()))


def _line(raw: bytes) -> Line | None:
    try:
        return msgspec.json.decode(raw, type=Line)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _keep(db: Database, lines: list[Line]) -> None:
    db.many(
        """
        insert or ignore into recalls (id, at, face, event, agent, session, project, refs)
        values (?, ?, 'hook', ?, ?, ?, (select id from projects where id = ?), ?)
        """,
        [
            (line.id, line.at, line.event, line.agent, line.session, line.project, line.refs)
            for line in lines
            if line.refs
        ],
    )
    db.many(
        """
        insert into firings (agent, event, last_at, fault) values (?, ?, ?, ?)
          on conflict (agent, event) do update
          set last_at = excluded.last_at, fault = excluded.fault where excluded.last_at >= last_at
        """,
        [
            (line.agent, line.event, line.at, None if line.fault == spool.OFF else line.fault)
            for line in lines
        ],
    )


def firings(db: Database) -> dict[tuple[str, str], tuple[int, str | None]]:
    """When each hook last ran, by agent and event, and the fault it ended with."""
    return {
        (agent, event): (at, fault)
        for agent, event, at, fault in db.rows("select agent, event, last_at, fault from firings")
    }
