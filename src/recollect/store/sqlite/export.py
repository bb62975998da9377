"""Everything stored, session by session, as plain values for JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from recollect.errors import NotFound
from recollect.model.search import Query
from recollect.store.sqlite.chosen import chosen_sessions
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.sessions import get_session


def export(db: Database, query: Query, domains: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Sessions with a turn that has all the words and passes the filters, whole and oldest first.

    One session at a time is in memory. What is imported meanwhile may or may
    not be among them; what is forgotten meanwhile is not.
    """
    clause, values = chosen_sessions(query, domains)
    for (ref,) in db.rows(
        f"select ref from sessions where {clause} order by started_at, id", values
    ):
        try:
            session = get_session(db, ref)
        except NotFound:
            continue
        plain: dict[str, Any] = msgspec.to_builtins(session)
        yield plain
