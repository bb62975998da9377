"""Sessions and turns as they are shown.

Counts and sums are made for the rows that are asked for, when they are asked
for: nothing is kept twice, so nothing can disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from recollect.errors import NotFound, TurnDamaged, UsageError
from recollect.model.answers import Listing
from recollect.model.search import LONGEST_VALUE
from recollect.model.sessions import (
    Git,
    Session,
    SessionDetail,
    SessionTask,
    Tokens,
    ToolCall,
    Turn,
    TurnEvent,
)
from recollect.model.titles import title_of
from recollect.store import bodies
from recollect.store.sqlite import listing
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.names import Names
from recollect.store.sqlite.parts import readable_rows, turn_rows
from recollect.store.sqlite.search.chosen import chosen_sessions, chosen_turns
from recollect.store.sqlite.search.families import HAS_TURNS, IS_BELOW, SUBAGENTS, listed
from recollect.store.sqlite.sources import path_text
from recollect.store.sqlite.values import read_meta
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.model.search import Scope
    from recollect.store.sqlite.database import Row
    from recollect.store.sqlite.evictions import Evictions

# A title is sought in so many.
MOST_PROMPTS = 12
# An ambiguous name is answered with so many sessions less one.
MOST_NAMED = 6

_COLUMNS = """
    sessions.id, sessions.ref, agent, native_id, parent, origin, coalesce(b.key, a.key), cwd, title,
    sessions.started_at, sessions.ended_at, agent_version, git_branch, git_sha, git_remote,
    sources.path, meta, external
"""
_TABLES = """
    sessions
    left join projects a on a.id = sessions.project
    left join projects b on b.id = a.merged_into
    left join (select id as source_id, path from sources) sources
      on sources.source_id = sessions.source
"""
_TURN_COLUMNS = """
    turns.id, turns.ordinal, turns.live, turns.author, turns.prompt, turns.reply,
    turns.started_at, turns.ended_at, coalesce(b.key, a.key)
"""


class _Tasks(Struct):
    """As much of a digest as a list of sessions shows."""

    tasks: list[SessionTask]


def _event(row: bodies.Row) -> TurnEvent | ToolCall:
    if row[bodies.KIND] != "tool_call":
        return TurnEvent(kind=row[bodies.KIND], at=iso(row[bodies.AT]), text=row[bodies.TEXT])
    return ToolCall(
        kind="tool_call", at=iso(row[bodies.AT]), text=row[bodies.TEXT], name=row[bodies.NAME],
        tool_kind=row[bodies.TOOL_KIND], target=row[bodies.TARGET], input=row[bodies.INPUT],
        output=row[bodies.OUTPUT],
        ok=row[bodies.OK], exit_code=row[bodies.EXIT_CODE], duration_ms=row[bodies.DURATION_MS],
        folder=row[bodies.FOLDER],
    )  # fmt: skip


def shown_turns(db: Database, session: int, ref: str, ordinals: list[int] | None) -> list[Turn]:
    """The turns of a session, or those with these numbers, as they are shown."""
    # An import, which only counts sessions, need not load what letting go of events takes.
    from recollect.store.sqlite.evictions import Evictions

    chosen = "" if ordinals is None else f"and turns.ordinal in ({', '.join('?' * len(ordinals))})"
    rows = db.rows(
        f"""
        select {_TURN_COLUMNS} from turns
          join sessions on sessions.id = turns.session
          left join projects a on a.id = sessions.project
          left join projects b on b.id = a.merged_into
         where turns.session = ? {chosen} order by turns.ordinal
        """,
        [session, *(ordinals or [])],
    )
    evictions = Evictions(db)
    return [_turn(db, evictions, ref, row) for row in rows]


def _turn(db: Database, evictions: Evictions, ref: str, row: Row) -> Turn:
    number, ordinal, live, author, prompt, reply, started, ended, project = row
    damaged = False
    try:
        events = turn_rows(db, number)
    except TurnDamaged:
        events, damaged = readable_rows(db, number), True
    telemetry = (
        events.pop()[bodies.INPUT] if events and events[-1][bodies.KIND] == bodies.TELEMETRY else {}
    )
    tokens, cost = spent(db, "= ?", number)
    gone_at = evictions.at(number)
    prompts = [event[bodies.TEXT] for event in events if event[bodies.KIND] == "prompt"]
    replies = [event[bodies.TEXT] for event in events if event[bodies.KIND] == "reply"]
    return Turn(
        ref=f"{ref}#{ordinal}", ordinal=ordinal, live=bool(live), author=author,
        prompt=prompts[0] if prompts else prompt, reply=replies[-1] if replies else reply,
        started_at=iso(started), ended_at=iso(ended), project=project, tokens=tokens, cost_usd=cost,
        telemetry=telemetry,
        events=[_event(event) for event in events if event[bodies.KIND] != bodies.DIGEST],
        evicted_at=iso(gone_at),
        raw_log=evictions.raw_log(number) if gone_at is not None else None,
        damaged=damaged,
    )  # fmt: skip


def spent(db: Database, turns: str, number: int) -> tuple[Tokens, float | None]:
    """Tokens and cost of a session or a turn; the cost is unknown as soon as one call's is."""
    row = db.rows(
        f"""
        select coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
               coalesce(sum(cache_write_1h), 0), coalesce(sum(output), 0),
               coalesce(sum(reasoning), 0),
               case when count(*) = count(cost_usd) then sum(cost_usd) end
          from usage where turn {turns}
        """,
        (number,),
    )[0]
    tokens = Tokens(
        input=row[0], cache_read=row[1], cache_write=row[2], cache_write_1h=row[3],
        output=row[4], reasoning=row[5],
    )  # fmt: skip
    return tokens, None if row[6] is None else round(row[6], 6)


class Sessions:
    """Sessions as they are shown."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def search(
        self, scope: Scope, *, limit: int | None, offset: int = 0, subagents: bool = False
    ) -> Iterator[Session]:
        """Sessions with a turn, their own or a sub-agent's, that has all the words and passes
        the filters, newest first; each with its sub-agents after it, if they are wanted.
        """
        clause, values = listed(chosen_turns(scope))
        rows = self.db.rows(
            f"""
            select {_COLUMNS} from {_TABLES} where {clause}
             order by sessions.started_at desc, sessions.id desc limit ? offset ?
            """,
            [*values, -1 if limit is None else limit, offset],
        )
        for row in rows:
            session = Session(**self._fields(row))
            yield session
            if subagents and session.subagents:
                yield from self._subagents(session.id)

    def count_families(self, numbers: Iterable[int]) -> tuple[int, int]:
        """How many of these sessions lists show, and how many they show as their sub-agents."""
        self.db.execute("create temp table if not exists asked_sessions (id integer primary key)")
        self.db.execute("delete from asked_sessions")
        self.db.many("insert into asked_sessions values (?)", [(number,) for number in numbers])
        below, others = (
            f"select count(*) from sessions join asked_sessions using (id) where {HAS_TURNS}"
            f" and {condition}"
            for condition in (IS_BELOW, f"not {IS_BELOW}")
        )
        return int(self.db.value(others)), int(self.db.value(below))

    def _subagents(self, ref: str) -> Iterator[Session]:
        """The sub-agents of a session and theirs, oldest first."""
        for number, _ in self.db.rows(SUBAGENTS, (ref,)):
            row = self.db.row(f"select {_COLUMNS} from {_TABLES} where sessions.id = ?", (number,))
            if row is not None:
                yield Session(**self._fields(row))

    def page(self, scope: Scope, *, limit: int, cursor: str | None = None) -> Listing[Session]:
        """The same, a page at a time, with how many there are."""
        clause, values = listed(chosen_turns(scope))
        total = self.db.value(f"select count(*) from sessions where {clause}", values)
        after, shown = listing.beyond(cursor, "sessions.started_at", "sessions.id")
        order = listing.order("sessions.started_at", "sessions.id")
        rows = self.db.rows(
            f"select {_COLUMNS} from {_TABLES} where {clause} and {after} order by {order} limit ?",
            [*values, *shown, limit + 1],
        )
        last = rows[limit - 1] if len(rows) > limit else None
        return Listing(
            [Session(**self._fields(row)) for row in rows[:limit]],
            total=total,
            cursor=None if last is None else listing.cursor_of(last[9], last[0]),
        )

    def copied_turns(self, ref: str) -> set[int]:
        """The numbers of a fork's turns that stand in an earlier session too."""
        rows = self.db.rows(
            """
            select turns.ordinal from turns join sessions on sessions.id = turns.session
             where sessions.ref = ?
               and exists (select 1 from turns other
                            join sessions of on of.id = other.session
                            where other.key = turns.key and of.agent = sessions.agent
                              and other.session < turns.session)
            """,
            (ref,),
        )
        return {ordinal for (ordinal,) in rows}

    def get(self, ref: str, turns: list[int] | None = None) -> SessionDetail:
        """One session with its turns, or with some of them."""
        row = self.db.row(f"select {_COLUMNS} from {_TABLES} where sessions.ref = ?", (ref,))
        if row is None:
            raise NotFound(f'There is no session "{ref}".', hint="Try: recollect sessions")
        return SessionDetail(
            **self._fields(row), turn_list=shown_turns(self.db, row[0], ref, turns)
        )

    def find_folder(self, ref: str) -> str | None:
        """The folder that a session began in, as far as it is stored."""
        found = self.db.value("select cwd from sessions where ref = ?", (ref,))
        return None if found is None else str(found)

    def agents(self) -> list[str]:
        """The agents that have sessions here."""
        rows = self.db.rows("select distinct agent from sessions order by agent")
        return [agent for (agent,) in rows]

    def resolve(self, text: str) -> tuple[str, int | None]:
        """The session reference and the turn number that a person's reference means.

        A native id, or the start of one, is enough when it fits one session
        only. What fits a session and its sub-agents means the session.
        """
        # Half a character cannot be bound, and is in no name.
        name, mark, number = text.encode("utf-8", "replace").decode().partition("#")
        if len(name) > LONGEST_VALUE:
            raise NotFound(f'There is no session "{name[:50]}…".', hint="Try: recollect sessions")
        if mark and not (number.isdecimal() and len(number) <= 15):
            raise UsageError(
                f'"{text}" is not a reference.',
                hint="A turn is <session>#<number>, such as ...#3.",
            )
        found = self.db.rows(
            "select ref from sessions where ref = ? or native_id = ?", (name, name)
        )
        if not found:
            agent, _, native = name.rpartition(":")
            # Of a sub-agent's id both parts may be shortened.
            pattern = "".join(
                f"[{char}]" if char in "*?[" else "*/" if char == "/" else char for char in native
            )
            pattern += "*"
            found = self.db.rows(
                """
                select ref from sessions
                 where native_id glob :pattern and (:agent = '' or agent = :agent)
                   and not exists (
                     select 1 from sessions whole
                      where whole.native_id glob :pattern
                        and whole.ref = sessions.agent || ':'
                          || substr(sessions.native_id, 1, instr(sessions.native_id, '/') - 1)
                   )
                 limit :most
                """,
                {"pattern": pattern, "agent": agent, "most": MOST_NAMED},
            )
        if not found and not mark:
            # Some shells take `#` for a pattern: a turn is also <session>.<number>.
            session, dot, turn = name.rpartition(".")
            if session and dot and turn.isdecimal() and len(turn) <= 15:
                try:
                    return self.resolve(f"{session}#{turn}")
                except NotFound:
                    pass
        if not found or not name:
            raise NotFound(f'There is no session "{name}".', hint="Try: recollect sessions")
        if len(found) > 1:
            raise self._several(name, [ref for (ref,) in found])
        return found[0][0], int(number) if mark else None

    def _several(self, name: str, found: list[str]) -> UsageError:
        """A name that fits several sessions, with their titles to choose by."""
        names = Names(self.db).get(found)
        count = len(found) if len(found) < MOST_NAMED else f"more than {MOST_NAMED - 1}"
        named = [
            f"{names[ref].short:<17}  {names[ref].title or '(no prompt)'}"
            for ref in found[: MOST_NAMED - 1]
        ]
        return UsageError(f'"{name}" matches {count} sessions:', hint="\n  ".join(named))

    def _fields(self, row: Row) -> dict[str, Any]:
        number, ref, agent, native, parent, origin, project, cwd, title, started, ended, *rest = row
        version, branch, sha, remote, path, meta, external = rest
        turns, errors = self.db.rows(
            "select count(*), coalesce(sum(errors), 0) from turns where session = ?", (number,)
        )[0]
        calls = self.db.value(
            """
            select count(*) from tool_calls
             where turn in (select id from turns where session = ?)
            """,
            (number,),
        )
        tokens, cost = spent(self.db, "in (select id from turns where session = ?)", number)
        used = self.db.rows(
            """
            select model from usage
             where turn in (select id from turns where session = ?) and model is not null
             group by model order by max(at) desc, model
            """,
            (number,),
        )
        known = read_meta(meta)
        # Some logs name a model, and no figures that it could stand with.
        named = known.get("model")
        models = [model for (model,) in used] or ([named] if isinstance(named, str) else [])
        return {
            "id": ref, "agent": agent, "native_id": native, "parent": parent, "origin": origin,
            "project": project, "domain": None, "cwd": cwd,
            "title": title_of(title, self._asked(number)),
            "started_at": iso(started), "ended_at": iso(ended),
            "model": models[0] if models else None, "models": models, "agent_version": version,
            "git": Git(branch=branch, sha=sha, remote=remote), "turns": turns, "tool_calls": calls,
            "errors": errors, "subagents": len(self.db.rows(SUBAGENTS, (ref,))),
            "tokens": tokens, "cost_usd": cost,
            "source": path_text(path) if path is not None else None,
            "external": bool(external),
            **self._came_to(number), "meta": known,
        }  # fmt: skip

    def _came_to(self, session: int) -> dict[str, Any]:
        """What is told of a session's digest."""
        row = self.db.row(
            "select outcome, summary, digest from digests where session = ?", (session,)
        )
        if row is None:
            return {"outcome": None, "summary": None, "tasks": []}
        try:
            tasks = msgspec.msgpack.decode(row[2], type=_Tasks).tasks
        except (msgspec.MsgspecError, UnicodeError):
            # One bad digest is no reason to list nothing: `show --digest`
            # and `doctor --verify` name it.
            tasks = []
        return {"outcome": row[0], "summary": row[1], "tasks": tasks}

    def _asked(self, session: int) -> list[str]:
        """What people asked in a session, in order, and after that what others did: enough of it
        to find a title in.
        """
        rows = self.db.rows(
            """
            select prompt from turns where session = ? and prompt != ''
             order by author != 'human', ordinal limit ?
            """,
            (session, MOST_PROMPTS),
        )
        return [prompt for (prompt,) in rows]

    def export(self, scope: Scope) -> Iterator[dict[str, Any]]:
        """Sessions with a turn that has all the words and passes the
        filters, whole and oldest first.

        One session at a time is in memory. What is imported meanwhile may or may
        not be among them; what is forgotten meanwhile is not.
        """
        clause, values = chosen_sessions(scope)
        for (ref,) in self.db.rows(
            f"select ref from sessions where {clause} order by started_at, id", values
        ):
            try:
                session = self.get(ref)
            except NotFound:
                continue
            plain: dict[str, Any] = msgspec.to_builtins(session)
            yield plain
