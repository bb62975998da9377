"""Chooses the words of the model and turns every text into rows and weights.

    python -m train.prepare DATA CACHE [--words 40000] [--buckets 10000]

Reads train.jsonl, extra.jsonl and dev2.jsonl; writes words.txt, texts.json and
tokens.npz. `train.teacher` adds the vectors that the model is taught with.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recollect.embed.tokens import grams, tokens
from train.pairs import read_pairs

Result = TypeVar("Result")
# Whole identifiers get at most this share of the list, and must be seen this often.
WHOLE_SHARE, LEAST_WHOLE = 0.15, 15
# A listed but rare word is now and then spelled by its letters, so that the buckets learn too.
COMMON_WORDS, SPELLED_SHARE = 4000, 0.05
CHUNK = 4000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--words", type=int, default=40_000)
    parser.add_argument("--buckets", type=int, default=10_000)
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)

    learned = [
        pair for name in ("train.jsonl", "extra.jsonl") for pair in read_pairs(args.data / name)
    ]
    pairs = [pair for pair in learned if pair.answer]
    development = list(read_pairs(args.data / "dev2.jsonl"))
    texts = {
        "asked": [pair.asked for pair in pairs],
        "answer": [pair.answer for pair in pairs],
        "plain": [pair.asked for pair in learned if not pair.answer],
        "dev_asked": [pair.asked for pair in development],
        "dev_answer": [pair.answer for pair in development],
    }
    everything = texts["asked"] + texts["answer"] + texts["plain"]
    words, seen_in = choose_words(everything, args.words)
    (args.cache / "words.txt").write_text("\n".join(words), encoding="utf-8")
    (args.cache / "texts.json").write_text(json.dumps(texts), encoding="utf-8")

    arrays: dict[str, NDArray[np.generic]] = {}
    for side, of_side in texts.items():
        spelled = 0.0 if side.startswith("dev") else SPELLED_SHARE
        for name, array in tokenise(of_side, words, args.buckets, spelled).items():
            arrays[f"{side}_{name}"] = array
    np.savez(
        args.cache / "tokens.npz",
        **arrays,
        kinds=np.array([pair.kind for pair in pairs]),
        dev_kinds=np.array([pair.kind for pair in development]),
        # Equal sides in one batch are not wrong answers to each other; these tell which are equal.
        asked_hash=np.array([crc32(pair.asked.encode()) for pair in pairs], np.int64),
        answer_hash=np.array([crc32(pair.answer[:200].encode()) for pair in pairs], np.int64),
        dev_answer_hash=np.array([crc32(pair.answer.encode()) for pair in development], np.int64),
        document_share=np.array(seen_in) / len(everything),
        buckets=np.array(args.buckets),
    )
    print(
        f"{len(words)} words, {len(pairs)} pairs, {len(texts['plain'])} sentences, "
        f"{len(development)} for development"
    )


def choose_words(texts: list[str], most: int) -> tuple[list[str], list[int]]:
    """The words to list, most frequent first, each with the number of texts that hold it."""
    parts: Counter[str] = Counter()
    wholes: Counter[str] = Counter()
    for some_parts, some_wholes in _in_chunks(_count, texts):
        parts.update(some_parts)
        wholes.update(some_wholes)
    chosen = {
        word: seen
        for word, seen in wholes.most_common(int(most * WHOLE_SHARE))
        if seen >= LEAST_WHOLE
    }
    for word, seen in parts.most_common():
        if len(chosen) >= most:
            break
        chosen.setdefault(word, seen)
    ordered = sorted(chosen.items(), key=lambda entry: (-entry[1], entry[0]))
    return [word for word, _ in ordered], [seen for _, seen in ordered]


def tokenise(
    texts: list[str], words: list[str], buckets: int, spelled_share: float
) -> dict[str, NDArray[np.generic]]:
    """The rows of all texts one after the other, their weights, and where
    each text begins and the last ends.
    """
    vocabulary = {word: row for row, word in enumerate(words)}
    chunks = _in_chunks(
        partial(_weigh, vocabulary=vocabulary, buckets=buckets, spelled_share=spelled_share), texts
    )
    counts = [count for _, _, counts in chunks for count in counts]
    return {
        "rows": np.array([row for rows, _, _ in chunks for row in rows], np.int32),
        "weights": np.array([weight for _, weights, _ in chunks for weight in weights], np.float32),
        "starts": np.cumsum([0, *counts]),
    }


def _count(texts: list[str]) -> tuple[Counter[str], Counter[str]]:
    parts: Counter[str] = Counter()
    wholes: Counter[str] = Counter()
    for text in texts:
        for token, whole in set(tokens(text)):
            (wholes if whole else parts)[token] += 1
    return parts, wholes


def _weigh(
    texts: list[str], *, vocabulary: dict[str, int], buckets: int, spelled_share: float
) -> tuple[list[int], list[float], list[int]]:
    rng = random.Random(len(texts))
    rows: list[int] = []
    weights: list[float] = []
    counts: list[int] = []
    for text in texts:
        before = len(rows)
        for (token, whole), seen in Counter(tokens(text)).items():
            row = vocabulary.get(token)
            weight = math.sqrt(seen)
            spell = row is None or (
                not whole and row > COMMON_WORDS and rng.random() < spelled_share
            )
            if row is not None and not spell:
                rows.append(row)
                weights.append(weight)
            elif not whole:
                spelled = grams(token, buckets)
                rows += [len(vocabulary) + bucket for bucket in spelled]
                weights += [weight / len(spelled)] * len(spelled)
        if len(rows) == before:
            # Next to nothing instead of nothing: a direction is needed to compute a cosine.
            rows.append(0)
            weights.append(1e-6)
        counts.append(len(rows) - before)
    return rows, weights, counts


def _in_chunks(work: Callable[[list[str]], Result], texts: list[str]) -> list[Result]:
    chunks = [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]
    with Pool() as pool:
        return pool.map(work, chunks)


if __name__ == "__main__":
    main()
