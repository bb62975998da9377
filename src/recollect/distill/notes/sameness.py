"""Whether two facts say the same, or speak against each other.

The same words in another order, and the same meaning in other words, are one
fact: the vectors of the encoder that comes with the package decide, after the
words that change everything agree: those that turn a sentence around, numbers,
and what is quoted as code. How something is done by one program is one fact,
whatever starts the program and with which options.

Two facts speak against each other when they say of the same thing that it is
to be done and not to be done, when one says what to use in the other's place, or
when only a number in them differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from recollect.distill.corroborate import STOP_WORDS
from recollect.distill.notes.usual import what_runs
from recollect.reading.shell import pieces

if TYPE_CHECKING:
    from recollect.embed.static import StaticEncoder
    from recollect.model.old_notes import OldNote

# Looked up on pairs of our own: 0.90 is "always run the tests before you commit" and "run the tests
# before every commit"; "run make lint before …" and "run make test before …" are at 0.78.
NEAR = 0.88
# Of the words of two facts that say the same, so many are in both.
SHARED = 0.5

_WORD = re.compile(r"[^\W_][\w+#-]*(?:[./][\w-]+)*(?:'\w+)?")
# Commands are compared as they stand, not by their words.
_COMMAND = re.compile(r"`[^`]*\s[^`]*`")
_CODE = re.compile(r"`[^`]+`|\S*[/_]\S+|\b\w+\.\w+\b")
# How facts about files and commands are written; see `proven` and `usual`.
_PLACE = re.compile(r"`[^`]+` is at `[^`]+`, ")
_USE = re.compile(r"(To [\w ]+ here), run `([^`]+)`")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_NEGATIVE = frozenset((
    "not", "never", "no", "avoid", "without", "stop", "don't", "dont", "cannot", "can't", "mustn't",
    "shouldn't",
))  # fmt: skip
# Another one of these is another fact.
_PIVOTS = ("before", "after", "until", "unless", "if", "except")
# What says how strongly something is meant, and not what.
_FORCE = frozenset((
    "always", "must", "should", "need", "needs", "every", "each", "all", "any", "make", "sure",
    "now", "only", "really", "prefer",
    "want", "like", "let's", "lets", "will", "can", "we'll", "use", "using", "uses", "future",
    "going", "forward", "rule", "time",
    "explicitly", "whenever",
))  # fmt: skip
_WITHOUT_MEANING = STOP_WORDS | _FORCE | _NEGATIVE
_IN_PLACE_OF = re.compile(
    r"\b(?:instead of|rather than|over|and not|no longer)\b|, not\b|"
    # "do not" and "is not" are about what follows alone.
    r"(?<!\bdo )(?<!\bdoes )(?<!\bmust )(?<!\bshould )(?<!\bcan )(?<!\bis )(?<!\bare )(?<!\bwill "
    r")(?<!^)\bnot\b",
    re.IGNORECASE,
)


def find_same(text: str, notes: Sequence[OldNote]) -> OldNote | None:
    """The note that says what a text says; one that a person stands behind before any other."""
    same = [
        note for note in notes if _same_words(text, note.text) or _same_use(text, note.text)
    ] or _near(text, notes)
    return min(
        same, key=lambda note: (note.author != "person", note.status != "active"), default=None
    )


def speak_against(text: str, other: str) -> bool:
    """Whether two facts cannot both hold."""
    if _turned(text) != _turned(other) and _kernel(text) == _kernel(other) and _kernel(text):
        return True
    if _replaces(text, other) or _replaces(other, text):
        return True
    return (
        text != other
        and _NUMBER.sub("#", text.casefold()) == _NUMBER.sub("#", other.casefold())
        and _is_value(text)
    )


def _same_words(text: str, other: str) -> bool:
    return _agree(text, other) and _kernel(text) == _kernel(other)


def _same_use(text: str, other: str) -> bool:
    """Whether two facts say where one file is, or how one thing is done by
    the same program in the same folder.
    """
    if (place := _PLACE.match(text)) and other.startswith(place[0]):
        return True
    one, two = _USE.fullmatch(text), _USE.fullmatch(other)
    if one is None or two is None:
        return one is not None and other.startswith(f"Run `{one[2]}` here:")
    return one[1] == two[1] and _use(one[2]) == _use(two[2])


def _use(command: str) -> tuple[object, ...]:
    """Where a command is run, what it runs, and which of its tests, where
    they are marked: `pytest -m slow`.
    """
    piece = pieces(command)[0]
    marked = [word for before, word in pairwise(piece.words) if before == "-m"]
    return piece.folder, what_runs(piece.words), marked


def _near(text: str, notes: Sequence[OldNote]) -> list[OldNote]:
    """Notes whose vectors are near."""
    own = _kernel(text)
    possible = [
        note
        for note in notes
        if _agree(text, note.text)
        and len(own & _kernel(note.text)) >= SHARED * len(own | _kernel(note.text))
    ]
    if not possible:
        return []
    first, *others = _encoder().encode_documents([text, *(note.text for note in possible)])
    return [
        note for note, vector in zip(possible, others, strict=True) if float(first @ vector) >= NEAR
    ]


def _agree(text: str, other: str) -> bool:
    """Whether the words that change everything are the same in two facts."""
    return (
        _turned(text) == _turned(other)
        and _fixed(text) == _fixed(other)
        and not _unwanted(text) & _wanted(other)
        and not _unwanted(other) & _wanted(text)
    )


@cache
def _encoder() -> StaticEncoder:
    from recollect.embed.static import StaticEncoder

    return StaticEncoder()


@lru_cache(1024)
def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("’", "'"))


@lru_cache(1024)
def _sides(text: str) -> list[str]:
    """What is wanted, and what that stands in the place of."""
    return _IN_PLACE_OF.split(_COMMAND.sub(" ", text), maxsplit=1)


def _kernel(text: str) -> frozenset[str]:
    """What a fact is about, without how strongly it is meant."""
    return _wanted(text) | _unwanted(text)


def _wanted(text: str) -> frozenset[str]:
    return _stems(_sides(text)[0])


def _unwanted(text: str) -> frozenset[str]:
    """What is not to be used, where a fact says what to use in its place."""
    return _stems(" ".join(_sides(text)[1:]))


@lru_cache(1024)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _words(text) if word not in _WITHOUT_MEANING)


def _stem(word: str) -> str:
    """A word without its endings, the outer one first."""
    for ending in ("s", "e", "ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
    return word


def _turned(text: str) -> bool:
    """Whether a fact says what not to do.

    What stands in the place of what is part of another question.
    """
    return any(word in _NEGATIVE for word in _words(_sides(text)[0]))


def _fixed(text: str) -> tuple[list[str], ...]:
    """Numbers, code, and before or after: another one of these is another fact."""
    return (
        _NUMBER.findall(text),
        _CODE.findall(text),
        [word for word in _words(text) if word in _PIVOTS],
    )


def _replaces(text: str, other: str) -> bool:
    """Whether a text names what to use in the place of what the other says to use."""
    if _turned(other):
        return False
    gone, said = _unwanted(text), _wanted(other)
    return bool(gone & said) and said <= gone | _wanted(text)


def _is_value(text: str) -> bool:
    """Whether a number is what a fact is about: "Python here is version
    3.12" has one, and a path may have many.
    """
    return len(_NUMBER.findall(text)) == 1 and not _CODE.search(_NUMBER.sub("", text))
