"""Turns that a query chooses, for lists and sums: its filters and all of its words.

Unlike a search it ranks nothing and never settles for some of the words: a
session is listed, or a turn counted, because all of the query is true of it.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import Query, Scope, Term
from recollect.store.sqlite.search.filters import conditions
from recollect.store.text import is_spaceless, parts_of_name, row_of_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.search.filters import Condition

# Whoever pastes a longer row of words finds it by its beginning; FTS5 takes a
# minute to read a row of 100,000.
MOST_IN_A_ROW = 64
_HAVING = (
    "(select turn from bodies where id in (select rowid from turns_text where turns_text match ?))"
)


def chosen_turns(scope: Scope) -> Condition:
    """A condition on the tables `turns` and `sessions`; "1" when everything is chosen."""
    clause, values = _conditions(scope.query, scope.domains)
    # Signs alone, such as an emoji, are in no index: they find nothing, like in a search.
    signs = clause == "1" and any(not term.negated for term in scope.query.terms)
    return "0" if signs else clause, values


def _conditions(query: Query, domains: dict[str, list[str]]) -> Condition:
    wanted = expression([term for term in query.terms if not term.negated], any_word=False)
    unwanted = expression(
        [Term(term.text, prefix=term.prefix) for term in query.terms if term.negated], any_word=True
    )
    clause, values = conditions(query.filters, domains)
    clauses = [clause] if query.filters else []
    if wanted:
        clauses.append(f"turns.id in {_HAVING}")
    if unwanted:
        clauses.append(f"turns.id not in {_HAVING}")
    return " and ".join(clauses) or "1", [*values, *filter(None, [wanted, unwanted])]


def chosen_sessions(scope: Scope) -> Condition:
    """A condition on the table `sessions`: one of its turns is chosen."""
    clause, values = chosen_turns(scope)
    return (
        "1"
        if clause == "1"
        else f"exists (select 1 from turns where turns.session = sessions.id and {clause})",
        values,
    )


def turns_in(scope: Scope) -> Condition:
    """A condition on the tables `turns` and `sessions`: what a search may find at all."""
    strict = [term for term in scope.query.terms if term.quoted or term.negated]
    clause, values = _conditions(Query(strict, scope.query.filters), scope.domains)
    if scope.upto is None:
        return clause, values
    return f"{clause} and turns.id <= ?", [*values, scope.upto]


def expression(terms: list[Term], *, any_word: bool) -> str:
    """An FTS5 expression for these terms; empty when they hold no word at all."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for term in terms:
        found = row_of_words(term.text)
        if found:
            (unwanted if term.negated else wanted).append(phrase(tuple(found), prefix=term.prefix))
    if not wanted:
        return ""
    text = (" OR " if any_word else " AND ").join(wanted)
    return f"({text}) NOT ({' OR '.join(unwanted)})" if unwanted else text


def phrase(found: tuple[str, ...], *, prefix: bool) -> str:
    """These words in a row, as FTS5 wants them; of a name with humps also its parts."""
    if len(found) == 1 and not prefix:
        parts = parts_of_name(found[0])
        if len(parts) > 1:
            return f'("{found[0]}" OR "{" ".join(parts)}")'
    text = '"' + " ".join(found[:MOST_IN_A_ROW]) + '"'
    # One character of a script without spaces is the beginning of a pair.
    begins = prefix or is_spaceless(found[-1])
    return text + "*" if begins and len(found) <= MOST_IN_A_ROW else text


def phrases(word: str) -> list[str]:
    """The phrases of FTS5 by which one word of a query is found."""
    parts = parts_of_name(word)
    one = f'"{word}"*' if is_spaceless(word) else f'"{word}"'
    return [one, f'"{" ".join(parts)}"'] if len(parts) > 1 else [one]


def is_one_word(found: tuple[str, ...], *, prefix: bool) -> bool:
    """Whether the index has this as one word of its own."""
    return (
        len(found) == 1
        and not prefix
        and not is_spaceless(found[0])
        and len(parts_of_name(found[0])) == 1
    )
