"""Which words of a query are looked for, and which only join in.

A clue is one word, or several in a row, that a turn may hold. A term such as
`parse_rollout` or `client.ts` is several words: they are looked for
together, which says most, and each by itself. A name with humps is one word,
however a turn writes it; its parts join in.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import Clue
from recollect.recall.stop_words import STOP_WORDS
from recollect.store.text import parts_of_name, row_of_words, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.model.search import Query

# A whole log may be pasted; its beginning says what it is about.
MOST_CLUES = 200


def clues(query: Query) -> list[Clue]:
    """What to look for, each clue once, in the order of the query."""
    found: dict[tuple[object, ...], Clue] = {}
    for clue in _clues(query):
        # However it is written; and what is asked for by itself does not only join in.
        key = (tuple(map(str.lower, clue.words)), clue.prefix)
        if key not in found or found[key].extra > clue.extra:
            found[key] = clue
    return (list(filter(is_telling, found.values())) or list(found.values()))[:MOST_CLUES]


def is_telling(clue: Clue) -> bool:
    """Whether a clue is more than a word of which every question is made."""
    return len(clue.words) > 1 or clue.prefix or clue.words[0].lower() not in STOP_WORDS


def _clues(query: Query) -> Iterable[Clue]:
    for term in query.terms:
        row = () if term.negated else tuple(row_of_words(term.text))
        if not row:
            continue
        single = row if len(row) == 1 else tuple(words(term.text))
        if term.quoted or term.prefix:
            yield Clue(row, prefix=term.prefix)
            continue
        for word in single:
            yield Clue((word,))
        if len(row) > 1:
            yield Clue(row, extra=True)
        for word in single:
            parts = parts_of_name(word)
            for part in parts if len(parts) > 1 else ():
                yield Clue((part,), extra=True)
