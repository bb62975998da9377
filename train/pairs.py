"""A training pair, how it is kept in a file, and the text rules that every extractor shares."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SPACE = re.compile(r"\s+")
THREE_LETTERS = re.compile(r"[A-Za-z]{3}")
NAME_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


class Pair(NamedTuple):
    """Two texts that belong together; without an answer it is one plain sentence."""

    kind: str
    asked: str
    answer: str = ""


def read_pairs(path: Path) -> Iterator[Pair]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield Pair(*json.loads(line)[:3])


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(pair, ensure_ascii=False) + "\n")


def squeeze(text: str) -> str:
    """One line, one space between words."""
    return SPACE.sub(" ", text).strip()


def first_sentence(text: str) -> str:
    paragraph = squeeze(re.split(r"\n\s*\n", text.strip())[0])
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`\"'(])", paragraph)[0]


def fits(asked: str, answer: str, *, least_asked: int = 8, least_answer: int = 20) -> bool:
    """Whether both sides say something, and the question is English enough to be one."""
    return (
        least_asked <= len(asked) <= 400
        and len(answer) >= least_answer
        and THREE_LETTERS.search(asked) is not None
        and THREE_LETTERS.search(answer) is not None
        and asked.isascii()
    )


def spell_out(name: str) -> str:
    """An identifier as words."""
    return " ".join(NAME_PARTS.findall(name)).lower()
