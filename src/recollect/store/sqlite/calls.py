"""Tool calls, and the turns they belong to, for the verbs.

Everything is asked of the tables and the text index as they are: words find
the turns, and only those turns' calls are looked at. The store answers; what
counts as the same file, error or command is decided in `recall`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from recollect.model.calls import MOST_FILES, TARGET_CHARACTERS, Call
from recollect.model.search import Scope
from recollect.store import bodies
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.search.chosen import chosen_turns
from recollect.store.text import words

_CALL = """
    tool_calls.turn, tool_calls.ordinal, tool_calls.name, tool_calls.kind, tool_calls.target,
    tool_calls.ok, exit_code
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
        return Call(*row) if row else None

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
        phrase = " ".join(words(name))
        if not phrase:
            return []
        clause, values = chosen_turns(scope)
        rows = self.db.rows(
            f"""
            with named as materialized (
              select distinct bodies.turn from turns_text cross join bodies
                on bodies.id = turns_text.rowid
               where turns_text match ?
            ), mentioned as materialized (
              select distinct bodies.turn from turns_text cross join bodies
                on bodies.id = turns_text.rowid
               where turns_text match ?
            )
            select {_CALL} from tool_calls join turns on turns.id = tool_calls.turn
              join sessions on sessions.id = turns.session
             where {clause} and (
               (turn in named and kind in ('edit', 'shell') and (instr(target, ?)
                 or length(target) >= ?))
               or (turn in mentioned and kind = 'edit' and target glob ?)
             )
            """,
            [
                f'tools : "{phrase}"',
                f'output : "{phrase}"',
                *values,
                name,
                TARGET_CHARACTERS,
                ", ".join("*" * MOST_FILES),
            ],
        )
        return [Call(*row) for row in rows]

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
            select {_CALL} from tool_calls join turns on turns.id = tool_calls.turn
              join sessions on sessions.id = turns.session
             where ((kind = 'shell' and instr(target, ?)) or name = ? collate nocase) and {clause}
             order by coalesce(turns.started_at, sessions.started_at) desc, turn desc,
               tool_calls.ordinal desc
            """,
            [word, word, *values],
        )
        return [Call(*row) for row in rows]

    def after(self, turn: int, turns: int) -> list[tuple[str, Call]]:
        """The calls of a turn and of the next few of its session, in order,
        each with its turn's reference.
        """
        rows = self.db.rows(
            f"""
            select sessions.ref || '#' || turns.ordinal, {_CALL} from tool_calls
              join turns on turns.id = tool_calls.turn join sessions on sessions.id = turns.session,
              (select session, ordinal from turns where id = ?1) here
             where turns.session = here.session and turns.ordinal between here.ordinal
               and here.ordinal + ?2
             order by turns.ordinal, tool_calls.ordinal
            """,
            (turn, turns),
        )
        return [(ref, Call(*row)) for ref, *row in rows]

    def failed_turns(self, scope: Scope, limit: int) -> Iterator[tuple[int, list[bodies.Row]]]:
        """The newest turns in which something failed and that are chosen,
        with their events, oldest first.
        """
        clause, values = chosen_turns(scope)
        rows = self.db.execute(
            f"""
            select bodies.turn, bodies.events from (
              select turns.id from turns join sessions on sessions.id = turns.session
                where turns.errors > 0 and {clause}
               order by coalesce(turns.started_at, sessions.started_at) desc, turns.id desc limit ?
            ) newest cross join bodies on bodies.turn = newest.id
            order by bodies.turn, bodies.part
            """,
            [*values, limit],
        )
        for turn, parts in groupby(rows, itemgetter(0)):
            yield turn, bodies.joined([events for _, events in parts])

    def count_failed_turns(self, scope: Scope) -> int:
        """How many turns there are in which something failed and that are chosen."""
        clause, values = chosen_turns(scope)
        sql = f"""
            select count(*) from turns join sessions on sessions.id = turns.session
             where turns.errors > 0 and {clause}
        """
        return int(self.db.value(sql, values))
