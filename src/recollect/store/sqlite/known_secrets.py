"""Strong secrets that were recognised once, as keyed hashes; the values are nowhere."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.redact.known import DIGEST_BYTES
from recollect.store.sqlite.database import Database
from recollect.system.clock import now_ms


class KnownSecrets:
    """What is removed from this store wherever it stands."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def all(self) -> dict[bytes, str]:
        """Every hash with the kind of its value; what damage made of one is left out."""
        rows = self.db.rows("select hash, kind from known_secrets")
        return {
            digest: str(kind)
            for digest, kind in rows
            if isinstance(digest, bytes) and len(digest) == DIGEST_BYTES
        }

    def kinds(self) -> dict[str, int]:
        """How many different secrets of each kind were recognised, the most first."""
        sql = "select kind, count(*) from known_secrets group by kind order by 2 desc, 1"
        return dict(self.db.rows(sql))

    def keep(self, found: Mapping[bytes, str]) -> None:
        """Remember these too."""
        if found:
            now = now_ms()
            self.db.many(
                "insert or ignore into known_secrets values (?, ?, ?)",
                [(digest, kind, now) for digest, kind in found.items()],
            )
