"""Turns that hold certain words. The store answers; ranking has no taste here
beyond the weight of a column.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.store.sqlite.filters import conditions
from recollect.store.text import prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.lookup import Query, Term
    from recollect.store.sqlite.database import Database

# What a person asked says most about a turn, then what went wrong and what
# was run; output is long and says least.
WEIGHTS = {"prompt": 4.0, "reply": 2.0, "tools": 2.5, "errors": 2.0, "output": 1.0}


class TextMatch:
    """A turn that matches, with what a hit shows of it."""

    __slots__ = ("agent", "at", "ordinal", "project", "score", "session", "turn")

    def __init__(self, turn: int, score: float, session: str, agent: str, ordinal: int, at: int | None, project: str | None):
        self.turn, self.score, self.session, self.agent = turn, score, session, agent
        self.ordinal, self.at, self.project = ordinal, at, project


def words(text: str) -> list[str]:
    """The words of a text as the index has them, before stemming."""
    tame = text.encode("utf-8", "replace").decode()
    return "".join(char if char.isalnum() else " " for char in prepare(tame)).split()


def expression(terms: list[Term], *, any_word: bool) -> str:
    """An FTS5 expression for these terms; empty when they hold no word at all."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for term in terms:
        found = words(term.text)
        if found:
            phrase = '"' + " ".join(found) + '"' + ("*" if term.prefix else "")
            (unwanted if term.negated else wanted).append(phrase)
    if not wanted:
        return ""
    text = (" OR " if any_word else " AND ").join(wanted)
    return f"({text}) NOT ({' OR '.join(unwanted)})" if unwanted else text


def search(
    db: Database, query: Query, *, domains: dict[str, list[str]], any_word: bool, limit: int, offset: int = 0
) -> list[TextMatch]:
    """The turns that hold all the words, or any of them, best match first."""
    clause, values = conditions(query.filters, domains)
    match = expression(query.terms, any_word=any_word)
    if not match:
        return _newest(db, clause, values, limit, offset) if query.filters else []
    weights = ", ".join(str(weight) for weight in WEIGHTS.values())
    joins = "" if clause == "1" else "join turns on turns.id = bodies.turn join sessions on sessions.id = turns.session"
    rows = db.rows(
        f"""
        with scored as materialized (
          select rowid as body, bm25(turns_text, {weights}) as score from turns_text where turns_text match ?
        ), found as (
          select bodies.turn as turn, min(scored.score) as score
            from scored cross join bodies on bodies.id = scored.body {joins}
           where {clause} group by bodies.turn order by 2, 1 limit ? offset ?
        )
        select found.turn, -found.score, sessions.ref, sessions.agent, turns.ordinal,
               coalesce(turns.started_at, sessions.started_at), coalesce(b.key, a.key)
          from found join turns on turns.id = found.turn join sessions on sessions.id = turns.session
          left join projects a on a.id = turns.project left join projects b on b.id = a.merged_into
         order by found.score, found.turn
        """,
        [match, *values, limit, offset],
    )
    return [TextMatch(*row) for row in rows]


def _newest(db: Database, clause: str, values: list[Any], limit: int, offset: int) -> list[TextMatch]:
    """Filters without words: the newest turns that pass them."""
    rows = db.rows(
        f"""
        select turns.id, 0.0, sessions.ref, sessions.agent, turns.ordinal,
               coalesce(turns.started_at, sessions.started_at) as at, coalesce(b.key, a.key)
          from turns join sessions on sessions.id = turns.session
          left join projects a on a.id = turns.project left join projects b on b.id = a.merged_into
         where {clause} order by at desc, turns.id desc limit ? offset ?
        """,
        [*values, limit, offset],
    )
    return [TextMatch(*row) for row in rows]


def example_query(db: Database) -> str:
    """Two telling words of a recent human prompt; empty when there is none."""
    for (prompt,) in db.rows(
        "select prompt from turns where author = 'human' and prompt != '' order by started_at desc limit 20"
    ):
        long_ones = {word for word in words(prompt) if len(word) > 4 and word.isalpha()}
        telling = sorted(long_ones, key=lambda word: (-len(word), word))
        if len(telling) > 1:
            return " ".join(telling[:2])
    return ""
