"""Everyday English: persona chats and public-domain novels.

    python -m train.general MIRRORS RAW

Code and manuals alone make a poor table for the words people chat with.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from train.extract import git
from train.pairs import Pair, squeeze, write_pairs

PERSONAS = "google-research-datasets+Synthetic-Persona-Chat"  # CC-BY-4.0
CHATS = ("data/Synthetic-Persona-Chat_valid.csv", "data/Synthetic-Persona-Chat_test.csv")
NOVELS = "GITenberg+*"  # Project Gutenberg, one repository for each book


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("raw", type=Path)
    args = parser.parse_args()
    args.raw.mkdir(parents=True, exist_ok=True)

    if (args.mirrors / PERSONAS).is_dir():
        tables = [git(args.mirrors / PERSONAS, "show", f"HEAD:{path}") for path in CHATS]
        write_pairs(
            args.raw / f"{PERSONAS}.jsonl",
            (pair for table in tables for pair in persona_pairs(table)),
        )
    novels = [_novel(mirror) for mirror in sorted(args.mirrors.glob(NOVELS))]
    write_pairs(
        args.raw / "gutenberg.jsonl", (pair for novel in novels for pair in novel_pairs(novel))
    )


def persona_pairs(table: str) -> Iterator[Pair]:
    """Turn and next turn; a fact about a person and the turn that shows it best."""
    _, *rows = csv.reader(io.StringIO(table))
    for facts, other_facts, conversation, *_ in rows:
        said = [line.split(": ", 1)[1].strip() for line in conversation.split("\n") if ": " in line]
        for one, following in pairwise(said):
            if min(len(one), len(following)) > 18:
                yield Pair("chat", one, following)
        for fact in f"{facts}\n{other_facts}".split("\n"):
            shown = max(said, key=lambda turn: len(_words(fact) & _words(turn)), default="")
            if len(_words(fact) & _words(shown)) >= 2:
                yield Pair("persona", fact.strip(), shown)
        if len(said) > 8:
            yield Pair("chatctx", " ".join(said[:4])[:400], " ".join(said[4:12])[:600])


def novel_pairs(book: str) -> Iterator[Pair]:
    """Paragraph and next paragraph, and single sentences."""
    paragraphs = [squeeze(paragraph) for paragraph in re.split(r"\n\s*\n", book)]
    paragraphs = [paragraph for paragraph in paragraphs if len(paragraph) > 60]
    for one, following in pairwise(paragraphs):
        yield Pair("prose", one[-350:], following[:500])
    for paragraph in paragraphs:
        for sentence in re.split(r"(?<=[.!?])[\"”]?\s+", paragraph):
            if 40 < len(sentence) < 300:
                yield Pair("plain", sentence)


def _novel(mirror: Path) -> str:
    """A book's own text, without the frame that Project Gutenberg puts around it."""
    names = git(mirror, "ls-tree", "--name-only", "HEAD").splitlines()
    texts = [name for name in names if re.fullmatch(r"\d+(-0|-8)?\.txt", name)]
    if not texts:
        return ""
    book = git(mirror, "show", f"HEAD:{texts[0]}").replace("\r", "")
    start, end = book.find("*** START"), book.find("*** END")
    return book[book.find("\n", start) + 1 if start >= 0 else 0 : end if end >= 0 else None]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


if __name__ == "__main__":
    main()
