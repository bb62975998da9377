"""Single turns: where they happened, what was said in them, and their events.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.errors import NotFound, TurnDamaged
from recollect.model.calls import Scene
from recollect.model.search import Place
from recollect.store.events import events_in
from recollect.store.sqlite.parts import readable_rows, readable_rows_of
from recollect.store.sqlite.search.chosen import turns_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.model.calls import Call, PlainEvent
    from recollect.model.search import Scope
    from recollect.model.sessions import Turn
    from recollect.store.sqlite.database import Database

_SELECT = """
select turns.id, turns.session, sessions.ref, sessions.agent, turns.ordinal,
       coalesce(turns.started_at, sessions.started_at) as at, coalesce(b.key, a.key),
       sessions.origin, turns.live, turns.key, turns.author, sessions.external,
       turns.prompt
  from turns
  join sessions on sessions.id = turns.session
  left join projects a on a.id = sessions.project
  left join projects b on b.id = a.merged_into
"""
_SCENE = """
    turns.id, turns.session, sessions.ref, sessions.agent, turns.ordinal,
    coalesce(turns.started_at, sessions.started_at),
    coalesce(b.key, a.key), sessions.origin, turns.live, turns.key, turns.author,
    sessions.external, turns.prompt, sessions.cwd
"""
_SCENES = """
    turns join sessions on sessions.id = turns.session
    left join projects a on a.id = sessions.project
    left join projects b on b.id = a.merged_into
"""
# So many turns tell what a store is made of.
_SAMPLE = 300
_AT_WORK = "exists(select 1 from tool_calls where turn = turns.id)"
_IN_COMPANY = """
    exists(select 1 from turns as other
            where other.session = turns.session and other.ordinal <> turns.ordinal)
"""
# SQLite takes 32,766 values a statement.
_MOST_VALUES = 30_000


class Turns:
    """Single turns: where they happened, what was said, and their events."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def external_among(self, refs: Iterable[str]) -> set[str]:
        """Those of these references, to sessions or turns, whose words may be anybody's.

        Of a session that is not known nobody can say that they are not.
        """
        wanted = {ref: ref.partition("#")[0] for ref in refs}
        sessions = sorted(set(wanted.values()))
        own: set[str] = set()
        for start in range(0, len(sessions), _MOST_VALUES):
            some = sessions[start : start + _MOST_VALUES]
            marks = ", ".join("?" * len(some))
            sql = f"select ref from sessions where not external and ref in ({marks})"
            own |= {ref for (ref,) in self.db.rows(sql, some)}
        return {ref for ref, session in wanted.items() if session not in own}

    def places(self, turns: Iterable[int]) -> dict[int, Place]:
        """The places of these turns, by turn."""
        wanted = list(turns)
        found: dict[int, Place] = {}
        for start in range(0, len(wanted), _MOST_VALUES):
            some = wanted[start : start + _MOST_VALUES]
            for row in self.db.rows(
                f"{_SELECT} where turns.id in ({', '.join('?' * len(some))})", some
            ):
                found[row[0]] = Place(*row)
        return found

    def neighbours(self, around: list[Place], reach: int, scope: Scope) -> dict[int, Place]:
        """The places of the turns in scope just before and after these, in the same sessions."""
        if not around:
            return {}
        clause, bound = turns_in(scope)
        marks = ", ".join(["(?, ?)"] * len(around))
        rows = self.db.rows(
            f"""
            with around (session, ordinal) as (values {marks})
            {_SELECT} join around on around.session = turns.session
             where turns.ordinal between around.ordinal - {reach} and around.ordinal + {reach}
               and {clause}
            """,
            [value for place in around for value in (place.session, place.ordinal)] + bound,
        )
        return {row[0]: Place(*row) for row in rows}

    def newest(self, scope: Scope, *, limit: int, offset: int = 0) -> list[Place]:
        """The newest turns in scope."""
        clause, values = turns_in(scope)
        rows = self.db.rows(
            f"{_SELECT} where {clause} order by at desc, turns.id desc limit ? offset ?",
            [*values, limit, offset],
        )
        return [Place(*row) for row in rows]

    def scenes(self, turns: list[int]) -> dict[int, Scene]:
        """What is shown of these turns, by their number."""
        found: dict[int, Scene] = {}
        for start in range(0, len(turns), 500):
            some = turns[start : start + 500]
            marks = ", ".join("?" * len(some))
            rows = self.db.rows(f"select {_SCENE} from {_SCENES} where turns.id in ({marks})", some)
            found.update((row[0], Scene(*row)) for row in rows)
        return found

    def get(self, ref: str, ordinal: int) -> Turn:
        """One turn of a session."""
        from recollect.store.sqlite.sessions import shown_turns

        session = self.db.value("select id from sessions where ref = ?", (ref,))
        found = shown_turns(self.db, session, ref, [ordinal]) if session is not None else []
        if not found:
            raise NotFound(
                f"{ref} has no turn {ordinal}.", hint=f"See its turns: recollect show {ref}"
            )
        if found[0].damaged:
            raise TurnDamaged(self.db.path, found[0].ref)
        return found[0]

    def after(self, ref: str, *, after: int, limit: int) -> list[Turn]:
        """So many turns of a session, from the one after this number on."""
        from recollect.store.sqlite.sessions import shown_turns

        sql = """
            select ordinal from turns join sessions on sessions.id = turns.session
             where sessions.ref = ? and ordinal > ? order by ordinal limit ?
        """
        ordinals = [ordinal for (ordinal,) in self.db.rows(sql, (ref, after, limit))]
        return shown_turns(
            self.db, self.db.value("select id from sessions where ref = ?", (ref,)), ref, ordinals
        )

    def last(self) -> int:
        """The number of the turn that was stored last; 0 when there is none."""
        return int(self.db.value("select max(id) from turns") or 0)

    def share_at_work(self) -> float:
        """In about which share of all turns an agent called a tool, by a sample of them."""
        return self._share(_AT_WORK)

    def share_alone(self) -> float:
        """About which share of all turns has no tool call and no other turn in its session."""
        return self._share(f"not {_AT_WORK} and not {_IN_COMPANY}")

    def _share(self, condition: str) -> float:
        last = self.last()
        some = range(last, 0, -max(1, last // _SAMPLE))
        ((turns, such),) = self.db.rows(
            f"""
            select count(*), total({condition})
              from turns where id in ({", ".join(map(str, some))})
            """
        )
        return such / turns if turns else 0.0

    def events(self, turn: int) -> list[Call | PlainEvent]:
        """What happened in a turn, in order, without what is damaged."""
        return events_in(turn, readable_rows(self.db, turn))

    def events_of(self, turns: list[int]) -> dict[int, list[Call | PlainEvent]]:
        """What happened in each of several turns, in order."""
        return {turn: events_in(turn, rows) for turn, rows in readable_rows_of(self.db, turns)}
