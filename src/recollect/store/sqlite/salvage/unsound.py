"""What a salvaged store may not keep: rows whose owner is
lost, or that somebody asked to forget.
"""

from __future__ import annotations

from recollect.model.reports import RepairReport
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import find_readable_digest


def drop_bad_digests(db: Database) -> None:
    """All digests are made again.

    Of turns whose events were let go, what they say is all there is.
    """
    stored = db.rows("select session, digest from digests")
    bad = [(session,) for session, packed in stored if find_readable_digest(packed) is None]
    db.many("delete from digests where session = ?", bad)
    db.execute("delete from digests where session not in (select id from sessions)")
    db.execute("insert or replace into undigested select id, random() from sessions")


def drop_orphans(db: Database, report: RepairReport) -> None:
    db.execute("update sessions set meta = '{}' where not json_valid(meta)")
    for table, column, other in (
        ("sessions", "source", "sources"), ("sessions", "project", "projects"),
        ("projects", "merged_into", "projects"),
    ):  # fmt: skip
        db.execute(
            f"update {table} set {column} = null where {column} not in (select id from {other})"
        )
    for table, column, other in (
        ("project_aliases", "project", "projects"), ("turns", "session", "sessions"), ("bodies",
        "turn", "turns"),
        ("tool_calls", "turn", "turns"), ("usage", "turn", "turns"),
        ("problems", "source", "sources"),
    ):  # fmt: skip
        db.execute(f"delete from {table} where {column} not in (select id from {other})")
        dropped = db.connection.changes()
        if dropped:
            report.lost[table] = report.lost.get(table, 0) + dropped
            report.kept[table] = max(0, report.kept.get(table, 0) - dropped)


def drop_forgotten(db: Database) -> None:
    """A page that was free may have brought back what somebody asked to forget."""
    turns = db.rows(
        """
        select turns.id from turns join sessions on sessions.id = turns.session
         where exists (select 1 from tombstones
                        where kind = 'turn' and name = sessions.agent || ':' || turns.key)
            or exists (select 1 from tombstones where kind = 'session' and name = sessions.ref)
        """
    )
    for table in ("bodies", "tool_calls", "usage"):
        db.many(f"delete from {table} where turn = ?", turns)
    if db.value("select 1 from sqlite_schema where name = 'digests'"):
        db.many(
            "delete from digests where session = (select session from turns where id = ?)",
            turns,
        )
    db.many("delete from turns where id = ?", turns)
    db.execute(
        "delete from sessions where ref in (select name from tombstones where kind = 'session')"
    )


def drop_loose_blocks(db: Database) -> None:
    """What was written into files stays known, whatever became of its project."""
    db.execute(
        "update publications set project = null where project not in (select id from projects)"
    )
