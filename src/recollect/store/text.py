"""How text becomes words, the same for what is stored and for what is asked.

The index splits at everything that is not a letter or a digit, so
`parse_rollout` is two words and a path is the words of its folders: any suffix
of a path is a phrase. What the index cannot see are the humps of camelCase and
the words of scripts written without spaces; both are taken apart here.
"""

from __future__ import annotations

# Every byte by its class: lower case or digit, upper case, anything else.
_CLASSES = b" " * 48 + b"a" * 10 + b" " * 7 + b"A" * 26 + b" " * 6 + b"a" * 26 + b" " * 133
_HUMP, _ACRONYM = b"aA", b"AAaa"
# Scripts that are written without spaces, and the upper halves of their code units.
_BLOCKS = b" " * 0x30 + b"s" * 0x70 + b" " * 0x0C + b"s" * 0x2C + b" " * 0x21 + b"s" * 2 + b" " * 5
_SPACELESS = "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])"

# Of a long tool output only both ends are indexed: the command that ran and
# the error it ended with are there, and the middle is in the body.
END_CHARACTERS = 4_000


def words(text: str) -> list[str]:
    """The words of a text as the index has them, before stemming."""
    tame = text.encode("utf-8", "replace").decode()
    return "".join(char if char.isalnum() else " " for char in prepare(tame)).split()


def words_in(texts: list[str]) -> list[str]:
    """The words of several texts, in their order."""
    return [word for text in texts for word in words(text)]


def prepare(text: str) -> str:
    """Text as the index should see it: `parseRolloutFile` becomes three words."""
    try:
        # One byte a character, so that a place in the one is a place in the other.
        classes = text.encode("latin-1").translate(_CLASSES)
    except UnicodeEncodeError:
        # Arrows, quotes and emoji are everywhere; only such scripts are worth a slow look.
        if b"s" in text.encode("utf-16-le", "replace")[1::2].translate(_BLOCKS):
            import re

            text = re.sub(_SPACELESS, r" \1 ", text)
        classes = text.encode("latin-1", "replace").translate(_CLASSES)
    if _ACRONYM in classes:
        text = _spaced(text, classes, _ACRONYM)
        classes = text.encode("latin-1", "replace").translate(_CLASSES)
    if _HUMP in classes:
        text = _spaced(text, classes, _HUMP)
    return text


def _spaced(text: str, classes: bytes, shape: bytes) -> str:
    """A space after the first character of every place that has this shape."""
    pieces = []
    start, end, rest = 0, 1, len(shape) - 1
    for size in map(len, classes.split(shape)):
        end += size
        pieces.append(text[start:end])
        start = end
        end += rest + 1
    return " ".join(pieces)


def ends(text: str) -> str:
    """The first and the last characters of a long text, which is what gets indexed."""
    if len(text) <= 2 * END_CHARACTERS:
        return text
    return text[:END_CHARACTERS] + "\n" + text[-END_CHARACTERS:]
