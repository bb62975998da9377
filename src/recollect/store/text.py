"""How text becomes words, the same for what is stored and for what is asked.

The index splits at everything that is not a letter or a digit, so
`parse_rollout` is two words and a path is the words of its folders: any suffix
of a path is a phrase. Two things it cannot see are prepared here.

A name with humps stands where it is as one word, and its parts follow once at
the end of the text: `GitHub` is found by `github`, and `parseRolloutFile` by
`rollout file`. In scripts written without spaces each character makes a pair
with the one after it: 死锁了 is 死锁, 锁了 and, for the last, 了. Single
characters say next to nothing and are in every other turn; a pair is nearly a
word. So every piece of such a text is a phrase, and every character begins one
word of the index.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Texts are looked at as UTF-8, byte by byte.
# Every byte by its class: lower case or digit, upper case, anything else.
_CLASSES = b" " * 48 + b"a" * 10 + b" " * 7 + b"A" * 26 + b" " * 6 + b"a" * 26 + b" " * 133
_HUMP, _ACRONYM = b"aA", b"AAaa"
# Scripts that are written without spaces begin with one of these bytes, or with these two.
_LEADS = b" " * 0xA4 + b"2" * 8 + b" " * 0x37 + b"s" * 0x0B + b" 1" + b" " * 0x10
_SPACELESS = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# What is longer is no name that somebody remembers a part of, but an id or a picture.
_LONGEST_NAME = 100
# The same names are in one text after the other: so many of them are kept with their parts.
_MOST_NAMES = 1 << 13
_PARTS: dict[bytes, str] = {}

_TAG = "[REDACTED:"

# Of a long tool output only both ends are indexed: the command that ran and
# the error it ended with are there, and the middle is in the body.
END_CHARACTERS = 4_000

# The columns of the text index, and how long each of a row's is: in units of so many
# characters, so many bits each, packed into one number that stands beside the body.
COLUMNS = ("prompt", "answer", "replies", "commands", "files", "errors", "output")
LENGTH_UNIT, LENGTH_BITS = 32, 9
LONGEST = (1 << LENGTH_BITS) - 1


def words(text: str) -> list[str]:
    """The words of a text that are worth looking for one by one, before stemming."""
    found = row_of_words(text)
    # A single character is a word of its own only where it stands alone.
    return [
        word
        for before, word in zip(["", *found], found, strict=False)
        if not (len(before) > 1 and before[-1] == word and is_spaceless(word))
    ]


def words_in(texts: list[str]) -> list[str]:
    """The words of several texts, in their order."""
    return [word for text in texts for word in words(text)]


def row_of_words(text: str) -> list[str]:
    """The words of a text in a row, as the index has them wherever the text stands."""
    tame = without_tag_numbers(text).encode("utf-8", "replace").decode()
    plain = "".join(char if char.isalnum() else " " for char in tame).rstrip()
    found = (_paired(plain) if _may_be_spaceless(plain.encode()) else plain).split()
    # In the middle of a longer text the last character makes a pair with the next.
    if len(plain) > 1 and is_spaceless(plain[-1]) and is_spaceless(plain[-2]):
        found.pop()
    return found


def parts_of_name(word: str) -> list[str]:
    """The parts of a name with humps: `parseRolloutFile` has three, `parse` has one."""
    classes = word.encode("latin-1", "replace").translate(_CLASSES)
    if _ACRONYM in classes:
        word = _spaced(word, classes, _ACRONYM)
        classes = word.encode("latin-1", "replace").translate(_CLASSES)
    return (_spaced(word, classes, _HUMP) if _HUMP in classes else word).split()


def is_spaceless(char: str) -> bool:
    """Whether this is one character of a script that is written without spaces."""
    return (
        len(char) == 1
        and _may_be_spaceless(char.encode("utf-8", "replace"))
        and _paired(char) != char
    )


def prepare(text: str) -> str:
    """Text as the index should see it."""
    text = without_tag_numbers(text)
    data = text.encode("utf-8", "replace")
    if not text.isascii() and _may_be_spaceless(data):
        text = _paired(text)
        data = text.encode("utf-8", "replace")
    parts = _parts_in(data)
    return f"{text}\n{parts}" if parts else text


def without_tag_numbers(text: str) -> str:
    """The text with blanks for the number of each tag that stands for a secret.

    The number is another in every store. A text is found by what it says, so
    that two stores made from the same logs rank it alike.
    """
    if _TAG not in text:
        return text
    import re

    return re.sub(r"(\[REDACTED:[a-z0-9-]{1,64}:)[0-9a-f]{8}\]", r"\1        ]", text)


def packed_lengths(columns: Sequence[str]) -> int:
    """How long each column of a row is, as one number."""
    return sum(
        min(LONGEST, (len(text) + LENGTH_UNIT - 1) // LENGTH_UNIT) << LENGTH_BITS * place
        for place, text in enumerate(columns)
    )


def _may_be_spaceless(data: bytes) -> bool:
    # Arrows, quotes and emoji are everywhere; only such scripts are worth a slow look.
    leads = data.translate(_LEADS)
    return b"s" in leads or b"12" in leads


def _paired(text: str) -> str:
    """Each run of a script without spaces as its pairs and, at the end, its last character."""
    import re

    # What is split off is at the odd places.
    pieces = re.split(f"([{_SPACELESS}]+)", text)
    for place in range(1, len(pieces), 2):
        said = pieces[place]
        pieces[place] = f" {' '.join([*map(str.__add__, said, said[1:]), said[-1]])} "
    return "".join(pieces)


def _parts_in(data: bytes) -> str:
    """The parts of each name with humps that a text has."""
    classes = data.translate(_CLASSES)
    find, back = classes.find, classes.rfind
    names: dict[bytes, None] = {}
    for shape in (_HUMP, _ACRONYM):
        end, place = 0, find(shape)
        while place >= 0:
            start = back(b" ", end, place) + 1
            end = find(b" ", place)
            if end < 0:
                end = len(data)
            names[data[start:end]] = None
            place = find(shape, end)
    return " ".join(filter(None, map(_joined_parts, names)))


def _joined_parts(name: bytes) -> str:
    if (parts := _PARTS.get(name)) is None:
        if len(_PARTS) >= _MOST_NAMES:
            _PARTS.clear()
        short = len(name) <= _LONGEST_NAME
        parts = _PARTS[name] = " ".join(parts_of_name(name.decode())) if short else ""
    return parts


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
