"""Work that can wait: taken with a lease, finished with its token.

A worker that died holds its lease until it runs out; then another takes the
job with a higher token, and whatever the first one still tries to say is
refused. A job that failed is tried again later, and in the end kept as failed
for a person to look at.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping

from recollect.model.reports import JobRow
from recollect.store.sqlite.database import Database
from recollect.system.clock import iso, now_ms

log = logging.getLogger(__name__)

LEASE_MS = 60_000
MOST_TRIES = 5
# Each try of these costs somebody's money.
FEW_TRIES = {"trace": 3, "memory": 3}


# One whose worker died waits like any other, once its lease has run out.
_DUE = "((state = 'waiting' and not_before <= :now) or (state = 'running' and lease_until < :now))"


class JobLease:
    """A job in our hands for a while."""

    __slots__ = ("id", "kind", "subject", "token")

    def __init__(self, number: int, kind: str, subject: str, token: int) -> None:
        self.id, self.kind, self.subject, self.token = number, kind, subject, token


class Jobs:
    """Work that can wait: taken with a lease, finished with its token."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def enqueue(self, kind: str, subject: str, *, at: int | None = None) -> None:
        """Ask for work to be done; asking twice before it is done asks once.

        A job that is running is put back to waiting when it ends, because what
        was asked for may have changed since it started.
        """
        now = now_ms()
        self.db.execute(
            """
            insert into jobs (kind, subject, not_before, created_at) values (?, ?, ?, ?)
            on conflict (kind, subject) do update set
              state = case state when 'failed' then 'waiting' else state end,
              tries = case state when 'failed' then 0 else tries end,
              not_before = case state when 'running' then excluded.not_before
                else min(not_before, excluded.not_before) end,
              created_at = excluded.created_at
            """,
            (kind, subject, now if at is None else at, now),
        )

    def request(self, kind: str, subject: str) -> None:
        """Ask for work to be done, in a transaction of its own.

        Nothing is written when it waits already.
        """
        waits = "select 1 from jobs where kind = ? and subject = ? and state = 'waiting'"
        if not self.db.value(waits, (kind, subject)):
            with self.db.transaction():
                self.enqueue(kind, subject)

    def after_import(self, turns: int) -> None:
        """Leave the work that an import makes worth doing to the queue."""
        kinds = ["optimize text"] if turns >= 500 else []
        # Most sweeps find nothing new, and may not pay for a transaction that changes nothing.
        waiting = {
            kind for (kind,) in self.db.rows("select kind from jobs where state = 'waiting'")
        }
        if turns and "digest" not in waiting:
            kinds.append("digest sessions")
        if turns and "prepare" not in waiting:
            kinds.append("prepare projects")
        if turns:
            # One may wait for the time when a session is not fresh any more.
            kinds.append("distill sessions")
        if "embed" not in waiting and self.db.value("select 1 from unembedded limit 1"):
            kinds.append("embed turns")
        if kinds:
            with self.db.transaction():
                for kind in kinds:
                    self.enqueue(*kind.split())

    def take(self, kinds: list[str]) -> JobLease | None:
        """The job that is due longest, now ours; None when there is none of these kinds."""
        now = now_ms()
        names = {f"kind{number}": kind for number, kind in enumerate(kinds)}
        marks = ", ".join(f":{name}" for name in names)
        with self.db.transaction():
            row = self.db.row(
                f"""
                update jobs set state = 'running', token = token + 1, tries = tries + 1,
                  lease_until = :until
                 where id = (select id from jobs where kind in ({marks}) and {_DUE}
                   order by not_before, id limit 1)
                returning id, kind, subject, token
                """,
                {"now": now, "until": now + LEASE_MS, **names},
            )
        return JobLease(*row) if row else None

    def count_due(self) -> int:
        """How many jobs somebody could begin now."""
        return int(self.db.value(f"select count(*) from jobs where {_DUE}", {"now": now_ms()}))

    def renew(self, lease: JobLease) -> bool:
        """Keep a job for longer; False when somebody else has it by now."""
        with self.db.transaction():
            self.db.execute(
                "update jobs set lease_until = ? where id = ? and token = ?",
                (now_ms() + LEASE_MS, lease.id, lease.token),
            )
            return self.db.connection.changes() > 0

    def finish(self, lease: JobLease, *, started_at: int) -> bool:
        """Done. Asked for again meanwhile, it waits once more."""
        with self.db.transaction():
            self.db.execute(
                "delete from jobs where id = ? and token = ? and created_at <= ?",
                (lease.id, lease.token, started_at),
            )
            if self.db.connection.changes():
                return True
            self.db.execute(
                "update jobs set state = 'waiting', tries = 0, lease_until = null where id = ? and "
                "token = ?",
                (lease.id, lease.token),
            )
            return self.db.connection.changes() > 0

    def fail(self, lease: JobLease, error: str) -> None:
        """Try again later, each time a little later; after the last try it stays as failed."""
        with self.db.transaction():
            self.db.execute(
                """
                update jobs set state = case when tries >= ? then 'failed' else 'waiting' end,
                       not_before = ? + (1000 << min(tries, 12)), lease_until = null, error = ?
                 where id = ? and token = ?
                """,
                (
                    FEW_TRIES.get(lease.kind, MOST_TRIES),
                    now_ms(),
                    error[:500],
                    lease.id,
                    lease.token,
                ),
            )

    def leave(self, kind: str, subject: str, error: str) -> None:
        """Leave to the queue what failed outside of it; that counts as a try."""
        now = now_ms()
        with self.db.transaction():
            self.db.execute(
                """
                insert into jobs (kind, subject, tries, not_before, error, created_at) values (?1,
                  ?2,
                  1, ?3 + 2000, ?4, ?3)
                on conflict (kind, subject) do update set
                  tries = case state when 'failed' then 1 else tries + 1 end,
                  error = excluded.error, created_at = excluded.created_at,
                  state = case when state != 'failed' and tries + 1 >= ?5 then 'failed'
                    else 'waiting' end,
                  not_before = ?3 + (1000 << min(tries + 1, 12)), token = token + 1,
                    lease_until = null
                """,
                (kind, subject, now, error[:500], FEW_TRIES.get(kind, MOST_TRIES)),
            )

    def drop(self, kind: str, subject: str) -> None:
        """What was asked for is done."""
        with self.db.transaction():
            self.db.execute("delete from jobs where kind = ? and subject = ?", (kind, subject))

    def all(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        rows = self.db.rows(
            "select id, kind, subject, state, tries, not_before, error from jobs order by state, "
            "not_before, id limit ?",
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

    def _carry_out(self, lease: JobLease, handler: Callable[[str], object]) -> None:
        steps = handler(lease.subject)
        if isinstance(steps, Iterator):
            renewed_at = now_ms()
            for _ in steps:
                if now_ms() - renewed_at > LEASE_MS // 6:
                    renewed_at = now_ms()
                    if not self.renew(lease):
                        break

    def work(
        self, handlers: Mapping[str, Callable[[str], object]], limit: int | None = None
    ) -> int:
        """Do the jobs that are due and that there is a handler for, one after the other.

        A handler that raises costs its own job: that one is tried again later.
        One that takes long is a generator, and keeps its job by yielding now and
        then; it is left where it is when somebody else has taken the job over.
        """
        done = 0
        while limit is None or done < limit:
            started = now_ms()
            lease = self.take(list(handlers))
            if lease is None:
                break
            try:
                self._carry_out(lease, handlers[lease.kind])
            except Exception as error:
                log.warning(
                    "a job failed",
                    extra={
                        "kind": lease.kind,
                        "subject": lease.subject,
                        "fault": type(error).__name__,
                    },
                )
                self.fail(lease, f"{type(error).__name__}: {error}")
            else:
                done += self.finish(lease, started_at=started)
        return done
