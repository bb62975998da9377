"""Everything stored, session by session, as plain values for JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from recollect.errors import NotFound
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.filters import conditions
from recollect.store.sqlite.sessions import get_session


def export(db: Database, filters: dict[str, list[str]], domains: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Sessions that have a turn passing the filters, whole and oldest first.

    One session at a time is in memory. What is imported meanwhile may or may
    not be among them; what is forgotten meanwhile is not.
    """
    clause, values = conditions(filters, domains)
    having = "1" if clause == "1" else f"exists (select 1 from turns where turns.session = sessions.id and {clause})"
    for (ref,) in db.rows(f"select ref from sessions where {having} order by started_at, id", values):
        try:
            session = get_session(db, ref)
        except NotFound:
            continue
        plain: dict[str, Any] = msgspec.to_builtins(session)
        yield plain
