"""What sessions came to: which of them have no digest yet or an old one, what
it is made of, and the digest itself.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from recollect.errors import StoreError
from recollect.model.digests import Digest
from recollect.model.reports import WeekOutcome
from recollect.model.sessions import Tokens
from recollect.store.events import events_in
from recollect.store.history import Passage
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.parts import readable_rows_of
from recollect.store.sqlite.search.families import IS_BELOW
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.redact.values_in import RedactsMany

REDACTED_AT_ONCE = 256


class OutdatedSession(NamedTuple):
    """A session that has no digest or changed since; the mark is another one for every change."""

    number: int
    ref: str
    mark: int


class DigestFacts(NamedTuple):
    """What a session's own log gives as its title, the folder it began in, and its project."""

    title: str | None
    cwd: str | None
    project: str | None


class Digests:
    """What sessions came to."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def outdated(self, ref: str | None = None) -> list[OutdatedSession]:
        """Sessions whose turns or events are newer than their digest, the newest first;
        or the one that is named, if it is among them.
        """
        rows = self.db.rows(
            """
            select sessions.id, sessions.ref, undigested.mark
              from undigested join sessions on sessions.id = undigested.session
             where ?1 is null or sessions.ref = ?1
             order by sessions.started_at desc, sessions.id desc
            """,
            (ref,),
        )
        return [OutdatedSession(*row) for row in rows]

    def count_outdated(self) -> int:
        """How many sessions have no digest, or have changed since."""
        return int(self.db.value("select count(*) from undigested"))

    def facts(self, session: int) -> DigestFacts:
        """What a digest begins with, of a session by its number."""
        row = self.db.row(
            """
            select title, cwd, coalesce(b.key, a.key) from sessions
              left join projects a on a.id = sessions.project
              left join projects b on b.id = a.merged_into
             where sessions.id = ?
            """,
            (session,),
        )
        title, cwd, project = row or (None, None, None)
        return DigestFacts(title or None, cwd or None, project)

    def passages(self, session: int, *, short: bool = False) -> list[Passage]:
        """The turns of a session with everything that happened in them, in order.

        Those whose events were let go have no events as long as a digest tells of
        them; with `short`, they have what is kept of them.
        """
        stored = self.db.rows(
            """
            select turns.id from turns
             where turns.session = ?1
               and (?2 or not exists (select 1 from evictions where turn = turns.id
                 and distilled and bytes > 0)
                    or not exists (select 1 from digests where session = ?1))
             order by turns.ordinal
            """,
            (session, short),
        )
        events = {
            turn: events_in(turn, rows)
            for turn, rows in readable_rows_of(self.db, (turn for (turn,) in stored))
        }
        spent = self._spent(session)
        turns = self.db.rows(
            """
            select turns.id, sessions.ref || '#' || turns.ordinal, turns.ordinal, turns.author,
                   turns.live, coalesce(b.key, a.key), turns.started_at, turns.ended_at,
                   evictions.turn is null
              from turns
              join sessions on sessions.id = turns.session
              left join evictions on evictions.turn = turns.id
              left join projects a on a.id = sessions.project
              left join projects b on b.id = a.merged_into
             where turns.session = ? order by turns.ordinal
            """,
            (session,),
        )
        return [
            Passage(
                turn, ref, ordinal, author, bool(live), project, at, ended,
                spent.get(turn) or Tokens(), events.get(turn, []), bool(whole),
            )
            for turn, ref, ordinal, author, live, project, at, ended, whole in turns
        ]  # fmt: skip

    def _spent(self, session: int) -> dict[int, Tokens]:
        rows = self.db.rows(
            """
            select turn, sum(input), sum(cache_read), sum(cache_write), sum(cache_write_1h),
                   sum(output), sum(reasoning)
              from usage where turn in (select id from turns where session = ?) group by turn
            """,
            (session,),
        )
        return {
            turn: Tokens(
                input=row[0], cache_read=row[1], cache_write=row[2], cache_write_1h=row[3],
                output=row[4], reasoning=row[5],
            )
            for turn, *row in rows
        }  # fmt: skip

    def save(self, session: int, mark: int, digest: Digest) -> bool:
        """Keep a digest, unless the session has changed since its mark was read: then False."""
        with self.db.transaction():
            if self.db.value("select mark from undigested where session = ?", (session,)) != mark:
                return False
            self.db.execute(
                """
                insert or replace into digests
                  (session, title, outcome, summary, digest, made_at)
                values (?, ?, ?, ?, ?, ?)
                """,
                (
                    session, digest.title, digest.outcome, digest.summary,
                    msgspec.msgpack.encode(digest), now_ms(),
                ),
            )  # fmt: skip
            self.db.execute("delete from undigested where session = ?", (session,))
            # Packs tell outcomes and open ends.
            project = self.db.value("select project from sessions where id = ?", (session,))
            if project is not None:
                HookLines(self.db).outdate(project)
            Jobs(self.db).mark("digested")
        return True

    def outcomes_by_week(self) -> list[WeekOutcome]:
        """How many sessions came to what in each week, by the Monday that it begins with."""
        rows = self.db.rows(
            f"""
            select date(started_at / 1000, 'unixepoch', '-6 days', 'weekday 1') as week,
                   outcome, count(*)
              from digests join sessions on sessions.id = digests.session
             where started_at is not null and not {IS_BELOW} group by 1, 2 order by 1
            """
        )
        return [WeekOutcome(*row) for row in rows]

    def find(self, ref: str) -> Digest | None:
        """What a session came to, as far as it was looked at."""
        row = self.db.row(
            """
            select digest, coalesce(b.key, a.key) from digests
              join sessions on sessions.id = digests.session
              left join projects a on a.id = sessions.project
              left join projects b on b.id = a.merged_into
             where sessions.ref = ?
            """,
            (ref,),
        )
        if row is None:
            return None
        digest = unpack_digest(row[0], ref)
        # Projects are merged and split without their sessions being digested again.
        digest.project = row[1]
        return digest

    def unreadable(self) -> dict[int, str]:
        """The sessions whose digests cannot be read, number and reference."""
        rows = self.db.rows(
            """
            select session, ref, digest from digests
              join sessions on sessions.id = digests.session order by ref
            """
        )
        return {number: ref for number, ref, packed in rows if find_readable_digest(packed) is None}

    def drop(self, sessions: Sequence[int] | None = None) -> None:
        """Have these sessions digested again, or all of them, and keep nothing
        of what they were said to come to.
        """
        if sessions is None:
            self.db.execute("delete from digests")
            self.db.execute("insert or replace into undigested select id, random() from sessions")
        else:
            ids = [(session,) for session in sessions]
            self.db.many("delete from digests where session = ?", ids)
            self.db.many(
                """
                insert or replace into undigested select id, random() from sessions where id = ?
                """,
                ids,
            )
        Jobs(self.db).mark("digests dropped")

    def drop_unreadable(self) -> int:
        """Have them made again, inside a transaction; says how many."""
        found = self.unreadable()
        if found:
            self.drop(list(found))
        return len(found)

    def redact(self, redactor: RedactsMany) -> int:
        """Take secrets out of the digests, inside the transaction of whoever scans the store.

        Says how many had one.
        """
        from recollect.redact.values_in import Slots

        changed = 0
        # Nobody knows what is in those.
        self.drop_unreadable()
        numbers = [session for (session,) in self.db.rows("select session from digests")]
        for start in range(0, len(numbers), REDACTED_AT_ONCE):
            some = numbers[start : start + REDACTED_AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self.db.rows(
                f"select session, digest from digests where session in ({marks})", some
            )
            plain = [msgspec.msgpack.decode(packed) for _, packed in rows]
            slots, ends = Slots(), []
            for index, digest in enumerate(plain):
                slots.add_value(plain, index, digest)
                ends.append(len(slots.texts))
            for index in sorted({bisect_right(ends, slot) for slot in slots.replace(redactor)}):
                self._rewrite(rows[index][0], plain[index])
                changed += 1
        return changed

    def _rewrite(self, session: int, plain: Any) -> None:
        try:
            digest = msgspec.convert(plain, Digest)
        except msgspec.ValidationError:
            # What stands in the place of the secret has broken the rest.
            self.drop([session])
            return
        self.db.execute(
            "update digests set title = ?, summary = ?, digest = ? where session = ?",
            (digest.title, digest.summary, msgspec.msgpack.encode(digest), session),
        )


def unpack_digest(packed: bytes, ref: str) -> Digest:
    """A stored digest; raises when that of this session cannot be read."""
    try:
        return msgspec.msgpack.decode(packed, type=Digest)
    except (msgspec.MsgspecError, TypeError, ValueError):
        raise StoreError(
            f"The digest of {ref} cannot be read.", hint="Make it again: recollect doctor --repair"
        ) from None


def find_readable_digest(packed: bytes) -> Digest | None:
    """A stored digest, or None when it is damaged."""
    try:
        return unpack_digest(packed, "")
    except StoreError:
        return None
