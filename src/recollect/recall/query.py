"""The query language: one for the command line, the library and every other face.

Words, "phrases", prefix*, -not, and filters such as `agent:codex`. Whatever a
person types is valid: an unbalanced quote, an operator or an emoji is searched
as text, and a name with a colon that is no filter is text too.
"""

from __future__ import annotations

from recollect.lookup import Query, Term

FILTERS = ("agent", "project", "session", "domain", "file", "tool", "model", "since", "until", "is")


def parse(text: str) -> Query:
    """The query a text stands for."""
    query = Query()
    for piece, quoted, negated in _pieces(text):
        name, colon, value = piece.partition(":")
        if colon and value and not quoted and not negated and name.lower() in FILTERS:
            query.filters.setdefault(name.lower(), []).append(value.strip('"'))
            continue
        prefix = not quoted and len(piece) > 1 and piece.endswith("*")
        query.terms.append(Term(piece.rstrip("*") if prefix else piece, prefix=prefix, negated=negated))
    return query


def _pieces(text: str) -> list[tuple[str, bool, bool]]:
    """(piece, was quoted, was negated) for each word, phrase or filter."""
    pieces = []
    position, length = 0, len(text)
    while position < length:
        if text[position].isspace():
            position += 1
            continue
        negated = text[position] == "-" and position + 1 < length and not text[position + 1].isspace()
        start = position + negated
        quoted = text[start] == '"' and text.find('"', start + 1) > start
        if quoted:
            end = text.find('"', start + 1)
            piece, position = text[start + 1 : end], end + 1
        else:
            position = _end_of_word(text, start)
            piece = text[start:position]
        if piece.strip('"'):
            pieces.append((piece, quoted, negated))
    return pieces


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
