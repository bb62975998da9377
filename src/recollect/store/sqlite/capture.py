"""Keeps what capture brings: sources, sessions, turns, bodies, the text index.

Everything here runs inside one transaction of the caller's, together with the
checkpoint, so a run that stops anywhere continues without loss or repetition.

A pass that starts at the beginning of a source rewrites the turns it meets,
found again by their native key; a pass that goes on from a checkpoint adds to
them. Either way a turn keeps its number.
"""

from __future__ import annotations

import os
import time
from types import TracebackType
from typing import Any

import msgspec

from recollect.model import Checkpoint, Event, SessionFacts, Source, ToolResult, Usage
from recollect.store import bodies
from recollect.store.sqlite.database import Database
from recollect.store.stretch import Fingerprint, KnownSource, ProjectIdentity, Stretch, TurnPart, Written
from recollect.store.text import ends, prepare

LEAD_CHARACTERS = 240
TARGET_CHARACTERS = 2_000
# A turn that stays open for days is merged now and then, so that reading it
# stays cheap; doing it every 32 parts keeps the cost in proportion.
MOST_PARTS = 32
TEXTS_HELD_CHARACTERS = 24 << 20
# A log full of rubbish may not fill the store with complaints about it.
PROBLEMS_KEPT = 100

_INSERT_TURN = """
    insert into turns (id, session, ordinal, key, author, project, started_at, ended_at, errors, prompt, reply)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_BODY = "insert into bodies (id, turn, part, events, checksum) values (?, ?, ?, ?, ?)"
_INSERT_TEXT = "insert into turns_text (rowid, prompt, reply, tools, errors, output) values (?, ?, ?, ?, ?, ?)"
_INSERT_CALL = """
    insert into tool_calls (turn, ordinal, name, kind, target, ok, exit_code, duration_ms, pending)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# Copies of one model call: the largest figures, once, owned by the earliest
# (time, session id), whatever the order in which the files are imported.
_INSERT_USAGE = """
    insert into usage (key, turn, model, at, input, cache_read, cache_write, output, reasoning, cost_usd)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (key) do update set
      input = max(input, excluded.input),
      cache_read = max(cache_read, excluded.cache_read),
      cache_write = max(cache_write, excluded.cache_write),
      output = max(output, excluded.output),
      reasoning = max(reasoning, excluded.reasoning),
      model = coalesce(model, excluded.model),
      cost_usd = coalesce(max(cost_usd, excluded.cost_usd), cost_usd, excluded.cost_usd),
      (turn, at) = (
        select case when moves then excluded.turn else usage.turn end, case when moves then excluded.at else usage.at end
          from (select (coalesce(excluded.at, 9e15), (select ref from sessions where id = new.session))
                     < (coalesce(usage.at, 9e15), (select ref from sessions where id = old.session)) as moves
                  from turns new, turns old where new.id = excluded.turn and old.id = usage.turn)
      )
"""


class Keeper:
    """Writes the stretches of one transaction.

    Row ids are counted here rather than asked for one by one: the transaction
    holds the write lock, so nobody else can take them.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        self.next_turn = (db.value("select max(id) from turns") or 0) + 1
        self.next_body = (db.value("select max(id) from bodies") or 0) + 1
        self.texts: list[tuple[Any, ...]] = []
        self.text_characters = 0
        self.sources: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.projects: dict[ProjectIdentity, int] = {}
        self.forgotten = {(kind, name) for kind, name in db.rows("select kind, name from tombstones")}

    def keep(
        self,
        source: Source,
        stretch: Stretch,
        *,
        version: int,
        seen: Fingerprint,
        rewritten: set[int] | None,
        failure: str = "",
    ) -> Written:
        """Store a stretch together with its checkpoint.

        `rewritten` holds the turns that a pass from the start has met so far;
        None means that the pass goes on from a checkpoint.
        """
        source_id = self._source(source, begins=rewritten is not None and not rewritten)
        batch = _Batch(self, source.agent, source_id, rewritten)
        for native, facts in stretch.sessions.items():
            batch.session(native, facts)
        for (native, key), part in stretch.turns.items():
            batch.turn(native, key, part)
        batch.flush()
        for usage in stretch.usages.values():
            batch.usage(usage, stretch.costs.get(usage.key))
        for (native, key), live in stretch.live.items():
            batch.live(native, key, live)
        batch.close()
        save_source(self.db, source_id, source.agent, version, seen, stretch, failure=failure or None)
        return batch.written

    def _source(self, source: Source, *, begins: bool) -> int:
        known = self.sources.get(source.path)
        if known is None:
            known = self.sources[source.path] = ensure_source(self.db, source)
            if begins:
                self.db.execute("delete from problems where source = ?", (known,))
        return known

    def index(self, row: tuple[Any, ...]) -> None:
        """Queue a row for the text index.

        The index is written last: SQLite makes it flush what it has gathered
        whenever a statement on another table opens a savepoint, and many small
        segments cost twice what a few large ones do.
        """
        self.texts.append(row)
        self.text_characters += sum(map(len, row[1:]))
        if self.text_characters > TEXTS_HELD_CHARACTERS:
            self.flush_texts()

    def flush_texts(self) -> None:
        """Write the queued rows of the text index."""
        if self.texts:
            self.db.many(_INSERT_TEXT, self.texts)
        self.texts, self.text_characters = [], 0

    def project(self, identity: ProjectIdentity | None) -> int | None:
        """The project's row; a folder seen with a repository before belongs to that."""
        if identity is None:
            return None
        found = self.projects.get(identity)
        if found is None:
            found = self.projects[identity] = self._project(identity)
        return found

    def _project(self, identity: ProjectIdentity) -> int:
        db = self.db
        if identity.kind == "directory":
            alias = db.value("select project from project_aliases where alias = ?", (identity.key,))
            if alias is not None:
                return int(alias)
        db.execute("insert into projects (key, kind) values (?, ?) on conflict do nothing", (identity.key, identity.kind))
        project = int(db.value("select id from projects where key = ?", (identity.key,)))
        if identity.kind != "directory" and identity.folder:
            db.execute(
                "insert into project_aliases values (?, ?) on conflict (alias) do update set project = excluded.project",
                (identity.folder, project),
            )
            # What was taken for a plain folder before now has a name.
            db.execute(
                "update projects set merged_into = ? where key = ? and kind = 'directory' and merged_into is null",
                (project, identity.folder),
            )
        return project


class Writing:
    """A transaction with its keeper, for `with`."""

    def __init__(self, db: Database) -> None:
        self.db, self.transaction = db, db.transaction()
        self.keeper: Keeper | None = None

    def __enter__(self) -> Keeper:
        self.transaction.__enter__()
        self.keeper = Keeper(self.db)
        return self.keeper

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and self.keeper is not None:
            try:
                self.keeper.flush_texts()
            except BaseException as failure:
                self.transaction.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self.transaction.__exit__(kind, error, trace)


class _Batch:
    """The rows of one stretch, collected so that each table is written in one call."""

    def __init__(self, keeper: Keeper, agent: str, source_id: int, rewritten: set[int] | None) -> None:
        self.keeper, self.db, self.agent, self.source_id = keeper, keeper.db, agent, source_id
        self.rewritten = rewritten
        self.written = Written()
        self.turn_rows: list[tuple[Any, ...]] = []
        self.body_rows: list[tuple[Any, ...]] = []
        self.call_rows: list[tuple[Any, ...]] = []
        self.usage_rows: list[tuple[Any, ...]] = []
        self.turn_ids: dict[tuple[str, str], int] = {}
        self.next_ordinals: dict[int, int] = {}
        self.fresh: set[int] = set()
        self.touched: dict[int, list[tuple[int, bool]]] = {}
        self.spans: dict[int, _Span] = {}

    def session(self, native: str, facts: SessionFacts) -> int | None:
        """The session's row, made or brought up to date; None when it is to stay forgotten."""
        ref = f"{self.agent}:{native}"
        if ("session", ref) in self.keeper.forgotten:
            return None
        known = self.db.row("select id, meta from sessions where ref = ?", (ref,))
        parent = f"{self.agent}:{facts.parent}" if facts.parent else None
        values = (
            parent, facts.origin, facts.cwd, facts.title, facts.started_at, facts.agent_version,
            facts.git_branch, facts.git_sha, facts.git_remote,
        )  # fmt: skip
        if known is None:
            cursor = self.db.execute(
                """
                insert into sessions (ref, agent, native_id, source, meta, parent, origin, cwd, title, started_at,
                                      agent_version, git_branch, git_sha, git_remote)
                values (?, ?, ?, ?, ?, ?, coalesce(?, 'interactive'), ?, ?, ?, ?, ?, ?, ?)
                returning id
                """,
                (ref, self.agent, native, self.source_id, _json(facts.meta or {}), *values),
            )
            session = int(next(iter(cursor))[0])
            self.fresh.add(session)
            self.next_ordinals[session] = 1
        else:
            session = int(known[0])
            meta = _json({**msgspec.json.decode(known[1]), **facts.meta}) if facts.meta else known[1]
            self.db.execute(
                """
                update sessions set
                  meta = ?, parent = coalesce(?, parent), origin = coalesce(?, origin), cwd = coalesce(cwd, ?),
                  title = coalesce(?, title), started_at = coalesce(min(started_at, ?6), started_at, ?6),
                  agent_version = coalesce(?, agent_version), git_branch = coalesce(?, git_branch),
                  git_sha = coalesce(?, git_sha), git_remote = coalesce(?, git_remote), source = ?
                where id = ?
                """,
                (meta, *values, self.source_id, session),
            )
        self.keeper.sessions[ref] = session
        self.written.sessions.add(ref)
        return session

    def _session_id(self, native: str) -> int | None:
        ref = f"{self.agent}:{native}"
        known = self.keeper.sessions.get(ref)
        if known is None and ("session", ref) not in self.keeper.forgotten:
            known = self.db.value("select id from sessions where ref = ?", (ref,))
            if known is None:
                known = self.session(native, SessionFacts(session=native))
            else:
                self.keeper.sessions[ref] = known
        return known

    def turn(self, native: str, key: str, part: TurnPart) -> None:
        """Add a part to a turn, which is made at first sight."""
        session = self._session_id(native)
        if session is None or ("turn", f"{self.agent}:{key}") in self.keeper.forgotten:
            return
        known = None
        if session not in self.fresh:
            known = self.db.row("select id, ordinal from turns where session = ? and key = ?", (session, key))
        project = self.keeper.project(part.project)
        if known is None:
            turn, ordinal = self._new_turn(session, key, part, project)
        else:
            turn, ordinal = known
            self._grow_turn(turn, part, project)
        span = self.spans.get(session)
        if span is None:
            span = self.spans[session] = _Span()
        span.widen(part, project)
        self.turn_ids[native, key] = turn
        self.touched.setdefault(session, []).append((turn, known is not None))
        self.written.turns += known is None
        self.written.events += len(part.events)

    def _new_turn(self, session: int, key: str, part: TurnPart, project: int | None) -> tuple[int, int]:
        turn, self.keeper.next_turn = self.keeper.next_turn, self.keeper.next_turn + 1
        ordinal = self.next_ordinals.get(session)
        if ordinal is None:
            ordinal = (self.db.value("select max(ordinal) from turns where session = ?", (session,)) or 0) + 1
        self.next_ordinals[session] = ordinal + 1
        facts, summary = part.facts, _summary(part.events)
        started = facts.at if facts.at is not None else summary.first_at
        self.turn_rows.append(
            (
                turn, session, ordinal, key, facts.author or "human", project, started,
                summary.last_at if summary.last_at is not None else started,
                summary.errors, summary.prompt, summary.reply,
            )  # fmt: skip
        )
        self._add_part(turn, 0, 0, part, "")
        if self.rewritten is not None:
            self.rewritten.add(turn)
        return turn, ordinal

    def _grow_turn(self, turn: int, part: TurnPart, project: int | None) -> None:
        self.flush()
        if self._begins_again(turn, part) if self.rewritten is None else turn not in self.rewritten:
            self.keeper.flush_texts()
            clear_turn(self.db, turn)
        if self.rewritten is not None:
            self.rewritten.add(turn)
        next_part = self.db.value("select max(part) + 1 from bodies where turn = ?", (turn,)) or 0
        next_call = self.db.value("select max(ordinal) + 1 from tool_calls where turn = ?", (turn,)) or 0
        prompt = self.db.value("select prompt from turns where id = ?", (turn,))
        facts, summary = part.facts, _summary(part.events)
        self.db.execute(
            """
            update turns set
              author = coalesce(?1, author), project = coalesce(?2, project),
              started_at = coalesce(started_at, ?3, ?4), ended_at = coalesce(max(ended_at, ?5), ended_at, ?5),
              errors = errors + ?6, prompt = case when prompt = '' then ?7 else prompt end,
              reply = case when ?8 = '' then reply else ?8 end
            where id = ?9
            """,
            (
                facts.author, project, facts.at, summary.first_at, summary.last_at,
                summary.errors, summary.prompt, summary.reply, turn,
            ),  # fmt: skip
        )
        if part.events or part.late or facts.telemetry:
            for result in part.late:
                self._late(turn, result)
            self._add_part(turn, next_part, next_call, part, prompt)

    def _begins_again(self, turn: int, part: TurnPart) -> bool:
        """Whether a pass that goes on from a checkpoint brings a turn from its start that is there already.

        So it is when the log was shorter for a while, or when a pass from the
        start was stopped on its way. The first event tells; a body is looked
        at only when the time does not rule that out.
        """
        first = part.events[0] if part.events else None
        if first is None or (first.kind != "prompt" and first.at is None):
            return False
        stored = self.db.row(
            "select started_at, events from turns join bodies on bodies.turn = turns.id where turns.id = ? and part = 0", (turn,)
        )
        if stored is None or (first.kind != "prompt" and first.at != stored[0]):
            return False
        rows = bodies.unpack(stored[1])
        return bool(rows) and tuple(rows[0][: bodies.NAME]) == _row(first)[: bodies.NAME]

    def _late(self, turn: int, result: ToolResult) -> None:
        """A result whose call was stored by an earlier stretch."""
        ordinal = self.db.value(
            "select ordinal from tool_calls where turn = ? and pending = ?", (turn, result.call)
        )
        if ordinal is None:
            rows = bodies.joined(stored_parts(self.db, turn))
            calls = [row[bodies.CALL] for row in rows if row[bodies.KIND] == "tool_call"]
            if result.call not in calls:
                return
            ordinal = calls.index(result.call)
        ok = None if result.ok is None else int(result.ok)
        failed_before = self.db.value("select ok is 0 from tool_calls where turn = ? and ordinal = ?", (turn, ordinal))
        self.db.execute(
            """
            update tool_calls set ok = coalesce(?, ok), exit_code = coalesce(?, exit_code),
                   duration_ms = coalesce(?, duration_ms), pending = null
             where turn = ? and ordinal = ?
            """,
            (ok, result.exit_code, result.duration_ms, turn, ordinal),
        )
        if ok == 0 and not failed_before:
            self.db.execute("update turns set errors = errors + 1 where id = ?", (turn,))

    def _add_part(self, turn: int, number: int, next_call: int, part: TurnPart, prompt: str) -> None:
        body_id, self.keeper.next_body = self.keeper.next_body, self.keeper.next_body + 1
        rows = [_row(event) for event in part.events]
        rows += [
            (bodies.RESULT, late.at, "", late.call, None, None, None, None, late.output, late.ok, late.exit_code, late.duration_ms)
            for late in part.late
        ]
        if part.facts.telemetry:
            rows.append(tuple(bodies.telemetry_row(part.facts.telemetry)))
        body = bodies.pack(rows)
        self.body_rows.append((body_id, turn, number, body, bodies.checksum(body)))
        # The prompt is repeated for later parts: a word of it and a word of
        # the newest output still find this turn together.
        self.keeper.index(text_row(body_id, rows, prompt))
        for event in part.events:
            if event.kind == "tool_call":
                pending = event.call if event.ok is None and event.output is None else None
                self.call_rows.append(
                    (
                        turn, next_call, event.name or "", event.tool_kind or "other",
                        event.target[:TARGET_CHARACTERS] if event.target else None,
                        event.ok, event.exit_code, event.duration_ms, pending,
                    )  # fmt: skip
                )
                next_call += 1
                self.written.tool_calls += 1

    def usage(self, usage: Usage, cost: float | None) -> None:
        """One model call; its turn must be known."""
        turn = self._turn_id(usage.session, usage.turn)
        if turn is None:
            return
        self.usage_rows.append(
            (
                f"{self.agent}:{usage.key}", turn, usage.model, usage.at, usage.input,
                usage.cache_read, usage.cache_write, usage.output, usage.reasoning, cost,
            )  # fmt: skip
        )

    def live(self, native: str, key: str, live: bool) -> None:
        """Mark a turn as part of the conversation, or as undone."""
        turn = self._turn_id(native, key)
        if turn is not None:
            self.db.execute("update turns set live = ? where id = ?", (live, turn))

    def _turn_id(self, native: str, key: str) -> int | None:
        turn = self.turn_ids.get((native, key))
        if turn is None:
            session = self._session_id(native)
            turn = self.db.value("select id from turns where session = ? and key = ?", (session, key))
            if turn is not None:
                self.turn_ids[native, key] = turn
        return turn

    def flush(self) -> None:
        """Write the rows collected so far."""
        for sql, rows in (
            (_INSERT_TURN, self.turn_rows),
            (_INSERT_BODY, self.body_rows),
            (_INSERT_CALL, self.call_rows),
        ):
            if rows:
                self.db.many(sql, rows)
                rows.clear()

    def close(self) -> None:
        """Write the rest; merge the turns that closed; bring the sessions' spans up to date."""
        self.flush()
        if self.usage_rows:
            self.db.many(_INSERT_USAGE, self.usage_rows)
        for session, turns in self.touched.items():
            if session not in self.fresh:
                self._merge_closed(session, turns)
        self.db.many(
            """
            update sessions set
              started_at = coalesce(started_at, ?), ended_at = coalesce(max(ended_at, ?2), ended_at, ?2),
              project = coalesce(project, ?)
            where id = ?
            """,
            [(span.first_at, span.last_at, span.project, session) for session, span in self.spans.items()],
        )

    def _merge_closed(self, session: int, turns: list[tuple[int, bool]]) -> None:
        """One body for each turn that can no longer grow, or that has grown into many parts."""
        newest = self.db.value("select max(ordinal) from turns where session = ?", (session,))
        candidates = {turn for turn, _ in turns}
        new_turns = sum(not grown for _, grown in turns)
        # The turn before the first new one closed just now, perhaps without being touched.
        before = self.db.value("select id from turns where session = ? and ordinal = ?", (session, newest - new_turns))
        if before is not None:
            candidates.add(before)
        for turn in candidates:
            parts, ordinal = self.db.rows(
                "select count(*), (select ordinal from turns where id = ?1) from bodies where turn = ?1", (turn,)
            )[0]
            if parts > 1 and (ordinal < newest or parts >= MOST_PARTS):
                self.keeper.flush_texts()
                merge_turn(self.db, turn)


class _Span:
    """When and where the turns of a session took place, as far as one stretch tells."""

    __slots__ = ("first_at", "last_at", "project")

    def __init__(self) -> None:
        self.first_at: int | None = None
        self.last_at: int | None = None
        self.project: int | None = None

    def widen(self, part: TurnPart, project: int | None) -> None:
        """Take in one more part."""
        if self.project is None:
            self.project = project
        times = (part.facts.at, part.events[0].at if part.events else None, part.events[-1].at if part.events else None)
        for at in times:
            if at is not None:
                self.first_at = at if self.first_at is None else min(self.first_at, at)
                self.last_at = at if self.last_at is None else max(self.last_at, at)


class _Summary(msgspec.Struct):
    prompt: str = ""
    reply: str = ""
    errors: int = 0
    first_at: int | None = None
    last_at: int | None = None


def _summary(events: list[Event]) -> _Summary:
    """What the turn's own row says about its events."""
    summary = _Summary()
    for event in events:
        if event.at is not None:
            if summary.first_at is None:
                summary.first_at = event.at
            if summary.last_at is None or event.at > summary.last_at:
                summary.last_at = event.at
        if event.kind == "tool_call":
            summary.errors += event.ok is False
        elif event.kind == "reply":
            if event.text:
                summary.reply = event.text[:LEAD_CHARACTERS]
        elif event.kind == "prompt":
            if not summary.prompt:
                summary.prompt = event.text[:LEAD_CHARACTERS]
        elif event.kind == "error":
            summary.errors += 1
    return summary


def _row(event: Event) -> tuple[Any, ...]:
    if event.kind != "tool_call":
        return (event.kind, event.at, event.text)
    return (
        event.kind, event.at, event.text, event.call, event.name, event.tool_kind, event.target,
        event.input, event.output, event.ok, event.exit_code, event.duration_ms,
    )  # fmt: skip


def text_row(body_id: int, rows: list[tuple[Any, ...]] | list[list[Any]], prompt: str = "") -> tuple[Any, ...]:
    """What the text index sees of a body's events."""
    prompts = [prompt] if prompt else []
    replies: list[str] = []
    tools: list[str] = []
    errors: list[str] = []
    outputs: list[str] = []
    for row in rows:
        kind = row[0]
        if kind == "tool_call" or kind == bodies.RESULT:
            if row[bodies.NAME]:
                tools.append(row[bodies.NAME])
            if row[bodies.TARGET]:
                tools.append(row[bodies.TARGET])
            if row[bodies.INPUT]:
                outputs.extend(_bulk(row[bodies.INPUT], row[bodies.TARGET]))
            if row[bodies.OUTPUT]:
                (errors if row[bodies.OK] is False else outputs).append(ends(row[bodies.OUTPUT]))
        elif kind == "prompt":
            prompts.append(row[bodies.TEXT])
        elif kind == "reply":
            replies.append(row[bodies.TEXT])
        elif kind == "error":
            errors.append(row[bodies.TEXT])
        elif kind == "reasoning":
            outputs.append(ends(row[bodies.TEXT]))
    columns = ("\n".join(prompts), "\n".join(replies), "\n".join(tools), "\n".join(errors), "\n".join(outputs))
    # One call for all five: most are short, and the call costs more than they do.
    prepared = prepare("\0".join(columns)).split("\0")
    if len(prepared) != len(columns):
        prepared = [prepare(column.replace("\0", " ")) for column in columns]
    return (body_id, *prepared)


def _bulk(value: Any, target: str | None) -> list[str]:
    """The texts inside a call's arguments that its target does not already say."""
    if isinstance(value, str):
        return [ends(value)] if value != target else []
    if isinstance(value, dict):
        return [ends(text) for text in value.values() if isinstance(text, str) and text != target]
    return []


def stored_parts(db: Database, turn: int) -> list[bytes]:
    """A turn's body, part by part."""
    return [events for (events,) in db.rows("select events from bodies where turn = ? order by part", (turn,))]


def clear_turn(db: Database, turn: int) -> None:
    """Take a turn's content away, keeping the turn, its number and what it cost."""
    db.execute("delete from turns_text where rowid in (select id from bodies where turn = ?)", (turn,))
    db.execute("delete from bodies where turn = ?", (turn,))
    db.execute("delete from tool_calls where turn = ?", (turn,))
    db.execute("update turns set errors = 0, prompt = '', reply = '', live = 1 where id = ?", (turn,))


def merge_turn(db: Database, turn: int) -> None:
    """Make one body, and one row in the text index, of a turn's parts."""
    rows = bodies.joined(stored_parts(db, turn))
    first = db.value("select min(id) from bodies where turn = ?", (turn,))
    body = bodies.pack(rows)
    db.execute("delete from turns_text where rowid in (select id from bodies where turn = ?)", (turn,))
    db.execute("delete from bodies where turn = ?", (turn,))
    db.execute(_INSERT_BODY, (first, turn, 0, body, bodies.checksum(body)))
    db.execute(_INSERT_TEXT, text_row(first, rows))


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()


# Sources --------------------------------------------------------------------

_SOURCE_COLUMNS = "id, agent, path, version, inode, size_bytes, mtime_ns, head, tail, position, state, failure"


def path_value(path: str) -> str | bytes:
    """A path as SQLite can hold it: file names need not be text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def known_sources(db: Database) -> dict[str, tuple[int, int, int, int]]:
    """(size, time, inode, version) of every source by path: enough to see that nothing changed.

    One that failed is left out, so that it is tried again.
    """
    return {
        path if isinstance(path, str) else os.fsdecode(path): (size, mtime, inode, version)
        for path, size, mtime, inode, version in db.rows("select path, size_bytes, mtime_ns, inode, version from sources where failure is null")
    }


def find_source(db: Database, path: str) -> KnownSource | None:
    """What is remembered about one source."""
    row = db.row(f"select {_SOURCE_COLUMNS} from sources where path = ?", (path_value(path),))
    if row is None:
        return None
    number, agent, _, version, inode, size, mtime, head, tail, position, state, failure = row
    return KnownSource(
        number, agent, path, version, Fingerprint(inode, size, mtime, head, tail), Checkpoint(position, bytes(state)), failure
    )


def ensure_source(db: Database, source: Source) -> int:
    """The row of a source, made empty at first sight."""
    db.execute(
        """
        insert into sources (agent, path, version, inode, size_bytes, mtime_ns, head, tail, position, state, imported_at)
        values (?, ?, 0, 0, -1, 0, 0, 0, 0, x'', 0) on conflict (path) do nothing
        """,
        (source.agent, path_value(source.path)),
    )
    return int(db.value("select id from sources where path = ?", (path_value(source.path),)))


def save_source(
    db: Database, source_id: int, agent: str, version: int, seen: Fingerprint, stretch: Stretch, *, failure: str | None
) -> None:
    """Record how far a source was read, in the transaction that keeps what was read."""
    now = time.time_ns() // 1_000_000
    point = stretch.checkpoint
    db.execute(
        """
        update sources set agent = ?, version = ?, inode = ?, size_bytes = ?, mtime_ns = ?, head = ?, tail = ?, position = ?,
               state = ?, imported_at = ?, failure = ? where id = ?
        """,
        (
            agent, version, seen.inode, seen.size_bytes, seen.mtime_ns, seen.head, seen.tail, point.position,
            point.state, now, failure, source_id,
        ),  # fmt: skip
    )
    if stretch.problems:
        kept = db.value("select count(*) from problems where source = ?", (source_id,))
        db.many(
            "insert into problems (source, kind, line, reason, count, at) values (?, ?, ?, ?, ?, ?)",
            [(source_id, p.kind, p.line, p.reason, p.count, now) for p in stretch.problems[: max(0, PROBLEMS_KEPT - kept)]],
        )
