"""What sessions came to: which of them have no digest yet or an old one, what
it is made of, and the digest itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from recollect.errors import StoreError
from recollect.model.digests import Digest
from recollect.model.sessions import Tokens
from recollect.store.history import Passage
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.old.sql import prepared
from recollect.store.sqlite.parts import readable_rows_of
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.redact.values_in import RedactsMany

REDACTED_AT_ONCE = 256


def outdated_sessions(db: Database, ref: str | None = None) -> list[tuple[int, str, int]]:
    """Sessions whose turns or events are newer than their digest: number,
    reference and mark, the newest first.
    """
    rows = db.rows(
        """
        select sessions.id, sessions.ref, undigested.mark from undigested join sessions
          on sessions.id = undigested.session
         where ?1 is null or sessions.ref = ?1 order by sessions.started_at desc, sessions.id desc
        """,
        (ref,),
    )
    return [(number, name, mark) for number, name, mark in rows]


def passages(db: Database, session: int, *, short: bool = False) -> list[Passage]:
    """The turns of a session with everything that happened in them, in order.

    Those whose events were let go have no rows as long as a digest tells of
    them; with `short`, they have what is kept of them.
    """
    spent = {
        turn: Tokens(
            input=row[0],
            cache_read=row[1],
            cache_write=row[2],
            cache_write_1h=row[3],
            output=row[4],
            reasoning=row[5],
        )
        for turn, *row in db.rows(
            """
            select turn, sum(input), sum(cache_read), sum(cache_write), sum(cache_write_1h),
                   sum(output), sum(reasoning)
              from usage where turn in (select id from turns where session = ?) group by turn
            """,
            (session,),
        )
    }
    stored = db.rows(
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
    rows = dict(readable_rows_of(db, (turn for (turn,) in stored)))
    turns = db.rows(
        """
        select turns.id, sessions.ref || '#' || turns.ordinal, turns.ordinal, turns.author,
          turns.live, coalesce(b.key, a.key),
               turns.started_at, turns.ended_at, evictions.turn is null
          from turns join sessions on sessions.id = turns.session left join evictions
            on evictions.turn = turns.id
          left join projects a on a.id = sessions.project left join projects b on b.id = a.merged_into
         where turns.session = ? order by turns.ordinal
        """,
        (session,),
    )
    return [
        Passage(
            turn, ref, ordinal, author, bool(live), project, at, ended,
            spent.get(turn) or Tokens(), rows.get(turn, []), bool(whole),
        )
        for turn, ref, ordinal, author, live, project, at, ended, whole in turns
    ]  # fmt: skip


def save(db: Database, session: int, mark: int, state: str, digest: Digest) -> bool:
    """Keep a digest, unless the session has changed since its mark was read; False when it has."""
    with db.transaction():
        if db.value("select mark from undigested where session = ?", (session,)) != mark:
            return False
        db.execute(
            "insert or replace into digests (session, state, title, outcome, summary, digest, "
            "made_at)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            (
                session,
                state,
                digest.title,
                digest.outcome,
                digest.summary,
                msgspec.msgpack.encode(digest),
                now_ms(),
            ),
        )
        db.execute("delete from undigested where session = ?", (session,))
        # Packs tell outcomes and open ends.
        project = db.value("select project from sessions where id = ?", (session,))
        if project is not None:
            prepared.outdate(db, project)
        Jobs(db).mark("digested")
    return True


def find(db: Database, ref: str) -> Digest | None:
    """What a session came to, as far as it was looked at."""
    row = db.row(
        """
        select digest, coalesce(b.key, a.key) from digests join sessions
          on sessions.id = digests.session
          left join projects a on a.id = sessions.project left join projects b
            on b.id = a.merged_into
         where sessions.ref = ?
        """,
        (ref,),
    )
    if row is None:
        return None
    digest = unpack(row[0], ref)
    # Projects are merged and split without their sessions being digested again.
    digest.project = row[1]
    return digest


def unpack(packed: bytes, ref: str) -> Digest:
    """A stored digest; raises when that of this session cannot be read."""
    try:
        return msgspec.msgpack.decode(packed, type=Digest)
    except (msgspec.MsgspecError, TypeError, ValueError):
        raise StoreError(
            f"The digest of {ref} cannot be read.", hint="Make it again: recollect repair"
        ) from None


def find_readable(packed: bytes) -> Digest | None:
    """A stored digest, or None when it is damaged."""
    try:
        return unpack(packed, "")
    except StoreError:
        return None


def unreadable(db: Database) -> dict[int, str]:
    """The sessions whose digests cannot be read, number and reference."""
    rows = db.rows(
        "select session, ref, digest from digests join sessions on sessions.id = digests.session "
        "order by ref"
    )
    return {number: ref for number, ref, packed in rows if find_readable(packed) is None}


def drop_unreadable(db: Database) -> int:
    """Have them made again, inside a transaction; says how many."""
    found = unreadable(db)
    if found:
        drop(db, list(found))
    return len(found)


def redact(db: Database, redactor: RedactsMany) -> int:
    """Take secrets out of the digests, inside the transaction of whoever scans the store.

    Says how many had one.
    """
    from recollect.redact.values_in import Slots

    changed = 0
    # Nobody knows what is in those.
    drop_unreadable(db)
    numbers = [session for (session,) in db.rows("select session from digests")]
    for start in range(0, len(numbers), REDACTED_AT_ONCE):
        some = numbers[start : start + REDACTED_AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = db.rows(f"select session, digest from digests where session in ({marks})", some)
        plain = [msgspec.msgpack.decode(packed) for _, packed in rows]
        slots, ends = Slots(), []
        for index, digest in enumerate(plain):
            slots.add_value(plain, index, digest)
            ends.append(len(slots.texts))
        for index in sorted({bisect_right(ends, slot) for slot in slots.replace(redactor)}):
            _rewrite(db, rows[index][0], plain[index])
            changed += 1
    return changed


def _rewrite(db: Database, session: int, plain: Any) -> None:
    try:
        digest = msgspec.convert(plain, Digest)
    except msgspec.ValidationError:
        # What stands in the place of the secret has broken the rest.
        drop(db, [session])
        return
    db.execute(
        "update digests set title = ?, summary = ?, digest = ? where session = ?",
        (digest.title, digest.summary, msgspec.msgpack.encode(digest), session),
    )


def session_facts(db: Database, session: int) -> tuple[str | None, str | None, str | None]:
    """What a session's own log gives as its title, the folder it began in, and its project."""
    row = db.row(
        """
        select title, cwd, coalesce(b.key, a.key) from sessions
          left join projects a on a.id = sessions.project left join projects b
            on b.id = a.merged_into
         where sessions.id = ?
        """,
        (session,),
    )
    title, cwd, project = row or (None, None, None)
    return title or None, cwd or None, project


def drop(db: Database, sessions: Sequence[int] | None = None) -> None:
    """Have these sessions digested again, or all of them, and keep nothing
    of what they were said to come to.
    """
    if sessions is None:
        db.execute("delete from digests")
        db.execute("insert or replace into undigested select id, random() from sessions")
    else:
        ids = [(session,) for session in sessions]
        db.many("delete from digests where session = ?", ids)
        db.many(
            "insert or replace into undigested select id, random() from sessions where id = ?", ids
        )
    Jobs(db).mark("digests dropped")
