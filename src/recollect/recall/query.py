"""The query language: one for the command line, the library and every other face.

Words, "phrases", prefix*, -not, and filters such as `agent:codex` or, to leave
something out, `-agent:codex`. docs/search.md describes it.

Whatever a person types is valid. People paste: an error with quotes in it, a
line of Rust, an address. So an unbalanced quote or an operator is text, a name
with a colon that is no filter is text (`std::vector`), and so is a filter with
a value that it cannot have (`since:forever`); the query then remarks on it,
because that may have been a slip. A page is text altogether: nobody types
filters into a text of several lines, or of more words than a question has.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import (
    CHOICES,
    FILTERS,
    LONGEST_VALUE,
    META,
    MOST_VALUES,
    Query,
    Term,
    meta_key,
)
from recollect.system.clock import MOMENTS, find_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A page of pasted text may look like many slips; nobody wants to read of them all.
MOST_REMARKS = 3
# `rm -rf` is a command with an option. Whoever wants to leave such a word out quotes it: -"go".
OPTION_CHARACTERS = 2
# A question that somebody types has fewer words; an issue or a log has more.
MOST_TYPED = 24


def parse(text: str) -> Query:
    """The query a text stands for."""
    query = _parse_typed(text)
    # Filters do not count: a program may give many of them, and few words.
    if len(query.terms) > MOST_TYPED or len(text.strip().splitlines()) > 1:
        return _parse_pasted(text, query)
    return query


def _parse_typed(text: str) -> Query:
    query = Query()
    terms: dict[Term, None] = {}
    for piece, quoted, negated in _pieces(text):
        if not quoted and ":" in piece and _take_filter(query, piece, negated):
            continue
        prefix = not quoted and piece.endswith("*")
        word = piece.rstrip("*") if prefix else piece
        if word:
            # A pasted log says the same word a hundred times; asking once is enough.
            terms[Term(word, prefix=prefix, negated=negated, quoted=quoted)] = None
    query.terms = list(terms)
    return query


def _parse_pasted(text: str, typed: Query) -> Query:
    """Every word of a text as a word, whatever signs are on it."""
    query = Query([Term(word) for word in dict.fromkeys(text.split())])
    for name, values in typed.filters.items():
        query.remarks.append(
            f"This is long, so {name}:{values[0]} in it was searched as text. "
            "To filter, write fewer words or use an option."
        )
    del query.remarks[MOST_REMARKS:]
    return query


def _take_filter(query: Query, piece: str, negated: bool) -> bool:
    """Whether a piece is a filter, which the query then has; one that nearly is gets a remark."""
    name, _, value = piece.partition(":")
    key = meta_key(name)
    name = META + key if key else name.lower()
    value = value.strip('"').strip()
    # File::open is Rust and file:///etc/hosts an address.
    if (
        not (key or name in FILTERS)
        or not value
        or value.startswith((":", "//"))
        or len(value) > LONGEST_VALUE
    ):
        return False
    wanted = _slip(name, value)
    if wanted and len(query.remarks) < MOST_REMARKS:
        query.remarks.append(
            f"{name}:{value} was searched as text, because {name}: takes {wanted}."
        )
    if wanted or sum(map(len, query.filters.values())) == MOST_VALUES:
        return False
    values = query.filters.setdefault(f"-{name}" if negated else name, [])
    if value not in values:
        values.append(value)
    return True


def _slip(name: str, value: str) -> str:
    """What a filter takes, when this value is not of that kind."""
    if name in CHOICES and value.lower() not in CHOICES[name]:
        return ", ".join(CHOICES[name])
    if name in ("since", "until") and find_moment(value, end=name == "until") is None:
        return f"a date such as {MOMENTS}"
    return ""


def _pieces(text: str) -> Iterator[tuple[str, bool, bool]]:
    """(piece, was quoted, was negated) for each word, phrase or filter."""
    position, length = 0, len(text)
    while position < length:
        if text[position].isspace():
            position += 1
            continue
        # A flag such as --no-verify is a word of a command; one dash means "not".
        negated = text[position] == "-" and text[position + 1 : position + 2].strip() not in (
            "",
            "-",
        )
        start = position + negated
        close = text.find('"', start + 1) if text[start] == '"' else -1
        if close > 0:
            piece, position = text[start + 1 : close], close + 1
        else:
            position = _end_of_word(text, start)
            piece = text[start:position]
            if negated and _is_option(piece):
                negated, piece = False, f"-{piece}"
        if piece.strip('"'):
            yield piece, close > 0, negated


def _is_option(word: str) -> bool:
    return len(word) <= OPTION_CHARACTERS and word.isascii() and word.isalnum()


def _end_of_word(text: str, start: int) -> int:
    """Where a word ends; the value of a filter may be quoted: project:"my shop"."""
    position = start
    while position < len(text) and not text[position].isspace():
        if text[position] == '"' and text[position - 1] == ":" and position > start:
            close = text.find('"', position + 1)
            if close > 0:
                return close + 1
        position += 1
    return position
