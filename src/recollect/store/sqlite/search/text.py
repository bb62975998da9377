"""Turns that hold certain words, and how strongly. The store answers; it has no taste.

Ranking wants to know, for each word, which turns hold it: then it can weigh
words, neighbours and whole sessions as it likes. FTS5 finds the turns, and a
function of ours, which it calls for each, says what the mentions count
together: it sees in which columns they are, and how long these are. That takes
half as long as reading mention by mention from FTS5's own view of its lists.

Rare words are looked up first. One that is in too many turns finds nothing by
itself: it only counts in the turns that the rarer ones found, so the cost of
a search depends on what is rare in it and not on what is common.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

import operator
from itertools import islice

from recollect.model.search import Findings, Holding
from recollect.store.sqlite.search.chosen import (
    chosen_turns,
    is_one_word,
    phrase,
    phrases,
    turns_in,
)
from recollect.store.text import COLUMNS, LENGTH_BITS, LENGTH_UNIT, LONGEST, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from recollect.model.search import Clue, Scope
    from recollect.store.sqlite.database import Database
    from recollect.store.sqlite.search.filters import Condition

    Fields = Mapping[str, tuple[float, float, int]]

# A word in more of the turns than this only joins in. In a small store even a
# telling word is in many, and looking at a few hundred turns costs nothing.
COMMON_SHARE = 0.05
NEVER_COMMON = 500
# Reading the turns that hold a word is what a search costs, about two
# microseconds each: a word in more turns than this is common in any store, and
# a query with many words stops after so many of them.
MOST_TURNS = 5_000
MOST_TOGETHER = 5_000
# Of the common words so many join in, the rarest first.
MOST_JOINING = 8
# To know which of some turns hold a word: all that hold it are read when they are at most so
# many times as many, else FTS5 goes from one of the others' turns to the next.
READ_AT_MOST = 6
# To know where words stand in some turns: FTS5 reads through all turns that hold them, unless
# these are more than so many for each turn and word; then each turn is looked up by itself.
READ_THROUGH = 200
OUTPUT = COLUMNS.index("output") * LENGTH_BITS


def _match(clue: Clue) -> str:
    return phrase(clue.words, prefix=clue.prefix)


class ClueSearch:
    """Goes from clues to the turns in scope that hold them, and notes the session of each."""

    def __init__(self, db: Database, scope: Condition, sessions: dict[int, int]) -> None:
        self.db, self.sessions = db, sessions
        self._clause, self._values = scope
        self._bodies: dict[int, int] = {}
        self._found_by: list[Clue] = []

    def holders(self, clue: Clue) -> tuple[dict[int, float], set[int]]:
        """Each turn that holds a clue, with what its mentions count together, and
        those that hold it elsewhere than in output.
        """
        self._found_by.append(clue)
        weigh = "weigh_mentions" if is_one_word(clue.words, prefix=clue.prefix) else "weigh_columns"
        return self._turns(
            f"{weigh}(mentions.turns_text, bodies.lengths)",
            "turns_text as mentions",
            "mentions.turns_text match ?",
            _match(clue),
        )

    def best(self, clues: list[Clue], weights: list[float]) -> tuple[dict[int, float], set[int]]:
        """Of very many turns the newest that hold all clues, with how well they do
        when each column has such a weight.
        """
        self._found_by = clues[:1]
        # A filter may want old ones.
        most = MOST_TURNS if self._clause == "1" else -1
        mentions = f"""
            (select rowid, -bm25(turns_text, {", ".join(map(str, weights))}) as weight
               from turns_text where turns_text match ?
              order by rowid desc limit {most}) as mentions
        """
        match = " AND ".join(map(_match, clues))
        found, firm = self._turns("mentions.weight", mentions, "1", match)
        best = max(found.values(), default=0.0) or 1.0
        return {turn: weight / best for turn, weight in found.items()}, firm

    def among(self, clue: Clue, count: int) -> tuple[dict[int, float], set[int]]:
        """Which of the turns found so far hold this clue too, all alike; `count` turns hold it."""
        match, bodies = _match(clue), self._bodies
        if count > READ_AT_MOST * len(bodies):
            match = f"({' OR '.join(map(_match, self._found_by))}) AND {match}"
        held = self.db.rows("select rowid from turns_text where turns_text match ?", (match,))
        found = {bodies[body]: 1.0 for (body,) in held if body in bodies}
        return found, set(found)

    def _turns(
        self, weight: str, mentions: str, where: str, match: str
    ) -> tuple[dict[int, float], set[int]]:
        filtered = (
            "" if self._clause == "1" else "cross join sessions on sessions.id = turns.session"
        )
        found: dict[int, float] = {}
        firm: set[int] = set()
        for body, turn, session, counts in self.db.rows(
            f"""
            select mentions.rowid, bodies.turn, turns.session, {weight}
              from {mentions}
              cross join bodies on bodies.id = mentions.rowid
              cross join turns on turns.id = bodies.turn {filtered}
             where {where} and {self._clause}
            """,
            [match, *self._values],
        ):
            found[turn] = found.get(turn, 0.0) + abs(counts)
            if counts > 0:
                firm.add(turn)
            self.sessions[turn] = session
            self._bodies[body] = turn
        return found, firm


# For each column where its length begins, what a mention counts, what it is divided by, and
# by how much more for each unit of length.
Norms = list[tuple[int, float, float, float]]


def _norms(fields: Fields) -> Norms:
    return [
        (place * LENGTH_BITS, weight, 1 - matters, matters * LENGTH_UNIT / usual)
        for place, (weight, matters, usual) in enumerate(map(fields.__getitem__, COLUMNS))
    ]


def _weigher(norms: Norms, *, each: bool) -> Callable[..., float]:
    """What FTS5 calls for a row: the weight of its mentions, of each or of one in each
    column, less in a column that is longer than usual. Below zero when all are in output.
    """

    def weigh(api: Any, lengths: int) -> float:
        total, firm = 0.0, False
        standing = api.phrase_locations(0)
        for number in range(1, api.phrase_count):
            standing = map(operator.add, standing, api.phrase_locations(number))
        for (shift, weight, base, per_unit), places in zip(norms, standing, strict=False):
            if places:
                norm = base + per_unit * (lengths >> shift & LONGEST)
                total += (len(places) if each else 1) * weight / norm
                firm = firm or shift != OUTPUT
        return total if firm else -total

    return weigh


def _positions(api: Any, *_: Any) -> str:
    """Where each phrase of a query stands in a row, by column."""
    return ";".join(
        "|".join(" ".join(map(str, places)) for places in api.phrase_locations(number))
        for number in range(api.phrase_count)
    )


class Text:
    """The text index: which turns hold which words."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._norms: Norms = []

    def find(self, clues: list[Clue], scope: Scope, fields: Fields) -> Findings:
        """The turns in scope that hold each clue, the rarest clue first.

        Fields say, for each column of the index, what a mention in it counts, how
        much the column's length is held against it, from 0 to 1, and which length
        in characters is the usual one. How rare a clue
        was is told for when the last turn of the scope was the last of all.
        """
        self._prepare(fields)
        all_turns, all_sessions, all_bodies = self._totals(scope.upto)
        found = Findings([], {}, all_turns=all_turns, all_sessions=all_sessions)
        counted = sorted(
            ((self._count(clue, all_turns, all_bodies), clue) for clue in clues),
            key=lambda pair: pair[0],
        )
        ceiling = min(max(all_turns * COMMON_SHARE, NEVER_COMMON), MOST_TURNS)
        look = ClueSearch(self.db, turns_in(scope), found.sessions)
        weights = [fields[name][0] for name in COLUMNS]
        room, joining = MOST_TOGETHER, MOST_JOINING
        for count, clue in counted:
            turns: dict[int, float] = {}
            firm: set[int] = set()
            if count and count <= min(ceiling, room):
                room -= count
                turns, firm = look.holders(clue)
            elif count and not found.sessions:
                # Only common words: those turns that hold all of them best,
                # or else the rarest of them.
                turns, firm = look.best([clue for count, clue in counted if count], weights)
                if not turns:
                    turns, firm = look.best([clue], weights)
            elif count and joining:
                joining -= 1
                turns, firm = look.among(clue, count)
            found.holdings.append(Holding(clue, count, turns, firm))
        return found

    def positions(
        self, row: list[str], turns: Iterable[int], count: int
    ) -> dict[int, list[list[list[int]]]]:
        """Where in each of these turns the words of a query stand: for each word,
        for each column of the index but output, its places there. The words are in
        `count` turns, summed up.
        """
        wanted, units = list(turns), [phrases(word) for word in row]
        marks = ", ".join(map(str, wanted))
        bodies: dict[int, int] = dict(
            self.db.rows(f"select id, turn from bodies where turn in ({marks})")
        )
        match = " OR ".join(phrase for unit in units for phrase in unit)
        if not match or not bodies:
            return {}
        ids = ", ".join(map(str, bodies))
        found: dict[int, list[list[list[int]]]] = {}
        # The plus keeps FTS5 from looking each row up by itself.
        plus = "+" if count <= READ_THROUGH * len(bodies) * len(row) else ""
        for body, told in self.db.rows(
            f"""
            select rowid, positions(turns_text) from turns_text
             where turns_text match ? and {plus}rowid in ({ids})
            """,
            (match,),
        ):
            phrases_of = iter(told.split(";"))
            nowhere: list[list[list[int]]] = [[[] for _ in COLUMNS[:-1]] for _ in units]
            for unit, columns in zip(units, found.setdefault(bodies[body], nowhere), strict=True):
                for one in islice(phrases_of, len(unit)):
                    for known, more in zip(columns, one.split("|"), strict=False):
                        known += map(int, more.split())
        return found

    def _prepare(self, fields: Fields) -> None:
        """Tell FTS5 our functions, once: it never forgets one that it was told."""
        if not self._norms:
            connection = self.db.connection
            for name, each in (("weigh_mentions", True), ("weigh_columns", False)):
                connection.register_fts5_function(name, _weigher(self._norms, each=each))
            connection.register_fts5_function("positions", _positions)
        self._norms[:] = _norms(fields)

    def _totals(self, upto: int | None) -> tuple[int, int, int]:
        """About how many turns, sessions and bodies there are, or
        were when turn `upto` was the last.
        """
        if upto is None:
            row = self.db.row(
                """
                select (select max(id) from turns), (select max(id) from sessions),
                       (select max(id) from bodies)
                """
            )
        else:
            row = self.db.row(
                """
                with last (turn) as (select max(id) from turns where id <= ?1)
                select turn,
                       (select session from turns where id <= ?1 order by session desc limit 1),
                       (select max(id) from bodies where bodies.turn = last.turn)
                  from last
                """,
                (upto,),
            )
        turns, sessions, bodies = (int(number or 0) for number in row or (0, 0, 0))
        return turns, sessions, bodies

    def _count(self, clue: Clue, all_turns: int, all_bodies: int) -> int:
        """How many turns hold a clue.

        Guessed from the oldest of them when they are too many to count.
        """
        most = min(MOST_TURNS, max(1_000, int(all_turns * COMMON_SHARE))) + 1
        count, last = self.db.row(
            """
            select count(*), max(rowid) from (
              select rowid from turns_text where turns_text match ? and rowid <= ? limit ?
            )
            """,
            (_match(clue), all_bodies, most),
        ) or (0, 0)
        return int(count if count < most else max(count, count * all_bodies // last))

    def example_query(self) -> str:
        """Two telling words of a recent human prompt; empty when there is none."""
        for (prompt,) in self.db.rows(
            """
            select prompt from turns join sessions on sessions.id = turns.session
             where author = 'human' and prompt != '' and not external
             order by turns.started_at desc limit 20
            """
        ):
            long_ones = {word for word in words(prompt) if len(word) > 4 and word.isalpha()}
            telling = sorted(long_ones, key=lambda word: (-len(word), word))
            if len(telling) > 1:
                return " ".join(telling[:2])
        return ""

    def word_counts(self, given: list[str], column: str, most: int) -> dict[str, int]:
        """In how many bodies each word stands in a column of the
        text index, counted up to `most`.
        """
        sql = "select count(*) from (select 1 from turns_text where turns_text match ? limit ?)"
        return {word: int(self.db.value(sql, (f'{column} : "{word}"', most))) for word in given}

    def turns_with(self, given: list[str], column: str, scope: Scope, *, limit: int) -> list[int]:
        """The newest turns that hold all these words in one column of the text index."""
        clause, values = chosen_turns(scope)
        rows = self.db.rows(
            f"""
            with found as materialized (
              select distinct bodies.turn
                from turns_text cross join bodies on bodies.id = turns_text.rowid
               where turns_text match ?
            )
            select turns.id from found
              join turns on turns.id = found.turn
              join sessions on sessions.id = turns.session
             where {clause}
             order by coalesce(turns.started_at, sessions.started_at) desc, turns.id desc limit ?
            """,
            [column + " : (" + " AND ".join(f'"{word}"' for word in given) + ")", *values, limit],
        )
        return [turn for (turn,) in rows]
