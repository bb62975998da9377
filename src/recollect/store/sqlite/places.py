"""Where turns happened: what ranking and showing need to know of each.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from recollect.store.sqlite.database import Database
    from recollect.store.sqlite.filters import Condition

_SELECT = """
select turns.id, turns.session, sessions.ref, sessions.agent, turns.ordinal,
       coalesce(turns.started_at, sessions.started_at) as at, coalesce(b.key, a.key),
         sessions.origin, turns.live, turns.key,
       turns.author
  from turns join sessions on sessions.id = turns.session
  left join projects a on a.id = turns.project left join projects b on b.id = a.merged_into
"""
# SQLite takes 32,766 values a statement.
_MOST_VALUES = 30_000


def places(db: Database, turns: Iterable[int]) -> dict[int, Place]:
    """The places of these turns, by turn."""
    wanted = list(turns)
    found: dict[int, Place] = {}
    for start in range(0, len(wanted), _MOST_VALUES):
        some = wanted[start : start + _MOST_VALUES]
        for row in db.rows(f"{_SELECT} where turns.id in ({', '.join('?' * len(some))})", some):
            found[row[0]] = Place(*row)
    return found


def neighbours(db: Database, around: list[Place], reach: int, scope: Condition) -> dict[int, Place]:
    """The places of the turns in scope just before and after these, in the same sessions."""
    if not around:
        return {}
    clause, bound = scope
    rows = db.rows(
        f"""
        with around (session, ordinal) as (values {", ".join("(?, ?)" for _ in around)})
        {_SELECT} join around on around.session = turns.session
         where turns.ordinal between around.ordinal - {reach} and around.ordinal + {reach}
           and {clause}
        """,
        [value for place in around for value in (place.session, place.ordinal)] + bound,
    )
    return {row[0]: Place(*row) for row in rows}


def newest(db: Database, scope: Condition, limit: int, offset: int) -> list[Place]:
    """The newest turns in scope."""
    clause, values = scope
    rows = db.rows(
        f"{_SELECT} where {clause} order by at desc, turns.id desc limit ? offset ?",
        [*values, limit, offset],
    )
    return [Place(*row) for row in rows]


def find_project(db: Database, names: list[str]) -> str | None:
    """The project that one of these names, or folders, is known to be; the first that is."""
    for name in names:
        found: Any = db.value(
            """
            select coalesce(b.key, a.key) from projects a left join projects b
              on b.id = a.merged_into
             where a.key = ?1 or a.id = (select project from project_aliases
               where alias = ?1) order by a.key = ?1 desc
            """,
            # Half a character cannot be bound, and is in no name.
            (name.encode("utf-8", "replace").decode(),),
        )
        if found is not None:
            return str(found)
    return None
