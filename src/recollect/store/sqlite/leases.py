"""Who works on what only one may work on: taken for a while, kept by renewing, fenced by a token.

Clocks go wrong and processes sleep, so time alone protects nothing: every
write checks, in its own transaction, that its token is still the newest.
"""

from __future__ import annotations

import os

from recollect.model.leases import Lease, LeaseLost
from recollect.store.sqlite.database import Database
from recollect.system.clock import now_ms

SECONDS = 600


class Leases:
    """Who works on what only one may work on."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def take(self, name: str, *, seconds: int = SECONDS) -> Lease | None:
        """The lease, now ours; None while somebody else holds it.

        One that would be held for longer than anybody may ask for was taken
        before the clock was set back, and counts as over.
        """
        now, owner = now_ms(), f"{os.getpid()}-{os.urandom(8).hex()}"
        with self.db.transaction():
            row = self.db.row(
                """
                insert into leases values (?1, ?2, 1, ?3)
                on conflict (name) do update set owner = excluded.owner, token = token + 1,
                  held_until = excluded.held_until
                 where held_until <= ?4 or held_until > ?5
                returning token
                """,
                (name, owner, now + seconds * 1000, now, now + max(seconds, SECONDS) * 1000),
            )
        return Lease(name, owner, row[0]) if row else None

    def renew(self, lease: Lease, *, seconds: int = SECONDS) -> bool:
        """Keep a lease for longer; False when somebody else has it by now."""
        with self.db.transaction():
            self.db.execute(
                "update leases set held_until = ? where name = ? and owner = ? and token = ?",
                (now_ms() + seconds * 1000, lease.name, lease.owner, lease.token),
            )
            return self.db.connection.changes() > 0

    def release(self, lease: Lease) -> bool:
        """Let go of a lease; False, and nothing happens, when it is not ours any more.

        Its token is never given again.
        """
        with self.db.transaction():
            self.db.execute(
                "update leases set held_until = 0 where name = ? and owner = ? and token = ?",
                (lease.name, lease.owner, lease.token),
            )
            return self.db.connection.changes() > 0

    def is_held(self, name: str) -> bool:
        """Whether somebody has a lease now."""
        sql = "select 1 from leases where name = ? and held_until > ?"
        return self.db.value(sql, (name, now_ms())) is not None

    def check(self, lease: Lease) -> None:
        """Raise unless a lease is still ours; inside the transaction that is about to write."""
        if self.db.row("select owner, token from leases where name = ?", (lease.name,)) != (
            lease.owner,
            lease.token,
        ):
            raise LeaseLost(lease.name)
