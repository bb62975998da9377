"""The hub on PostgreSQL."""

from recollect.share.postgres.hub import PostgresHub

__all__ = ["PostgresHub"]
