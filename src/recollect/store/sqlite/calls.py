"""Tool calls, and the turns they belong to, for the verbs.

Everything is asked of the tables and the text index as they are: words find
the turns, and only those turns' calls are looked at. The store answers; what
counts as the same file, error or command is decided in `recall`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from recollect.model.calls import MOST_FILES, TARGET_CHARACTERS, Call, Scene
from recollect.model.search import Query
from recollect.store import bodies
from recollect.store.sqlite.chosen import chosen_turns
from recollect.store.sqlite.database import Database
from recollect.store.text import words

_CALL = "tool_calls.turn, tool_calls.ordinal, tool_calls.name, tool_calls.kind, tool_calls.target, tool_calls.ok, exit_code"
_SCENE = """
    turns.id, turns.session, sessions.ref, sessions.agent, turns.ordinal, coalesce(turns.started_at, sessions.started_at),
    coalesce(b.key, a.key), sessions.origin, turns.live, turns.key, turns.prompt, sessions.cwd
"""
_SCENES = """
    turns join sessions on sessions.id = turns.session
    left join projects a on a.id = turns.project left join projects b on b.id = a.merged_into
"""


def scenes(db: Database, turns: list[int]) -> dict[int, Scene]:
    """What is shown of these turns, by their number."""
    found: dict[int, Scene] = {}
    for start in range(0, len(turns), 500):
        some = turns[start : start + 500]
        marks = ", ".join("?" * len(some))
        rows = db.rows(f"select {_SCENE} from {_SCENES} where turns.id in ({marks})", some)
        found.update((row[0], Scene(*row)) for row in rows)
    return found


def find_waiting_call(db: Database, session: str, turn_key: str, call: str) -> Call | None:
    """A call that has no result yet, by the native names of its turn and its own."""
    row = db.row(
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


def calls_naming(
    db: Database, name: str, query: Query, domains: dict[str, list[str]]
) -> list[Call]:
    """Edits and shell commands that may have to do with a file of this
    name, in turns that pass the filters.

    A target is kept up to a length and lists a patch's first files:
    what may go on is among the answers.
    """
    phrase = " ".join(words(name))
    if not phrase:
        return []
    clause, values = chosen_turns(query, domains)
    rows = db.rows(
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


def calls_of_program(
    db: Database, word: str, query: Query, domains: dict[str, list[str]]
) -> list[Call]:
    """Shell commands that hold a word, and calls of a tool of that name; the newest turns first."""
    clause, values = chosen_turns(query, domains)
    rows = db.rows(
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


def calls_after(db: Database, turn: int, turns: int) -> list[tuple[str, Call]]:
    """The calls of a turn and of the next few of its session, in order,
    each with its turn's reference.
    """
    rows = db.rows(
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


def word_counts(db: Database, given: list[str], column: str, most: int) -> dict[str, int]:
    """In how many bodies each word stands in a column of the text index, counted up to `most`."""
    sql = "select count(*) from (select 1 from turns_text where turns_text match ? limit ?)"
    return {word: int(db.value(sql, (f'{column} : "{word}"', most))) for word in given}


def turns_with_words(
    db: Database,
    given: list[str],
    column: str,
    query: Query,
    domains: dict[str, list[str]],
    limit: int,
) -> list[int]:
    """The newest turns that hold all these words in one column of the text index."""
    clause, values = chosen_turns(query, domains)
    rows = db.rows(
        f"""
        with found as materialized (
          select distinct bodies.turn from turns_text cross join bodies
            on bodies.id = turns_text.rowid
           where turns_text match ?
        )
        select turns.id from found join turns on turns.id = found.turn join sessions
          on sessions.id = turns.session
         where {clause} order by coalesce(turns.started_at, sessions.started_at) desc,
           turns.id desc limit ?
        """,
        [column + " : (" + " AND ".join(f'"{word}"' for word in given) + ")", *values, limit],
    )
    return [turn for (turn,) in rows]


def turns_with_errors(
    db: Database, query: Query, domains: dict[str, list[str]], limit: int
) -> Iterator[tuple[int, list[bodies.Row]]]:
    """The newest turns in which something failed and that are chosen,
    with their events, oldest first.
    """
    clause, values = chosen_turns(query, domains)
    rows = db.execute(
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


def count_turns_with_errors(db: Database, query: Query, domains: dict[str, list[str]]) -> int:
    """How many turns there are in which something failed and that are chosen."""
    clause, values = chosen_turns(query, domains)
    sql = f"select count(*) from turns join sessions on sessions.id = turns.session where turns.errors > 0 and {clause}"
    return int(db.value(sql, values))


def project_folders(db: Database, project: str) -> list[str]:
    """The folders that belong to a project, without those below another of them."""
    rows = db.rows(
        """
        select alias from project_aliases where project in (
          select a.id from projects a left join projects b on b.id = a.merged_into
            where a.key = ?1 or b.key = ?1)
         union select key from projects where key = ?1 and kind != 'remote' order by 1
        """,
        (project,),
    )
    folders: list[str] = []
    for (folder,) in rows:
        if not any(folder.startswith(outer.rstrip("/") + "/") for outer in folders):
            folders.append(folder)
    return folders
