"""One batch on its way into the tables: sessions, turns, parts, model calls.

A pass that starts at the beginning of a source rewrites the turns it meets,
found again by their native key; a pass that goes on from a checkpoint adds to
them. Either way a turn keeps its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from recollect.errors import TurnDamaged
from recollect.model.batch import TurnPart, Written
from recollect.model.logs import SessionFacts, Source, ToolResult, Usage
from recollect.store import bodies
from recollect.store.sqlite.capture.content import (
    TurnSummary,
    body_row,
    call_row,
    clear_turn,
    late_row,
    merge_turn,
    row,
    text_row,
)
from recollect.store.sqlite.parts import readable_rows, turn_rows
from recollect.store.sqlite.values import read_meta

if TYPE_CHECKING:
    from recollect.store.sqlite.capture.pending import Pending

# A turn that stays open for days is merged now and then, so that reading it
# stays cheap; doing it every 32 parts keeps the cost in proportion.
MOST_PARTS = 32


class _KnownSession(NamedTuple):
    """What the store has of a session; `rank` is that of the source it is read from."""

    id: int
    source: int | None
    meta: str
    rank: int | None
    external: int


class BatchWriter:
    """One batch on its way into the tables.

    A session that is new to the store needs no questions; for one that is
    known, rows still on their way are written first, so that answers are true.
    """

    def __init__(
        self, pending: Pending, source: Source, source_id: int, rewritten: set[int] | None
    ) -> None:
        self.pending, self.db, self.source_id = pending, pending.db, source_id
        self.agent, self.rank, self.external = source.agent, source.rank, source.external
        self.rewritten = rewritten
        self.comparable: set[tuple[str, str]] = set()
        self.kept_fuller = False
        self.asked = False
        self.met: set[str] = set()
        self.passed_over: set[str] = set()
        self.whole: dict[str, int] = {}
        self.written = Written()
        self.rows = pending
        self.turn_ids: dict[tuple[str, str], int] = {}
        self.next_ordinals: dict[int, int] = {}
        self.fresh: set[int] = set()
        self.spans: dict[int, SessionSpan] = {}

    # Sessions

    def session(self, native: str, facts: SessionFacts) -> int | None:
        """The session's row, made or brought up to date.

        None when it is forgotten, or better told elsewhere.
        """
        ref = f"{self.agent}:{native}"
        self.met.add(native)
        parent = f"{self.agent}:{facts.parent}" if facts.parent else None
        # A sub-agent was told, and answers, what its session is about.
        belongs_to = parent if facts.origin == "subagent" else None
        if (
            ("session", ref) in self.pending.forgotten
            or ("session", belongs_to) in self.pending.forgotten
            or self._is_copy(facts)
        ):
            self.passed_over.add(native)
            return None
        title = facts.title if ("title", ref) not in self.pending.forgotten else None
        values = (
            parent, facts.origin, facts.cwd, title, facts.started_at, facts.agent_version,
            facts.git_branch, facts.git_sha, facts.git_remote,
        )  # fmt: skip
        known = self._known(ref)
        if known is not None and bool(known.external) != self.external:
            if known.source == self.source_id:
                self._change_whose(known.id)
            elif self.external:
                # Anybody can write down the name of a person's own session.
                self.passed_over.add(native)
                return None
            else:
                self._set_aside(known.id)
                known = None
        if known is not None and known.rank is not None and known.rank != self.rank:
            if known.rank < self.rank:
                self.passed_over.add(native)
                return None
            # What a lesser place told and this one does not is no longer part of the conversation.
            self.rows.flush_tables()
            self.db.execute("update turns set live = 0 where session = ?", (known.id,))
        if known is None:
            session = self._new_session(ref, native, facts, values)
        else:
            session = known.id
            # A log that goes on mostly says nothing new about its session.
            if known.source != self.source_id or facts.meta is not None or any(values[2:]):
                meta = known.meta
                if facts.meta:
                    meta = _json({**read_meta(meta), **facts.meta})
                self._update_session(session, meta, values)
        self.pending.sessions[ref] = session
        self.written.touched.add(session)
        if facts.whole and session not in self.fresh:
            self.whole[native] = session
        return session

    def _known(self, ref: str) -> _KnownSession | None:
        row = self.db.row(
            """
            select sessions.id, source, meta, sources.rank, external
              from sessions left join sources on sources.id = source where ref = ?
            """,
            (ref,),
        )
        return None if row is None else _KnownSession(*row)

    def _new_session(
        self, ref: str, native: str, facts: SessionFacts, values: tuple[Any, ...]
    ) -> int:
        # Its number is counted, not asked for: `returning` would open a savepoint.
        session = self.pending.next_session
        self.pending.next_session += 1
        meta = _json(facts.meta or {})
        self.db.execute(
            """
            insert into sessions (id, ref, agent, native_id, source, copy_of, meta, parent, origin,
                                  cwd, title, started_at, agent_version, git_branch, git_sha,
                                  git_remote, external)
            values (?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 'interactive'), ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                session, ref, self.agent, native, self.source_id, facts.copy_of, meta, *values,
                self.external,
            ),
        )  # fmt: skip
        self.fresh.add(session)
        if self.db.value("select 1 from sessions where copy_of = ?", (ref,)):
            self.rows.flush_tables()
            self.db.execute(
                """
                update turns set live = 0
                 where session in (select id from sessions where copy_of = ?)
                """,
                (ref,),
            )
        return session

    def _update_session(self, session: int, meta: str, values: tuple[Any, ...]) -> None:
        self.db.execute(
            """
            update sessions set
              meta = ?, parent = coalesce(?, parent), origin = coalesce(?, origin),
              cwd = coalesce(cwd, ?), title = coalesce(?, title),
              started_at = coalesce(min(started_at, ?6), started_at, ?6),
              agent_version = coalesce(?, agent_version), git_branch = coalesce(?, git_branch),
              git_sha = coalesce(?, git_sha), git_remote = coalesce(git_remote, ?), source = ?
            where id = ?
            """,
            (meta, *values, self.source_id, session),
        )

    def _change_whose(self, session: int) -> None:
        """Make a session external, or the person's own, as its source is now."""
        # Hardly ever; an import need not load what such a change takes along.
        from recollect.store.sqlite.confirmed_folders import make_external, make_own

        self.rows.flush_tables()
        if self.external:
            make_external(self.db, [session])
        else:
            make_own(self.db, session)

    def _set_aside(self, session: int) -> None:
        """Give an external session another name: the person's own log tells of this one."""
        self.rows.flush_tables()
        self.db.execute(
            """
            update sessions set ref = ref || '/external-' || id,
                                native_id = native_id || '/external-' || id
             where id = ?
            """,
            (session,),
        )

    def _is_copy(self, facts: SessionFacts) -> bool:
        """Whether a session repeats one that is stored, or that is to stay forgotten."""
        original = facts.copy_of
        if original is None:
            return False
        stored = self.db.value("select 1 from sessions where ref = ?", (original,))
        return stored is not None or ("session", original) in self.pending.forgotten

    def _session_id(self, native: str) -> int | None:
        if native in self.passed_over:
            return None
        if (self.rank or self.external) and native not in self.met:
            # A batch that goes on in a lesser place says nothing about its
            # session, but is to be passed over as well.
            return self.session(native, SessionFacts(session=native))
        ref = f"{self.agent}:{native}"
        known = self.pending.sessions.get(ref)
        if known is None and ("session", ref) not in self.pending.forgotten:
            known = self.db.value("select id from sessions where ref = ?", (ref,))
            if known is None:
                known = self.session(native, SessionFacts(session=native))
            else:
                self.pending.sessions[ref] = known
        return known

    # Turns

    def turn(self, native: str, key: str, part: TurnPart) -> None:
        """Add a part to a turn, which is made at first sight."""
        session = self._session_id(native)
        if session is None or ("turn", f"{self.agent}:{key}") in self.pending.forgotten:
            return
        known = None if session in self.fresh else self._stored_turn(session, key)
        summary = TurnSummary(part.events)
        span = self.spans.get(session)
        if span is None:
            span = self.spans[session] = SessionSpan()
        if known is None:
            turn = self._new_turn(session, key, part, summary)
            span.new_turns += 1
        else:
            turn = known
            self._grow_turn(turn, part, summary)
            span.grown.append(turn)
        span.widen(part.facts.at, summary)
        self.turn_ids[native, key] = turn
        self.written.touched.add(session)
        self.written.turns += known is None
        self.written.events += len(part.events)

    def _stored_turn(self, session: int, key: str) -> int | None:
        """The row of a turn that an earlier batch brought,
        perhaps one of this very transaction.
        """
        if not self.asked:
            self.rows.flush_tables()
            self.asked = True
        turn: int | None = self.db.value(
            "select id from turns where session = ? and key = ?", (session, key)
        )
        return turn

    def _new_turn(self, session: int, key: str, part: TurnPart, summary: TurnSummary) -> int:
        turn, self.pending.next_turn = self.pending.next_turn, self.pending.next_turn + 1
        ordinal = self.next_ordinals.get(session)
        if ordinal is None:
            ordinal = 1 if session in self.fresh else self._last_ordinal(session) + 1
        self.next_ordinals[session] = ordinal + 1
        facts = part.facts
        started = facts.at if facts.at is not None else summary.first_at
        ended = summary.last_at if summary.last_at is not None else started
        self.rows.turns.append(
            (
                turn, session, ordinal, key, facts.author or "human", started, ended,
                summary.errors, summary.prompt, summary.reply,
            )
        )  # fmt: skip
        self._add_part(turn, 0, 0, part, "")
        if self.rewritten is not None:
            self.rewritten.add(turn)
        return turn

    def _last_ordinal(self, session: int) -> int:
        """The highest number a turn of this session ever had:
        forgetting a turn does not free its number.
        """
        return int(
            self.db.value(
                """
                select max(
                  coalesce((select max(ordinal) from turns where session = ?1), 0),
                  coalesce((select value from store_info where name = 'last_ordinal:'
                              || (select ref from sessions where id = ?1)), 0)
                )
                """,
                (session,),
            )
        )

    def _grow_turn(self, turn: int, part: TurnPart, summary: TurnSummary) -> None:
        known_end, again = self._end_of_evicted(turn), False
        if known_end is not None:
            part = self._later_than(known_end, turn, part)
            summary = TurnSummary(part.events)
        elif (
            self._begins_again(turn, part) if self.rewritten is None else turn not in self.rewritten
        ):
            if self.rewritten is not None and self._is_the_same(turn, part):
                self._stands(turn, part)
                return
            if self._is_cut_short(turn, part):
                self.kept_fuller = True
                return
            self.rows.flush()
            clear_turn(self.db, turn)
            again = True
        if self.rewritten is not None and known_end is None:
            self.rewritten.add(turn)
        next_part = self.db.value("select max(part) + 1 from bodies where turn = ?", (turn,)) or 0
        next_call = (
            self.db.value("select max(ordinal) + 1 from tool_calls where turn = ?", (turn,)) or 0
        )
        prompt = self.db.value("select prompt from turns where id = ?", (turn,))
        facts = part.facts
        self.db.execute(
            """
            update turns set
              author = coalesce(?1, author),
              started_at = iif(?9, coalesce(?2, ?3, started_at), coalesce(started_at, ?2, ?3)),
              ended_at =
                iif(?9, coalesce(?4, ended_at), coalesce(max(ended_at, ?4), ended_at, ?4)),
              errors = errors + ?5, prompt = case when prompt = '' then ?6 else prompt end,
              reply = case when ?7 = '' then reply else ?7 end
            where id = ?8
            """,
            (
                facts.author, facts.at, summary.first_at, summary.last_at,
                summary.errors, summary.prompt, summary.reply, turn, again,
            ),
        )  # fmt: skip
        if part.events or part.late or facts.telemetry:
            if known_end is not None:
                # What is new has yet to be digested.
                self.db.execute("update evictions set distilled = 0 where turn = ?", (turn,))
            for result in part.late:
                self._late(turn, result)
            self._add_part(turn, next_part, next_call, part, prompt)

    def _is_the_same(self, turn: int, part: TurnPart) -> bool:
        """Whether a turn that is brought again is stored just like this:
        most of a document that grew is. One that was damaged is not.
        """
        if part.late:
            return False
        stored = self.db.rows("select events from bodies where turn = ?", (turn,))
        return [events for (events,) in stored] == [bodies.pack(_rows(part))]

    def _stands(self, turn: int, part: TurnPart) -> None:
        """Leave a turn's content alone; what is known about it may still have changed."""
        if self.rewritten is not None:
            self.rewritten.add(turn)
        self.db.execute(
            """
            update turns set live = 1, author = coalesce(?2, author)
             where id = ?1 and (not live or author is not coalesce(?2, author))
            """,
            (turn, part.facts.author),
        )

    def _end_of_evicted(self, turn: int) -> int | None:
        """When a turn ended whose events were let go, as far as it was read.

        None for every other turn.

        A log that is read again does not bring them back. Without a body
        (a repair may have found it damaged) there is nothing to stay with.
        """
        end: int | None = self.db.value(
            """
            select coalesce(ended_at, started_at, 0)
              from evictions join turns on turns.id = evictions.turn
             where turns.id = ?1 and exists (select 1 from bodies where turn = ?1)
            """,
            (turn,),
        )
        return end

    def _later_than(self, end: int, turn: int, part: TurnPart) -> TurnPart:
        """What a part adds to a turn whose events up to a moment were let go.

        What tells no time is taken for one of these.
        """
        waiting = {
            call
            for (call,) in self.db.rows(
                "select pending from tool_calls where turn = ? and pending is not null", (turn,)
            )
        }
        return TurnPart(
            msgspec.structs.replace(part.facts, at=None, telemetry=None),
            [event for event in part.events if event.at is not None and event.at > end],
            [late for late in part.late if late.call in waiting],
        )

    def _begins_again(self, turn: int, part: TurnPart) -> bool:
        """Whether a pass that goes on from a checkpoint brings a turn from
        its start that is there already.

        So it is when the log was shorter for a while, or when a pass from the
        start was stopped on its way. The first event tells; a body is looked
        at only when the time does not rule that out.
        """
        first = part.events[0] if part.events else None
        if first is None or (first.kind != "prompt" and first.at is None):
            return False
        stored = self.db.row(
            """
            select started_at, events from turns join bodies on bodies.turn = turns.id
             where turns.id = ? and part = 0
            """,
            (turn,),
        )
        if stored is None or (first.kind != "prompt" and first.at != stored[0]):
            return False
        rows = bodies.find_rows(stored[1]) or []
        return bool(rows) and tuple(rows[0][: bodies.NAME]) == row(first)[: bodies.NAME]

    def _is_cut_short(self, turn: int, part: TurnPart) -> bool:
        """Whether the log has lost the end of a turn that we still
        have: the archive keeps what it has.
        """
        if (part.facts.session, part.facts.turn) not in self.comparable:
            return False
        try:
            rows = turn_rows(self.db, turn)
        except TurnDamaged:
            # What the log still has is more than we can read.
            return False
        stored = [
            tuple(kept[: bodies.NAME]) for kept in rows if kept[bodies.KIND] != bodies.TELEMETRY
        ]
        found = [row(event)[: bodies.NAME] for event in part.events]
        return len(found) < len(stored) and found == stored[: len(found)]

    def _late(self, turn: int, result: ToolResult) -> None:
        """A result whose call was stored by an earlier batch."""
        ordinal = self.db.value(
            "select ordinal from tool_calls where turn = ? and pending = ?", (turn, result.call)
        )
        if ordinal is None:
            rows = readable_rows(self.db, turn)
            calls = [row[bodies.CALL] for row in rows if row[bodies.KIND] == "tool_call"]
            if result.call not in calls:
                return
            ordinal = calls.index(result.call)
        ok = None if result.ok is None else int(result.ok)
        failed_before = self.db.value(
            "select ok is 0 from tool_calls where turn = ? and ordinal = ?", (turn, ordinal)
        )
        self.db.execute(
            """
            update tool_calls
               set ok = coalesce(?, ok), exit_code = coalesce(?, exit_code),
                   duration_ms = coalesce(?, duration_ms), pending = null
             where turn = ? and ordinal = ?
            """,
            (ok, result.exit_code, result.duration_ms, turn, ordinal),
        )
        if ok == 0 and not failed_before:
            self.db.execute("update turns set errors = errors + 1 where id = ?", (turn,))

    def _add_part(
        self, turn: int, number: int, next_call: int, part: TurnPart, prompt: str
    ) -> None:
        body_id, self.pending.next_body = self.pending.next_body, self.pending.next_body + 1
        rows = _rows(part)
        # The prompt is repeated for later parts: a word of it and a word of
        # the newest output still find this turn together.
        text = text_row(body_id, rows, prompt)
        self.rows.bodies.append(body_row(body_id, turn, number, rows, text))
        calls = [event for event in part.events if event.kind == "tool_call"]
        self.rows.calls += [
            call_row(turn, ordinal, event) for ordinal, event in enumerate(calls, next_call)
        ]
        self.written.tool_calls += len(calls)
        self.rows.index(text)

    def usage(self, usage: Usage, cost: float | None) -> None:
        """One model call; its turn must be known."""
        turn = self._turn_id(usage.session, usage.turn)
        if turn is not None:
            self.rows.usages.append(
                (
                    f"{self.agent}:{usage.key}", turn, usage.model, usage.at,
                    usage.input, usage.cache_read, usage.cache_write, usage.cache_write_1h,
                    usage.output, usage.reasoning, cost,
                )
            )  # fmt: skip

    def live(self, native: str, key: str, live: bool) -> None:
        """Mark a turn as part of the conversation, or as undone."""
        turn = self._turn_id(native, key)
        if turn is not None:
            self.rows.flush_tables()
            self.db.execute("update turns set live = ? where id = ?", (live, turn))

    def _turn_id(self, native: str, key: str) -> int | None:
        turn = self.turn_ids.get((native, key))
        if turn is None:
            session = self._session_id(native)
            turn = None if session is None else self._stored_turn(session, key)
            if turn is not None:
                self.turn_ids[native, key] = turn
        return turn

    # The end of the batch

    def close(self) -> None:
        """Bring the sessions' spans up to date, mark what is gone from
        them, and merge the turns that closed.
        """
        for native, session in self.whole.items():
            self._mark_undone(
                session, {turn for (whose, _), turn in self.turn_ids.items() if whose == native}
            )
        for session, span in self.spans.items():
            self.rows.ends.append((span.last_at, session))
            self.rows.starts.append((span.first_at, session))
            if session not in self.fresh:
                self.rows.flush_tables()
                self._merge_closed(session, span)

    def _mark_undone(self, session: int, told: set[int]) -> None:
        """Mark the turns that a session had and no longer has."""
        self.rows.flush_tables()
        stored = {
            turn
            for (turn,) in self.db.rows(
                "select id from turns where session = ? and live", (session,)
            )
        }
        if stored - told:
            self.db.many(
                "update turns set live = 0 where id = ?", [(turn,) for turn in stored - told]
            )

    def _merge_closed(self, session: int, span: SessionSpan) -> None:
        """One body for each turn that can no longer grow, or that has grown into many parts."""
        newest = self.db.value("select max(ordinal) from turns where session = ?", (session,))
        # The turn before the first new one closed just now, perhaps without being touched.
        before = self.db.value(
            "select id from turns where session = ? and ordinal = ?",
            (session, newest - span.new_turns),
        )
        for turn in {*span.grown, before} - {None}:
            parts, ordinal = self.db.rows(
                """
                select count(*), (select ordinal from turns where id = ?1)
                  from bodies where turn = ?1
                """,
                (turn,),
            )[0]
            if parts > 1 and (ordinal < newest or parts >= MOST_PARTS):
                self.rows.flush()
                merge_turn(self.db, turn)


class SessionSpan:
    """When the turns of a session took place, and which of them
    are new, as far as one batch tells.
    """

    __slots__ = ("first_at", "grown", "last_at", "new_turns")

    def __init__(self) -> None:
        self.first_at: int | None = None
        self.last_at: int | None = None
        self.new_turns = 0
        self.grown: list[int] = []

    def widen(self, at: int | None, summary: TurnSummary) -> None:
        """Take in one more part of a turn."""
        for moment in (at, summary.first_at, summary.last_at):
            if moment is not None:
                if self.first_at is None or moment < self.first_at:
                    self.first_at = moment
                if self.last_at is None or moment > self.last_at:
                    self.last_at = moment


def _rows(part: TurnPart) -> list[tuple[Any, ...]]:
    """A part's events as the rows of a body."""
    rows = [row(event) for event in part.events]
    rows += [late_row(late) for late in part.late]
    if part.facts.telemetry:
        rows.append(tuple(bodies.telemetry_row(part.facts.telemetry)))
    return rows


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
