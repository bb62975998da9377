"""What agents were told unasked, whether it was used, and when each hook ran."""

from __future__ import annotations

import os
import time
from base64 import b32encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Annotated, NamedTuple

import msgspec

from recollect.errors import NotFound
from recollect.model.injections import Injection, InjectionLine
from recollect.store import spool
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.projects import Projects
from recollect.store.sqlite.sessions import Sessions
from recollect.system.clock import iso, now_ms

# A greater one cannot be bound, and a line that cannot be kept would stop every import.
Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
_COLUMNS = """
    injections.id, injections.at, face, event, injections.agent, injections.session,
    projects.key, injections.folder, tokens, refs, used, unused, looked_at
"""


class SpoolLine(msgspec.Struct, array_like=True):
    """One line of the spool: a hook that ran, what it told, and how it failed if it did."""

    id: str
    at: Number
    agent: str
    event: str
    session: str | None
    folder: str | None
    project: Number | None
    refs: str
    fault: str | None = None
    tokens: Number = 0


class PendingUse(NamedTuple):
    """What a session was told at some time, and the session's number."""

    id: str
    at: int
    session: int
    refs: list[str]


class SessionAction(NamedTuple):
    """A command that was run, or a file that was read or edited, in a session."""

    kind: str
    target: str
    ok: bool | None
    at: int


class UseCounts(NamedTuple):
    """How often a note was told, in how many sessions, and how often it was used."""

    told: int
    sessions: int
    used: int
    unused: int
    since: int


class Injections:
    """What agents were told unasked."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def save(
        self,
        face: str,
        event: str,
        refs: Sequence[str],
        *,
        agent: str | None,
        session: str | None,
        folder: str | None,
        project: str | None,
        tokens: int = 0,
    ) -> None:
        """Note down what a face told at one of its events or tools."""
        found = Projects(self.db).find([project]) if project else None
        self.db.execute(
            """
            insert into injections
              (id, at, face, event, agent, session, folder, project, refs, tokens)
            values (?, ?, ?, ?, ?, ?, ?, (select id from projects where key = ?), ?, ?)
            """,
            (
                _named(f"{time.time_ns()}-{os.getpid()}"), now_ms(), face, event, agent, session,
                folder, found, " ".join(refs), tokens,
            ),
        )  # fmt: skip

    # What hooks left

    def drain(self) -> int:
        """Take in what hooks left in the spool; returns how many lines that were.

        A line that is torn is passed over, one that comes twice counts once.
        """
        if self.db.path == ":memory:" or self.db.read_only:
            return 0
        count = 0
        for path in spool.take(spool.path_of(self.db.path), f"{os.getpid()}-{time.time_ns()}"):
            lines = [line for raw in spool.read(path).splitlines() if (line := _line(raw))]
            if lines:
                with self.db.transaction():
                    self._keep(lines)
            # Somebody else may have read the same, and been faster.
            with suppress(OSError):
                os.unlink(path)
            count += len(lines)
            for ref in dict.fromkeys(line.session for line in lines if line.fault == spool.OFF):
                if ref:
                    self._switch_off(ref)
        return count

    def _keep(self, lines: list[SpoolLine]) -> None:
        self.db.many(
            """
            insert or ignore into injections
              (id, at, face, event, agent, session, folder, project, refs, tokens)
            values (?, ?, 'hook', ?, ?, ?, ?, (select id from projects where id = ?), ?, ?)
            """,
            [
                (
                    _named(line.id), line.at, line.event, line.agent, line.session, line.folder,
                    line.project, line.refs, line.tokens,
                )
                for line in lines
                if line.refs
            ],
        )  # fmt: skip
        self.db.many(
            """
            insert into hook_runs (agent, event, last_at, fault) values (?, ?, ?, ?)
              on conflict (agent, event) do update
              set last_at = excluded.last_at, fault = excluded.fault
              where excluded.last_at >= last_at
            """,
            [
                (line.agent, line.event, line.at, None if line.fault == spool.OFF else line.fault)
                for line in lines
            ],
        )

    def _switch_off(self, session: str) -> None:
        """Keep nothing of a session from now on, nor what was read of it before."""
        from recollect.store.sqlite.forget import Forgetting

        if self.db.value("select 1 from sessions where ref = ?", (session,)):
            Forgetting(self.db).session_or_turn(session)
            return
        with self.db.transaction():
            self.db.execute(
                "insert or ignore into tombstones values ('session', ?, ?)", (session, now_ms())
            )

    def hook_runs(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        """When each hook last ran, by agent and event, and the fault it ended with."""
        return {
            (agent, event): (at, fault)
            for agent, event, at, fault in self.db.rows(
                "select agent, event, last_at, fault from hook_runs"
            )
        }

    # What was told

    def search(
        self,
        *,
        project: str | None = None,
        session: str | None = None,
        since_ms: int | None = None,
        limit: int | None = None,
    ) -> list[Injection]:
        """What was told, the newest first."""
        rows = self.db.rows(
            f"""
            select {_COLUMNS} from injections
              left join projects own on own.id = injections.project
              left join projects on projects.id = coalesce(own.merged_into, own.id)
             where (?1 is null or projects.key = ?1) and (?2 is null or session = ?2)
               and (?3 is null or at >= ?3)
             order by at desc, injections.id desc limit ?4
            """,
            (project, session, since_ms, -1 if limit is None else limit),
        )
        return [_injection(*row) for row in rows]

    def get(self, id: str) -> Injection:
        """One of them, by its id or the beginning of it."""
        rows = self.db.rows(
            f"""
            select {_COLUMNS} from injections
              left join projects own on own.id = injections.project
              left join projects on projects.id = coalesce(own.merged_into, own.id)
             where substr(injections.id, 1, length(?1)) = ?1
             order by injections.id = ?1 desc, at desc limit 2
            """,
            (id,),
        )
        if not rows or (len(rows) > 1 and rows[0][0] != id):
            said = "several of that name were told" if rows else "nothing of that name was told"
            raise NotFound(f"{id}: {said}.", hint="List them: recollect told")
        return _injection(*rows[0])

    # Whether it was used

    def to_look_at(self, *, quiet_before_ms: int, limit: int = 500) -> list[PendingUse]:
        """What was told to sessions that are stored and have been quiet since, and has not been
        looked at, or was before more of its session was read.
        """
        rows = self.db.rows(
            """
            select injections.id, injections.at, sessions.id, injections.refs from injections
              join sessions on sessions.ref = injections.session
             where face = 'hook' and injections.refs != ''
               and coalesce(sessions.ended_at, sessions.started_at, 0) < ?1
               and coalesce(looked_at, 0) < coalesce(sessions.ended_at, injections.at)
               and not sessions.external
             order by injections.at limit ?2
            """,
            (quiet_before_ms, limit),
        )
        return [PendingUse(id, at, session, refs.split()) for id, at, session, refs in rows]

    def done_since(self, session: int, at: int) -> list[SessionAction]:
        """What a session and its sub-agents ran, read and edited from a moment on, in order.

        A call has the time of its turn: all calls of a turn that ended after it count.
        """
        rows = self.db.rows(
            """
            select kind, target, ok, coalesce(turns.started_at, 0) from tool_calls
              join turns on turns.id = tool_calls.turn
             where turns.session in (
                 select id from sessions where id = ?1
                  union all select child.id from sessions child join sessions on sessions.id = ?1
                  where child.parent = sessions.ref)
               and target is not null and target != '' and kind in ('shell', 'edit', 'read')
               and coalesce(turns.ended_at, turns.started_at, ?2) >= ?2
             order by turns.ordinal, tool_calls.ordinal
            """,
            (session, at),
        )
        return [
            SessionAction(kind, target, None if ok is None else bool(ok), when)
            for kind, target, ok, when in rows
        ]

    def save_use(self, id: str, used: Iterable[str], unused: Iterable[str]) -> None:
        """Keep what became of what was told."""
        self.db.execute(
            "update injections set used = ?, unused = ?, looked_at = ? where id = ?",
            (" ".join(used), " ".join(unused), now_ms(), id),
        )

    def counts(self) -> dict[str, UseCounts]:
        """How often each note or turn was told and used, by its reference."""
        made: dict[str, list[int]] = {}
        sessions: dict[str, set[str | None]] = {}
        for at, session, refs, used, unused in self.db.each(
            "select at, session, refs, used, unused from injections where face = 'hook' order by at"
        ):
            good, bad = set(used.split()), set(unused.split())
            for ref in set(refs.split()):
                row = made.setdefault(ref, [0, 0, 0, at])
                row[0] += 1
                row[1] += ref in good
                row[2] += ref in bad
                sessions.setdefault(ref, set()).add(session)
        return {
            ref: UseCounts(told, len(sessions[ref]), used, unused, since)
            for ref, (told, used, unused, since) in made.items()
        }

    def sessions_running(self, project: str, texts: Sequence[str]) -> list[tuple[str, int, bool]]:
        """The sessions of a project with their times, and whether one of these commands failed
        in each; the oldest first.
        """
        marks = " or ".join(["instr(target, ?)"] * len(texts))
        rows = self.db.rows(
            f"""
            select sessions.ref, sessions.started_at, exists (
                select 1 from turns join tool_calls on tool_calls.turn = turns.id
                 where turns.session = sessions.id and kind = 'shell' and ok = 0 and ({marks}))
              from sessions join projects own on own.id = sessions.project
              left join projects on projects.id = coalesce(own.merged_into, own.id)
             where projects.key = ? and sessions.started_at is not null
               and sessions.origin != 'subagent' and not sessions.external
             order by sessions.started_at, sessions.id
            """,
            [*texts, project],
        )
        return [(ref, at, bool(failed)) for ref, at, failed in rows]

    def told_in(self, ref: str) -> dict[str, int]:
        """The sessions that were told a note by a hook, each with when it first was."""
        rows = self.db.rows(
            """
            select session, min(at) from injections
             where face = 'hook' and session is not null
               and instr(' ' || refs || ' ', ' ' || ? || ' ') group by session
            """,
            (ref,),
        )
        return dict(rows)

    # What people and agents say of it

    def give_feedback(self, ref: str, *, helpful: bool, author: str, reason: str | None) -> None:
        """Keep a judgement of a session, a turn or a note."""
        with self.db.transaction():
            self.db.execute(
                "insert into feedback (at, ref, helpful, author, reason) values (?, ?, ?, ?, ?)",
                (now_ms(), self.whole_ref(ref), helpful, author, reason),
            )

    def feedback(self, ref: str) -> tuple[int, int]:
        """How often a session, a turn or a note was called helpful, and how often not."""
        sql = """
            select coalesce(sum(helpful), 0), coalesce(sum(not helpful), 0)
              from feedback where ref = ?
        """
        helpful, harmful = self.db.rows(sql, (self.whole_ref(ref),))[0]
        return helpful, harmful

    def all_feedback(self) -> dict[str, tuple[int, int]]:
        """How often each was called helpful, and how often not, by reference."""
        rows = self.db.rows(
            "select ref, sum(helpful), sum(not helpful) from feedback group by ref order by ref"
        )
        return {ref: (helpful, harmful) for ref, helpful, harmful in rows}

    def whole_ref(self, ref: str) -> str:
        """The whole reference of what is stored under it."""
        if ref.startswith("note:"):
            return _note_ref(self.db, ref)
        session, ordinal = Sessions(self.db).resolve(ref)
        if ordinal is None:
            return session
        sql = """
            select 1 from turns join sessions on sessions.id = turns.session
             where ref = ? and ordinal = ?
        """
        if self.db.value(sql, (session, ordinal)) is None:
            raise NotFound(
                f"{session} has no turn {ordinal}.", hint=f"See its turns: recollect show {session}"
            )
        return f"{session}#{ordinal}"


def _note_ref(db: Database, ref: str) -> str:
    from recollect.store.sqlite.notes import Notes

    return Notes(db).get(ref).ref


def _named(line: str) -> str:
    """The id of what was told, short enough to be typed; the same each time for one line."""
    return b32encode(blake2b(line.encode(), digest_size=5).digest()).decode().lower()


def _line(raw: bytes) -> SpoolLine | None:
    try:
        return msgspec.json.decode(raw, type=SpoolLine)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _injection(
    id: str, at: int, face: str, event: str, agent: str | None, session: str | None,
    project: str | None, folder: str | None, tokens: int, refs: str, used: str, unused: str,
    looked_at: int | None,
) -> Injection:  # fmt: skip
    good, bad = set(used.split()), set(unused.split())
    return Injection(
        id=id, at=iso(at), face=face, event=event, agent=agent, session=session,
        project=project, folder=folder, tokens=tokens, looked_at=iso(looked_at),
        lines=[
            InjectionLine(
                ref=ref, use="used" if ref in good else "unused" if ref in bad else "unknown"
            )
            for ref in dict.fromkeys(refs.split())
        ],
    )  # fmt: skip
