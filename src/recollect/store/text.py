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

# Every byte by its class: lower case or digit, upper case, anything else.
_CLASSES = b" " * 48 + b"a" * 10 + b" " * 7 + b"A" * 26 + b" " * 6 + b"a" * 26 + b" " * 133
_HUMP, _ACRONYM = b"aA", b"AAaa"
# Scripts that are written without spaces, and the upper halves of their code units.
_BLOCKS = b" " * 0x30 + b"s" * 0x70 + b" " * 0x0C + b"s" * 0x2C + b" " * 0x21 + b"s" * 2 + b" " * 5
_SPACELESS = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# What is longer is no name that somebody remembers a part of, but an id or a picture.
_LONGEST_NAME = 100

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
    found = (_paired(plain) if _may_be_spaceless(plain) else plain).split()
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
    return len(char) == 1 and _may_be_spaceless(char) and _paired(char) != char


def prepare(text: str) -> str:
    """Text as the index should see it."""
    return prepare_all([text])[0]


def prepare_all(texts: list[str]) -> list[str]:
    """Several texts as the index should see them.

    Most are short and need nothing; one look at all of them is enough to know.
    """
    together = "\0".join(texts)
    if _TAG in together:
        texts = [without_tag_numbers(text) for text in texts]
    if _may_be_spaceless(together):
        texts = [_paired(text) for text in texts]
    classes = together.encode("latin-1", "replace").translate(_CLASSES)
    if _HUMP in classes or _ACRONYM in classes:
        texts = [_with_parts(text) for text in texts]
    return texts


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


def _may_be_spaceless(text: str) -> bool:
    # Arrows, quotes and emoji are everywhere; only such scripts are worth a slow look.
    return not text.isascii() and b"s" in text.encode("utf-16-le", "replace")[1::2].translate(
        _BLOCKS
    )


def _paired(text: str) -> str:
    """Each run of a script without spaces as its pairs and, at the end, its last character."""
    import re

    def pairs(run: re.Match[str]) -> str:
        said = run[0]
        made = [said[place : place + 2] for place in range(len(said))]
        return f" {' '.join(made)} "

    return re.sub(f"[{_SPACELESS}]+", pairs, text)


def _with_parts(text: str) -> str:
    """A text, and after it the parts of each name with humps that it has."""
    classes = text.encode("latin-1", "replace").translate(_CLASSES)
    names: dict[str, None] = {}
    for shape in (_HUMP, _ACRONYM):
        end = 0
        while (place := classes.find(shape, end)) >= 0:
            start = classes.rfind(b" ", end, place) + 1
            end = classes.find(b" ", place)
            end = len(text) if end < 0 else end
            names[text[start:end]] = None
    parts = [part for name in names if len(name) <= _LONGEST_NAME for part in parts_of_name(name)]
    return f"{text}\n{' '.join(parts)}" if parts else text


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
