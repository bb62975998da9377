"""The hub on libSQL."""

from recollect.share.libsql.hub import LibsqlHub

__all__ = ["LibsqlHub"]
