"""Forgets a session or a turn: its rows, its words, and its bytes in our files.

A session takes its sub-agents' sessions with it, at any depth: what they were
told and what they answered is the same content. A turn takes those that began
while it ran. Forks are conversations of their own and stay, but every copy of
a forgotten turn goes, in whichever session it is found. So does a note
that rests on it, unless a person stands behind it or an agent gave it elsewhere too; what
other sessions say as well is found again in them. `dry_run` says what all that comes to.

A tombstone for each session and each turn keeps them from being imported
again. The checkpoints of the logs concerned are cleared, because an adapter may
have noted down words to go on with; a log that grows later is therefore read
from its start, and what is forgotten is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from recollect.errors import NotFound, TurnDamaged, UsageError
from recollect.model.episodes import Episode
from recollect.model.notes import Note
from recollect.model.reports import Forgotten
from recollect.model.team import TeamItem
from recollect.store import bodies
from recollect.store.sqlite import scrub
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import Digests
from recollect.store.sqlite.episodes import Episodes
from recollect.store.sqlite.evictions import Evictions
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.notes import Notes
from recollect.store.sqlite.parts import turn_rows
from recollect.store.sqlite.scrub import Scrub
from recollect.store.sqlite.team import Team
from recollect.store.sqlite.values import read_meta
from recollect.store.sqlite.vectors.stored import Vectors
from recollect.system.clock import now_ms

# A shorter text in a session's meta may be in a turn by chance.
QUOTE_CHARACTERS = 40


class _Turn(NamedTuple):
    id: int
    session: int
    ref: str
    agent: str
    ordinal: int
    key: str


class _Plan:
    """Everything that goes: worked out first, so that a dry run can tell it."""

    def __init__(self, db: Database, ref: str, ordinal: int | None) -> None:
        self.db = db
        number = db.value("select id from sessions where ref = ?", (ref,))
        if number is None:
            raise NotFound(f'There is no session "{ref}".', hint="Try: recollect sessions")
        asked = []
        if ordinal is not None:
            asked = self._turns("turns.session = ? and turns.ordinal = ?", (number, ordinal))
            if not asked:
                raise NotFound(
                    f"{ref} has no turn {ordinal}.", hint=f"See its turns: recollect show {ref}"
                )
        roots = [(number, ref)] if ordinal is None else self._began_during(ref, asked[0])
        self.sessions: dict[int, str] = dict(self._with_sub_agents(roots))
        self.turns = asked + [
            turn for one in self.sessions for turn in self._turns("turns.session = ?", (one,))
        ]
        known = {turn.id for turn in self.turns}
        self.copies = [
            copy
            for agent, key in dict.fromkeys((turn.agent, turn.key) for turn in self.turns)
            for copy in self._turns("turns.key = ? and sessions.agent = ?", (key, agent))
            if copy.id not in known
        ]

    def _turns(self, clause: str, values: tuple[Any, ...]) -> list[_Turn]:
        rows = self.db.rows(
            f"""
            select turns.id, sessions.id, sessions.ref, sessions.agent, turns.ordinal, turns.key
              from turns join sessions on sessions.id = turns.session
             where {clause} order by sessions.id, turns.ordinal
            """,
            values,
        )
        return [_Turn(*row) for row in rows]

    def _began_during(self, ref: str, turn: _Turn) -> list[tuple[int, str]]:
        return self.db.rows(
            """
            select sessions.id, sessions.ref from sessions, turns
             where sessions.parent = ? and sessions.origin = 'subagent' and turns.id = ?
               and sessions.started_at between turns.started_at and turns.ended_at
            """,
            (ref, turn.id),
        )

    def _with_sub_agents(self, roots: list[tuple[int, str]]) -> list[tuple[int, str]]:
        found = list(roots)
        for _, ref in found:  # It grows while we go through it.
            for row in self.db.rows(
                "select id, ref from sessions where parent = ? and origin = 'subagent' order by id",
                (ref,),
            ):
                if row not in found:
                    found.append((row[0], row[1]))
        return found

    def _places(self) -> set[tuple[int, int]]:
        return {(turn.session, turn.ordinal) for turn in self.turns + self.copies}

    def _count(self, table: str) -> int:
        return sum(
            self.db.value(f"select count(*) from {table} where turn = ?", (turn.id,))
            for turn in self.turns + self.copies
        )

    def report(self) -> Forgotten:
        return Forgotten(
            sessions=list(self.sessions.values()),
            turns=len(self.turns) + len(self.copies),
            copies=[f"{copy.ref}#{copy.ordinal}" for copy in self.copies],
            tool_calls=self._count("tool_calls"),
            model_calls=self._count("usage"),
            notes=Notes(self.db).resting_on(self._places()),
        )

    def carry_out(self) -> None:
        db, gone = self.db, self.turns + self.copies
        staying = [turn for turn in gone if turn.session not in self.sessions]
        projects = self._projects(gone)
        for turn in staying:
            self._keep_number(turn)
            self._unquote(turn)
        Vectors(db).remove([turn.id for turn in gone])
        ids = [(turn.id,) for turn in gone]
        db.many("delete from turns_text where rowid in (select id from bodies where turn = ?)", ids)
        for table in ("bodies", "tool_calls", "usage"):
            db.many(f"delete from {table} where turn = ?", ids)
        db.many("delete from turns where id = ?", ids)
        told = sorted({turn.session for turn in staying})
        Evictions(db).unsay(told)
        Digests(db).drop(told)
        now = now_ms()
        names = {("turn", f"{turn.agent}:{turn.key}") for turn in gone} | {
            ("session", ref) for ref in self.sessions.values()
        }
        db.many(
            "insert or ignore into tombstones values (?, ?, ?)",
            [(*name, now) for name in sorted(names)],
        )
        touched = {*self.sessions, *(turn.session for turn in staying)}
        for session in sorted(touched):
            self._clear_source(session)
        refs = [(ref,) for ref in self.sessions.values()] + [
            (f"{turn.ref}#{turn.ordinal}",) for turn in gone
        ]
        db.many("delete from jobs where subject = ?", refs)
        db.many("delete from feedback where ref = ?", refs)
        Notes(db).unlearn(sorted({turn.session for turn in gone}), self._places())
        Notes(db).drop_blocks(projects)
        # All of it: a line may quote a turn that it does not name, such as the one before.
        HookLines(db).clear(projects)
        db.many("delete from sessions where id = ?", [(session,) for session in self.sessions])
        db.many(
            """
            update sessions set ended_at = (select max(ended_at) from turns where session = ?1)
             where id = ?1
            """,
            [(turn.session,) for turn in staying],
        )
        Forgetting(db)._drop_empty(projects)

    def _keep_number(self, turn: _Turn) -> None:
        """A turn's number is never given again, not even when the last one is gone."""
        self.db.execute(
            """
            insert into store_info values ('last_ordinal:' || ?, ?)
            on conflict (name) do update set value = max(value, excluded.value)
            """,
            (turn.ref, turn.ordinal),
        )

    def _unquote(self, turn: _Turn) -> None:
        """Take the turn's words out of its session's title and meta: agents
        name a session by its first prompt.
        """
        try:
            rows = turn_rows(self.db, turn.id)
            said: str | None = _squeezed(
                "\n".join(
                    row[bodies.TEXT] for row in rows if row[bodies.KIND] in ("prompt", "reply")
                )
            )
        except TurnDamaged:
            said = None
        if Evictions(self.db).at(turn.id) is not None:
            # Nobody knows any more what it said: everything may quote it.
            said = None
        title, meta = self.db.rows(
            "select title, meta from sessions where id = ?", (turn.session,)
        )[0]
        first = (
            self.db.value("select min(ordinal) from turns where session = ?", (turn.session,))
            == turn.ordinal
        )
        if title and (first or said is None or _squeezed(title).rstrip(".… ") in said):
            title = None
            self.db.execute(
                """
                insert or ignore into tombstones
                values ('title', (select ref from sessions where id = ?), ?)
                """,
                (turn.session, now_ms()),
            )
        kept = {name: value for name, value in read_meta(meta).items() if not _quotes(value, said)}
        self.db.execute(
            "update sessions set title = ?, meta = ? where id = ?",
            (title, msgspec.json.encode(kept).decode(), turn.session),
        )

    def _clear_source(self, session: int) -> None:
        """What is remembered to go on reading with, and what was wrong with lines that may quote.

        Size and time stay, so the log is not read again before it changes.
        """
        source = self.db.value("select source from sessions where id = ?", (session,))
        self.db.execute("delete from problems where source = ?", (source,))
        self.db.execute(
            """
            update sources
               set position = 0, state = x'', head = 0, tail = 0, failure = null,
                   size_bytes = case when failure is null then size_bytes else -1 end
             where id = ?
            """,
            (source,),
        )

    def _projects(self, gone: list[_Turn]) -> list[int]:
        found: dict[int, None] = {}
        sql = """
            select one.id, one.merged_into from projects one
             where one.id = (select project from sessions where id = ?)
        """
        for session in {turn.session for turn in gone} | set(self.sessions):
            for project, merged_into in self.db.rows(sql, (session,)):
                found[project] = None
                if merged_into is not None:
                    found[merged_into] = None
        return list(found)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _quotes(value: Any, said: str | None) -> bool:
    if isinstance(value, str):
        return len(value) >= QUOTE_CHARACTERS and (said is None or _squeezed(value) in said)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_quotes(one, said) for one in inner)


class Forgetting:
    """Removes what a person wants gone, for good."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def session_or_turn(
        self, ref: str, ordinal: int | None = None, *, dry_run: bool = False
    ) -> Forgotten:
        """Remove a session, or one turn of it, for good.

        When this returns with `scrubbed.complete`, no file of the store holds
        any of it. Raises NotFound for what is not stored; what was
        forgotten before is scrubbed once more if that is still to do.
        """
        if self._was_forgotten(ref, ordinal):
            return Forgotten(
                scrubbed=Scrub(self.db).run()
                if Scrub(self.db).is_pending() and not dry_run
                else None,
                dry_run=dry_run,
            )
        with self._zeroing():
            with self.db.transaction():
                plan = _Plan(self.db, ref, ordinal)
                report = plan.report()
                report.dry_run = dry_run
                if dry_run:
                    report.files = scrub.copies_beside(self.db.path)
                    return report
                plan.carry_out()
                Scrub(self.db).request()
            Vectors(self.db).save_mean()
            report.files = scrub.copies_beside(self.db.path)
            report.scrubbed = Scrub(self.db).run()
        return report

    def note(self, ref: str) -> Note:
        """Remove a note for good, with the versions that it took the place of; says what it was."""
        with self._zeroing():
            with self.db.transaction():
                kept = Notes(self.db)
                self.db.many(
                    "insert or ignore into tombstones values ('note', ?, ?)",
                    [(name, now_ms()) for name in kept.team_names(ref)],
                )
                note = kept.forget(ref)
                HookLines(self.db).drop({note.ref})
                project = self.db.value("select id from projects where key = ?", (note.project,))
                self._drop_empty([project] if project is not None else [])
                Scrub(self.db).request()
            Scrub(self.db).run()
        return note

    def team_items(self, gone: Sequence[TeamItem]) -> int:
        """Remove for good what team mates forgot; how many things that were."""
        with self._zeroing():
            with self.db.transaction():
                team = Team(self.db)
                refs = {ref for one in gone if (ref := team.note_of(one.author, one.id))}
                dropped = team.drop_items(gone)
                if dropped:
                    HookLines(self.db).drop(refs)
                    Scrub(self.db).request()
            if dropped:
                scrub.remove_copies(self.db.path)
                Scrub(self.db).run()
        return dropped

    def episode(self, ref: str) -> Episode:
        """Remove an attempt that was recorded live for good; says what it was."""
        with self._zeroing():
            with self.db.transaction():
                episode = Episodes(self.db).get(ref)
                if episode.session is not None:
                    raise UsageError(
                        f"{ref} comes from a session.",
                        hint=f"To forget the turn with it: recollect forget {ref}",
                    )
                project = self.db.value("select project from episodes where ref = ?", (ref,))
                self.db.execute("delete from episodes where ref = ?", (ref,))
                self.db.execute("delete from feedback where ref = ?", (ref,))
                self._drop_empty([project] if project is not None else [])
                Scrub(self.db).request()
            Scrub(self.db).run()
        return episode

    @contextmanager
    def _zeroing(self) -> Iterator[None]:
        """Deleted rows are overwritten: should the scrub be kept
        from its work, most is gone already.
        """
        before = self.db.value("pragma secure_delete")
        self.db.execute("pragma secure_delete = on")
        try:
            yield
        finally:
            self.db.execute(f"pragma secure_delete = {int(before):d}")

    def _was_forgotten(self, ref: str, ordinal: int | None) -> bool:
        session = self.db.value("select id from sessions where ref = ?", (ref,))
        if session is None:
            sql = "select 1 from tombstones where kind = 'session' and name = ?"
            return self.db.value(sql, (ref,)) is not None
        # A number that was given and has no turn is that of a forgotten one.
        last = self.db.value(
            "select value from store_info where name = 'last_ordinal:' || ?", (ref,)
        )
        return ordinal in range(1, int(last or 0) + 1) and not self.db.value(
            "select 1 from turns where session = ? and ordinal = ?", (session, ordinal)
        )

    def _drop_empty(self, projects: list[int]) -> None:
        """Projects that only what was forgotten was about.

        Twice, since one may be merged into another.
        """
        for project in projects * 2:
            used = self.db.value(
                """
                select exists (select 1 from sessions where project = ?1)
                    or exists (select 1 from projects where merged_into = ?1)
                    or exists (select 1 from notes where project = ?1)
                    or exists (select 1 from episodes where project = ?1)
                """,
                (project,),
            )
            if not used:
                self.db.execute("delete from project_aliases where project = ?", (project,))
                self.db.execute("delete from projects where id = ?", (project,))
