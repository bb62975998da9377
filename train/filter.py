"""Merges the raw pairs, drops doubles and whatever the evaluation sets
hold, and splits off a development part.

    python -m train.filter RAW EVALUATION.json DATA

EVALUATION.json is {set: [{"docs": [text, ...], "qs": [{"q": text}, ...]}, ...]}.
A pair is dropped when a side equals an evaluation text, or when more than a
tenth of its runs of ten words occur in one. The development part is whole
repositories, and one in a hundred of the kinds that those do not have.
Writes train.jsonl, and dev.jsonl with the repository as a fourth field.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path

from train.pairs import Pair, read_pairs, write_pairs
from train.repositories import DEVELOPMENT

RUN_WORDS = 10
SPLIT_KINDS = {"cmd", "persona", "chat", "intent", "mdcode", "err", "cbody"}
# The kinds of which there is so much that it would drown the others.
MOST = {
    "ident": 70_000,
    "sent": 70_000,
    "docbody": 60_000,
    "err": 60_000,
    "cpath": 35_000,
    "cbody": 40_000,
    "sec": 110_000,
    "head": 60_000,
    "test": 40_000,
    "plain": 60_000,
    "mdcode": 70_000,
}


class Evaluation:
    """The texts that must not be learned."""

    def __init__(self, texts: Iterable[str]) -> None:
        plain = [normalise(text) for text in texts]
        self._whole = set(plain)
        self._runs = {run for text in plain for run in _runs(text)}

    def holds(self, text: str) -> bool:
        plain = normalise(text)
        runs = _runs(plain)
        return plain in self._whole or sum(run in self._runs for run in runs) > 0.1 * len(runs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("raw", type=Path)
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("data", type=Path)
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)

    sets = json.loads(args.evaluation.read_text(encoding="utf-8"))
    groups = [group for groups in sets.values() for group in groups]
    evaluation = Evaluation(
        text
        for group in groups
        for text in [*group["docs"], *(asked["q"] for asked in group["qs"])]
    )
    raw = {path.stem: read_pairs(path) for path in sorted(args.raw.glob("*.jsonl"))}
    train, development, dropped = divide(raw, evaluation)
    write_pairs(args.data / "train.jsonl", train)
    with (args.data / "dev.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps([*pair, name], ensure_ascii=False) + "\n" for pair, name in development
        )
    print(
        f"{len(train)} to train on, {len(development)} for development, {dropped} dropped for the "
        "evaluation sets"
    )


def divide(
    raw: dict[str, Iterable[Pair]], evaluation: Evaluation
) -> tuple[list[Pair], list[tuple[Pair, str]], int]:
    """Training pairs in random order, development pairs with their
    repository, and how many were dropped.
    """
    rng = random.Random(3)
    seen: set[int] = set()
    by_kind: dict[str, list[Pair]] = {}
    development = []
    dropped = 0
    for name, pairs in raw.items():
        for pair in pairs:
            key = fingerprint(f"{normalise(pair.asked)}|{normalise(pair.answer)[:300]}")
            if key in seen:
                continue
            seen.add(key)
            if evaluation.holds(pair.asked) or (pair.answer and evaluation.holds(pair.answer)):
                dropped += 1
            elif name in DEVELOPMENT or (
                pair.kind in SPLIT_KINDS and fingerprint(normalise(pair.answer)) % 100 == 0
            ):
                development.append((pair, name))
            else:
                by_kind.setdefault(pair.kind, []).append(pair)

    train = []
    for kind, pairs in by_kind.items():
        rng.shuffle(pairs)
        train += pairs[: MOST.get(kind)]
    rng.shuffle(train)
    return train, development, dropped


def normalise(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def fingerprint(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _runs(plain: str) -> list[int]:
    words = plain.split()
    return [
        fingerprint(" ".join(words[start : start + RUN_WORDS]))
        for start in range(len(words) - RUN_WORDS + 1)
    ]


if __name__ == "__main__":
    main()
