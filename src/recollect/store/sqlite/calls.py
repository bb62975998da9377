"""Tool calls, and the turns they belong to, for the verbs.

Everything is asked of the tables and the text index as they are: words find
the turns, and only those turns' calls are looked at. The store answers; what
counts as the same file, error or command is decided in `recall`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from recollect.model.calls import MOST_FILES, TARGET_CHARACTERS, Call, PlainEvent
from recollect.model.search import Scope
from recollect.store.events import events_in
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.parts import readable_rows, readable_rows_of
from recollect.store.sqlite.search.chosen import chosen_turns
from recollect.store.text import row_of_words

_CALL = """
    tool_calls.turn, tool_calls.ordinal, tool_calls.name, tool_calls.kind,
    coalesce(tool_calls.target, ''), tool_calls.ok, exit_code, tool_calls.folder
"""


class Calls:
    """Tool calls, and the turns in which they failed."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def find_waiting(self, session: str, turn_key: str, call: str) -> Call | None:
        """A call that has no result yet, by the native names of its turn and its own."""
        row = self.db.row(
            f"""
            select {_CALL}
              from sessions
              join turns on turns.session = sessions.id and turns.key = ?
              join tool_calls on tool_calls.turn = turns.id and tool_calls.pending = ?
             where sessions.ref = ?
            """,
            (turn_key, call, session),
        )
        return _call(row) if row else None

    def naming(
        self,
        name: str,
        scope: Scope,
    ) -> list[Call]:
        """Edits and shell commands that may have to do with a file of this
        name, in turns that pass the filters.

        A target is kept up to a length and lists a patch's first files:
        what may go on is among the answers.
        """
        phrase = " ".join(row_of_words(name))
        if not phrase:
            return []
        clause, values = chosen_turns(scope)
        rows = self.db.rows(
            f"""
            with named as materialized (
              select distinct bodies.turn
                from turns_text cross join bodies on bodies.id = turns_text.rowid
               where turns_text match ?
            ), mentioned as materialized (
              select distinct bodies.turn
                from turns_text cross join bodies on bodies.id = turns_text.rowid
               where turns_text match ?
            )
            select {_CALL} from tool_calls
              join turns on turns.id = tool_calls.turn
              join sessions on sessions.id = turns.session
             where {clause} and (
               (turn in named and kind in ('edit', 'shell')
                 and (instr(target, ?) or length(target) >= ?))
               or (turn in mentioned and kind = 'edit' and target glob ?)
             )
            """,
            [
                f'{{commands files}} : "{phrase}"',
                f'output : "{phrase}"',
                *values,
                name,
                TARGET_CHARACTERS,
                ", ".join("*" * MOST_FILES),
            ],
        )
        return list(map(_call, rows))

    def newest_edits(self, scope: Scope, limit: int) -> list[Call]:
        """The edits of the turns that pass the filters, the last stored first."""
        clause, values = chosen_turns(scope)
        rows = self.db.rows(
            f"""
            select {_CALL} from turns
              join sessions on sessions.id = turns.session
              cross join tool_calls on tool_calls.turn = turns.id
             where kind = 'edit' and tool_calls.ok is not 0 and {clause}
             order by turns.id desc limit ?
            """,
            [*values, limit],
        )
        return list(map(_call, rows))

    def of_program(
        self,
        word: str,
        scope: Scope,
    ) -> list[Call]:
        """Shell commands that hold a word, and calls of a tool of that name.

        The newest turns first.
        """
        clause, values = chosen_turns(scope)
        rows = self.db.rows(
            f"""
            select {_CALL} from tool_calls
              join turns on turns.id = tool_calls.turn
              join sessions on sessions.id = turns.session
             where ((kind = 'shell' and instr(target, ?)) or name = ? collate nocase) and {clause}
             order by coalesce(turns.started_at, sessions.started_at) desc, turn desc,
               tool_calls.ordinal desc
            """,
            [word, word, *values],
        )
        return list(map(_call, rows))

    def since(self, turn: int, ordinal: int, *, turns: int, limit: int) -> list[Call]:
        """A call and what came after it in its turn and the next few of its session, in order."""
        rows = self.db.rows(
            f"""
            select {_CALL} from tool_calls
              join turns on turns.id = tool_calls.turn,
              (select session, ordinal from turns where id = ?1) here
             where turns.session = here.session
               and turns.ordinal between here.ordinal and here.ordinal + ?3
               and (turns.id != ?1 or tool_calls.ordinal >= ?2)
             order by turns.ordinal, tool_calls.ordinal limit ?4
            """,
            (turn, ordinal, turns, limit),
        )
        return list(map(_call, rows))

    def whole(self, calls: Iterable[Call]) -> list[Call]:
        """The same calls with all of their targets, their inputs and their outputs."""
        made: dict[int, list[Call]] = {}
        found = []
        for call in calls:
            if call.turn not in made:
                events = events_in(call.turn, readable_rows(self.db, call.turn))
                made[call.turn] = [event for event in events if isinstance(event, Call)]
            whole = made[call.turn]
            # Of a damaged turn there is what the list of calls has.
            found.append(whole[call.ordinal] if call.ordinal < len(whole) else call)
        return found

    def failed(self, scope: Scope, *, turns: int) -> Iterator[Call | PlainEvent]:
        """Failed calls, and errors of the agents themselves, in the newest turns
        that are chosen and have any; oldest first.
        """
        clause, values = chosen_turns(scope)
        newest = self.db.rows(
            f"""
            select turns.id from turns join sessions on sessions.id = turns.session
             where turns.errors > 0 and {clause}
             order by coalesce(turns.started_at, sessions.started_at) desc, turns.id desc limit ?
            """,
            [*values, turns],
        )
        for turn, rows in readable_rows_of(self.db, sorted(turn for (turn,) in newest)):
            for event in events_in(turn, rows):
                if event.failed if isinstance(event, Call) else event.kind == "error":
                    yield event

    def count_failed_turns(self, scope: Scope) -> int:
        """How many turns there are in which something failed and that are chosen."""
        clause, values = chosen_turns(scope)
        sql = f"""
            select count(*) from turns join sessions on sessions.id = turns.session
             where turns.errors > 0 and {clause}
        """
        return int(self.db.value(sql, values))


def _call(row: tuple[Any, ...]) -> Call:
    turn, ordinal, name, kind, target, ok, exit_code, folder = row
    known = None if ok is None else bool(ok)
    return Call(turn, ordinal, name, kind, target, known, exit_code, folder)
