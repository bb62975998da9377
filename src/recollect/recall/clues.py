"""Which words of a query are looked for, and which only join in.

A clue is one word, or several in a row, that a turn may hold. A term such as
`parseRolloutFile` or `client.ts` is several words: they are looked for
together, which says most, and each by itself.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import Clue
from recollect.store.text import words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.model.search import Query

# A question is half made of these, and no answer is found by them. They are
# left out unless a query has no other word, or has them inside quotes.
STOP_WORDS = frozenset((
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having",
    "he", "her", "hers", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "might", "my",
    "of", "on", "or", "our",
    "out", "over", "s", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their",
    "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "up", "us", "was", "we", "were", "what", "when",
    "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip
# A whole log may be pasted; its beginning says what it is about.
MOST_CLUES = 200


def clues(query: Query) -> list[Clue]:
    """What to look for, each clue once, in the order of the query."""
    found = list(_clues(query))
    return list(dict.fromkeys(filter(is_telling, found)) or dict.fromkeys(found))[:MOST_CLUES]


def is_telling(clue: Clue) -> bool:
    """Whether a clue is more than a word of which every question is made."""
    return len(clue.words) > 1 or clue.prefix or clue.words[0].lower() not in STOP_WORDS


def _clues(query: Query) -> Iterable[Clue]:
    for term in query.terms:
        words = [] if term.negated else words_in([term.text])
        if term.quoted or term.prefix or len(words) == 1:
            if words:
                yield Clue(tuple(words), prefix=term.prefix)
            continue
        for word in words:
            yield Clue((word,))
        if words:
            yield Clue(tuple(words), extra=True)
