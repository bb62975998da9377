"""Sessions with their sub-agents: what a list of sessions shows, and every count of them counts.

A sub-agent is shown under the session that started it, never beside it, and
a session in which nothing was said is not there at all. A sub-agent whose
parent is not stored stands for itself.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.search.filters import Condition

# The sub-agents of stored sessions, with the session that is listed for them. It goes up from each,
# because most stores have few; the steps end a family that is its own ancestor.
_STEPS = 8
FAMILIES = f"""
    with recursive up (session, top, steps) as (
      select one.id, main.id, 1 from sessions one join sessions main on main.ref = one.parent
       where one.origin = 'subagent'
      union all
      select up.session, main.id, steps + 1 from up join sessions one on one.id = up.top
        join sessions main on main.ref = one.parent
       where one.origin = 'subagent' and steps < {_STEPS}
    ),
    families (session, top, steps) as (select session, top, max(steps) from up group by session)
"""
IN_FAMILY = "left join families on families.session = turns.session"
# The session that is listed for a turn.
LISTED = "coalesce(families.top, turns.session)"

# Conditions on the table `sessions`: something was said in it; it is shown under another.
HAS_TURNS = "exists (select 1 from turns where turns.session = sessions.id)"
IS_BELOW = """
    (sessions.origin = 'subagent'
     and exists (select 1 from sessions main where main.ref = sessions.parent))
"""

SUBAGENTS = """
    with recursive below (id, ref, started_at) as (
      select id, ref, started_at from sessions where parent = ? and origin = 'subagent'
       union
      select one.id, one.ref, one.started_at from sessions one join below on one.parent = below.ref
       where one.origin = 'subagent'
    )
    select id, ref from below where exists (select 1 from turns where turns.session = below.id)
     order by started_at, id
"""


def listed(chosen: Condition) -> Condition:
    """A condition on the table `sessions`: it, or a sub-agent of it, has a turn that is chosen.

    `chosen` is a condition on the tables `turns` and `sessions`.
    """
    clause, values = chosen
    if clause == "1":
        # Every session that has a turn: no turn need be read.
        return (
            f"""
            sessions.id in (
              {FAMILIES}
              select coalesce(families.top, own.id) from sessions own
                left join families on families.session = own.id
               where exists (select 1 from turns where turns.session = own.id)
            )
            """,
            [],
        )
    return (
        f"""
        sessions.id in (
          {FAMILIES}
          select {LISTED} from turns join sessions on sessions.id = turns.session {IN_FAMILY}
           where {clause}
        )
        """,
        values,
    )
