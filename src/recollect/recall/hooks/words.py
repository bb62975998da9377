"""The words that a prompt and what it may call up have in common.

A text is its words, stemmed, without those of which every sentence is made; the pairs of
its characters where a script is written without spaces, without pairs of hiragana, which say
how and not what; its names of several parts as one word beside the parts (`=parserollout`,
however it is written); and its file names, without folders (`client.ts`).

On the path of a hook: nothing heavy is imported, `re` neither.
"""

from __future__ import annotations

from itertools import pairwise

import apsw

from recollect.recall.stop_words import OF_REQUESTS, STOP_WORDS
from recollect.store.text import parts_of_name, without_tag_numbers

# A whole log may be pasted; its beginning says what it is about.
MOST_CHARACTERS = 2_000
# One word says too little, but for the name of a file.
LEAST_WORDS = 2
_INNER = frozenset("_-.")
_LONGEST_NAME = 64
_LONGEST_ENDING = 5
_sqlite = apsw.Connection(":memory:")
_porter = _sqlite.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])


def words_in(text: str) -> list[str]:
    """The words of a text, each as often as it is there, without those that say nothing."""
    plain: list[str] = []
    names: list[str] = []
    for run in _runs(without_tag_numbers(text)):
        if not run.isascii() and _is_spaceless(run[0]):
            names += _pairs(run)
        elif len(run) <= _LONGEST_NAME:
            parts = _parts(run)
            plain += [part for part in parts if _says_something(part.lower())]
            if len(parts) > 1:
                names += _names(run, parts)
    return [*_stems(plain), *names]


def _says_something(word: str) -> bool:
    return word not in STOP_WORDS and word not in OF_REQUESTS and (len(word) > 1 or word > "\x7f")


def file_name(path: str) -> str:
    """The last part of a path, as `words_in` has it."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()


def is_file(word: str) -> bool:
    return "." in word


def _stems(plain: list[str]) -> list[str]:
    """Words as a text index stems them."""
    if not plain:
        return []
    found = _porter(
        " ".join(plain).encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_QUERY,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return list(map(str, found))


def _runs(text: str) -> list[str]:
    """A text at everything that is in no name; scripts without spaces apart."""
    if text.isascii():
        return "".join(char if char.isalnum() or char in _INNER else " " for char in text).split()
    made: list[str] = []
    was = False
    for char in text:
        if not (char.isalnum() or char in _INNER):
            made.append(" ")
            continue
        spaceless = char > "\u3000" and _is_spaceless(char)
        if spaceless != was:
            made.append(" ")
            was = spaceless
        made.append(char)
    return "".join(made).split()


def _is_spaceless(char: str) -> bool:
    return (
        "\u3005" <= char <= "\u3007"
        or "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u4dbf"
        or "\u4e00" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
    )


def _is_hiragana(char: str) -> bool:
    return "\u3040" <= char <= "\u309f" or char == "ー"


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [] if _is_hiragana(run) else [run]
    return [
        first + second
        for first, second in pairwise(run)
        if not (_is_hiragana(first) and _is_hiragana(second))
    ]


def _parts(run: str) -> list[str]:
    plain = run.replace("_", " ").replace("-", " ").replace(".", " ").split()
    return [part for word in plain for part in parts_of_name(word)]


def _names(run: str, parts: list[str]) -> list[str]:
    """The names in a run of several parts: of a file, and of what is in code."""
    run = run.strip("_-.").lower()
    before, dot, ending = run.rpartition(".")
    if dot and before and 0 < len(ending) <= _LONGEST_ENDING and ending.isalpha():
        return [run]
    return ["=" + "".join(parts).lower()]
