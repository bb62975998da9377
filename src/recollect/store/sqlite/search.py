"""Turns that hold certain words, and how strongly. The store answers; it has no taste.

Ranking wants to know, for each word, which turns hold it: then it can weigh
words, neighbours and whole sessions as it likes. For a single word the index
itself is read (`spellings`, a view of FTS5's own lists), which also says in
which column and how often; for several words in a row and for beginnings of
words, FTS5 finds the turns.

Rare words are looked up first. One that is in too many turns finds nothing by
itself: it only counts in the turns that the rarer ones found, so the cost of
a search depends on what is rare in it and not on what is common.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.lookup import Findings, Holding
from recollect.store.text import prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.lookup import Clue, Term
    from recollect.store.sqlite.database import Database
    from recollect.store.sqlite.filters import Condition

# How much one mention counts, by where it is: what a person asked says most
# about a turn; output is long and says least.
COLUMNS = {"prompt": 1.0, "reply": 0.6, "tools": 0.7, "errors": 0.7, "output": 0.15}
# A word in more of the turns than this only joins in. In a small store even a
# telling word is in many, and looking at a few hundred turns costs nothing.
COMMON_SHARE = 0.05
NEVER_COMMON = 200
# Reading the turns that hold a word is what a search costs, about two
# microseconds each: a word in more turns than this is common in any store, and
# a query with many words stops after so many of them.
MOST_TURNS = 5_000
MOST_TOGETHER = 10_000


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
            (unwanted if term.negated else wanted).append(_phrase(tuple(found), prefix=term.prefix))
    if not wanted:
        return ""
    text = (" OR " if any_word else " AND ").join(wanted)
    return f"({text}) NOT ({' OR '.join(unwanted)})" if unwanted else text


def find(db: Database, clues: list[Clue], scope: Condition) -> Findings:
    """The turns in scope that hold each clue, the rarest clue first."""
    all_turns = int(db.value("select max(id) from turns") or 0)
    found = Findings([], {}, all_turns=all_turns, all_sessions=int(db.value("select max(id) from sessions") or 0))
    counted = sorted(((_count(db, clue, all_turns), clue) for clue in clues), key=lambda pair: pair[0])
    ceiling = min(max(all_turns * COMMON_SHARE, NEVER_COMMON), MOST_TURNS)
    room, rare = MOST_TOGETHER, []
    for count, clue in counted:
        if not count:
            turns: dict[int, float] = {}
        elif count <= ceiling and count <= room:
            rare.append(clue)
            room -= count
            turns = _holders(db, clue, scope, found.sessions)
        elif found.sessions:
            turns = _among(db, clue, rare, found.sessions)
        else:
            # Only common words: those turns that hold all of them best.
            turns = _best(db, [clue for count, clue in counted if count], scope, found.sessions)
        found.holdings.append(Holding(clue, count, turns))
    return found


def _phrase(found: tuple[str, ...], *, prefix: bool) -> str:
    return '"' + " ".join(found) + '"' + ("*" if prefix else "")


def _match(clue: Clue) -> str:
    return _phrase(clue.words, prefix=clue.prefix)


def _count(db: Database, clue: Clue, all_turns: int) -> int:
    """How many turns hold a clue; guessed from the oldest of them when they are too many to count."""
    most = min(MOST_TURNS, max(1_000, int(all_turns * COMMON_SHARE))) + 1
    count, last = db.row(
        "select count(*), max(rowid) from (select rowid from turns_text where turns_text match ? limit ?)", (_match(clue), most)
    ) or (0, 0)
    return int(count if count < most else max(count, count * int(db.value("select max(id) from bodies")) // last))


def _holders(db: Database, clue: Clue, scope: Condition, sessions: dict[int, int]) -> dict[int, float]:
    """Each turn in scope that holds a clue, with its mentions, weighted by column and added up."""
    if len(clue.words) == 1 and not clue.prefix:
        stem = _stem(db, clue.words[0])
        cases = " ".join(f"when '{name}' then {weight}" for name, weight in COLUMNS.items())
        mentions = f"select doc as body, case col {cases} end as weight from temp.spellings where term = ?"
        return _turns(db, mentions, [stem], scope, sessions)
    parts = [f"select rowid as body, {weight} as weight from turns_text where turns_text match ?" for weight in COLUMNS.values()]
    matches = [f"{{{name}}} : {_match(clue)}" for name in COLUMNS]
    return _turns(db, " union all ".join(parts), matches, scope, sessions)


def _best(db: Database, clues: list[Clue], scope: Condition, sessions: dict[int, int]) -> dict[int, float]:
    """Of very many turns the newest that hold all clues, or else the rarest, with how well they do."""
    weights = ", ".join(map(str, COLUMNS.values()))
    mentions = f"""
        select * from (select rowid as body, -bm25(turns_text, {weights}) as weight
                         from turns_text where turns_text match ? order by rowid desc limit {MOST_TURNS})"""
    found = _turns(db, mentions, [" AND ".join(map(_match, clues))], scope, sessions)
    found = found or _turns(db, mentions, [_match(clues[0])], scope, sessions)
    best = max(found.values(), default=0.0) or 1.0
    return {turn: weight / best for turn, weight in found.items()}


def _among(db: Database, clue: Clue, rare: list[Clue], known: dict[int, int]) -> dict[int, float]:
    """Which of the turns that rarer clues found hold this one too, all alike."""
    if not rare:
        return dict.fromkeys(known, 1.0)
    match = f"({' OR '.join(map(_match, rare))}) AND {_match(clue)}"
    held = _turns(db, "select rowid as body, 1.0 as weight from turns_text where turns_text match ?", [match], ("1", []), {})
    return {turn: 1.0 for turn in held if turn in known}


def _turns(db: Database, mentions: str, values: list[Any], scope: Condition, sessions: dict[int, int]) -> dict[int, float]:
    clause, bound = scope
    filtered = "" if clause == "1" else "cross join sessions on sessions.id = turns.session"
    found = {}
    for turn, session, weight in db.rows(
        f"""
        select bodies.turn, turns.session, sum(mentions.weight)
          from ({mentions}) as mentions cross join bodies on bodies.id = mentions.body
          cross join turns on turns.id = bodies.turn {filtered}
         where {clause} group by bodies.turn
        """,
        [*values, *bound],
    ):
        found[turn] = weight
        sessions[turn] = session
    return found


def _stem(db: Database, word: str) -> str:
    """The word as it stands in the index; also makes sure that the index can be read."""
    import apsw

    if not db.value("select 1 from temp.sqlite_schema where name = 'spellings'"):
        db.execute("create virtual table temp.spellings using fts5vocab (main, turns_text, instance)")
    tokenizer = db.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
    stems = tokenizer(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
    return str(next(iter(stems), ""))


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
