"""Marks, and the jobs that follow from them: taken with a lease, finished with its token.

Whoever changes something sets a mark. Which jobs follow from it, how often they
are tried and how long they are leased is not known here: `recollect.jobs` says it.

A worker that died holds its lease until it runs out; then another takes the
job with a higher token, and whatever the first one still tries to say is
refused. A job that failed is tried again later, and in the end kept as failed
for a person to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from recollect.model.reports import JobRow
from recollect.store.sqlite.database import Database
from recollect.system.clock import iso, now_ms

# One whose worker died waits like any other, once its lease has run out.
_DUE = "((state = 'waiting' and not_before <= :now) or (state = 'running' and lease_until < :now))"


# A job that has been due for so long is not kept waiting by others.
LATE_MS = 600_000


class JobLease(NamedTuple):
    """A job in our hands for a while."""

    number: int
    kind: str
    subject: str
    token: int
    lease_ms: int


class Jobs:
    """What changed, and the work that follows from it and can wait."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def mark(self, name: str, *, at: int | None = None) -> None:
        """Say what changed, inside the transaction that changes it.

        With a time: what follows is worth doing from then on. Nothing is
        written when the mark is set already.
        """
        now = now_ms()
        due_at = now if at is None else at
        is_set = "select 1 from marks where name = ? and not_before <= ?"
        if self.db.value(is_set, (name, due_at)):
            return
        with self.db.transaction():
            self.db.execute(
                """
                insert into marks (name, not_before, set_at) values (?, ?, ?)
                on conflict (name) do update set
                  not_before = min(not_before, excluded.not_before), set_at = excluded.set_at
                """,
                (name, due_at, now),
            )

    def unmark(self, name: str) -> None:
        """Take a mark back, inside the transaction that does what would follow from it."""
        self.db.execute("delete from marks where name = ?", (name,))

    def follow_marks(self, following: Mapping[str, list[tuple[str, str]]]) -> None:
        """Ask for the jobs, as kind and subject, that follow from the marks that are set.

        A mark that is not among these stays: a newer recollect may know it.
        """
        if not self.db.value("select 1 from marks limit 1"):
            return
        with self.db.transaction():
            for name, not_before, set_at in self.db.rows("select * from marks order by not_before"):
                for kind, subject in following.get(name, ()):
                    self.enqueue(kind, subject, at=not_before, asked_at=set_at)
                if name in following:
                    self.db.execute("delete from marks where name = ?", (name,))

    def enqueue(
        self, kind: str, subject: str, *, at: int | None = None, asked_at: int | None = None
    ) -> None:
        """Ask for work to be done; asking twice before it is done asks once.

        A job that is running is put back to waiting when it ends, because what
        was asked for may have changed since it started. One that waits for
        another try is not tried earlier for that.
        """
        now = now_ms()
        self.db.execute(
            """
            insert into jobs (kind, subject, not_before, created_at) values (?, ?, ?, ?)
            on conflict (kind, subject) do update set
              state = case state when 'failed' then 'waiting' else state end,
              tries = case state when 'failed' then 0 else tries end,
              not_before = case
                when state = 'running' then excluded.not_before
                when state = 'waiting' and tries > 0 then not_before
                else min(not_before, excluded.not_before) end,
              created_at = max(created_at, excluded.created_at)
            """,
            (kind, subject, now if at is None else at, now if asked_at is None else asked_at),
        )

    def take(self, leases_ms: Mapping[str, int]) -> JobLease | None:
        """A job that is due, now ours; None when there is none of these kinds.

        Each kind comes with the time that it is leased for. Jobs are taken in the order of
        their kinds, so that what one makes is there for the next; one that others keep
        waiting comes before them.
        """
        now = now_ms()
        names = {f"kind{number}": kind for number, kind in enumerate(leases_ms)}
        marks = ", ".join(f":{name}" for name in names)
        places = " ".join(f"when :{name} then {place}" for place, name in enumerate(names))
        with self.db.transaction():
            row = self.db.row(
                f"""
                update jobs set state = 'running', token = token + 1, tries = tries + 1
                 where id = (select id from jobs where kind in ({marks}) and {_DUE}
                              order by not_before > :late, case kind {places} end, not_before, id
                              limit 1)
                returning id, kind, subject, token
                """,
                {"now": now, "late": now - LATE_MS, **names},
            )
            if row is None:
                return None
            number, kind, subject, token = row
            lease = JobLease(number, kind, subject, token, leases_ms[kind])
            self.db.execute(
                "update jobs set lease_until = ? where id = ?", (now + lease.lease_ms, lease.number)
            )
        return lease

    def count_due(self) -> int:
        """How many jobs somebody could begin now."""
        return int(self.db.value(f"select count(*) from jobs where {_DUE}", {"now": now_ms()}))

    def renew(self, lease: JobLease) -> bool:
        """Keep a job for longer; False when somebody else has it by now."""
        with self.db.transaction():
            self.db.execute(
                "update jobs set lease_until = ? where id = ? and token = ?",
                (now_ms() + lease.lease_ms, lease.number, lease.token),
            )
            return self.db.connection.changes() > 0

    def finish(self, lease: JobLease, *, started_at: int) -> bool:
        """Done. Asked for again meanwhile, it waits once more."""
        with self.db.transaction():
            self.db.execute(
                "delete from jobs where id = ? and token = ? and created_at <= ?",
                (lease.number, lease.token, started_at),
            )
            if self.db.connection.changes():
                return True
            # Asked for before the clock was set back, it would never be done.
            self.db.execute(
                """
                update jobs set state = 'waiting', tries = 0, lease_until = null,
                       created_at = min(created_at, ?)
                 where id = ? and token = ?
                """,
                (now_ms(), lease.number, lease.token),
            )
            return self.db.connection.changes() > 0

    def fail(self, lease: JobLease, error: str, *, most_tries: int) -> None:
        """Try again later, each time a little later; after the last try it stays as failed."""
        with self.db.transaction():
            self.db.execute(
                """
                update jobs set state = case when tries >= ? then 'failed' else 'waiting' end,
                       not_before = ? + (1000 << min(tries, 12)), lease_until = null, error = ?
                 where id = ? and token = ?
                """,
                (most_tries, now_ms(), error[:500], lease.number, lease.token),
            )

    def leave(self, kind: str, subject: str, error: str) -> None:
        """Leave to the queue what failed outside of it; that counts as a try."""
        now = now_ms()
        with self.db.transaction():
            self.db.execute(
                """
                insert into jobs (kind, subject, tries, not_before, error, created_at)
                values (?1, ?2, 1, ?3 + 2000, ?4, ?3)
                on conflict (kind, subject) do update set
                  tries = case state when 'failed' then 1 else tries + 1 end,
                  error = excluded.error, created_at = excluded.created_at, state = 'waiting',
                  not_before = ?3 + (1000 << min(tries + 1, 12)), token = token + 1,
                  lease_until = null
                """,
                (kind, subject, now, error[:500]),
            )

    def give_up(self, most_tries: Mapping[str, int]) -> None:
        """Keep as failed what was tried so often and waits to be tried again."""
        spent = [
            (number,)
            for number, kind, tries in self.db.rows(
                "select id, kind, tries from jobs where state = 'waiting' and tries > 0"
            )
            if tries >= most_tries.get(kind, tries + 1)
        ]
        if spent:
            with self.db.transaction():
                self.db.many(
                    "update jobs set state = 'failed' where id = ? and state = 'waiting'", spent
                )

    def drop(self, kind: str, subject: str) -> None:
        """What was asked for is done."""
        with self.db.transaction():
            self.db.execute("delete from jobs where kind = ? and subject = ?", (kind, subject))

    def all(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        rows = self.db.rows(
            """
            select id, kind, subject, state, tries, not_before, error from jobs
             order by state, not_before, id limit ?
            """,
            (-1 if limit is None else limit,),
        )
        return [
            JobRow(
                id=number,
                kind=kind,
                subject=subject,
                state=state,
                tries=tries,
                not_before=iso(at),
                error=error,
            )
            for number, kind, subject, state, tries, at, error in rows
        ]
