"""Makes questions out of statements: some of their words behind the opening of a question.

    python -m train.ask DATA

Real questions are rarer in documentation than answers. Reads the train.jsonl
of filter.py; writes extra.jsonl, and dev2.jsonl, which is dev.jsonl and one in
256 of these.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from train.filter import fingerprint
from train.pairs import Pair, read_pairs, write_pairs

WORD = re.compile(r"[A-Za-z0-9_'.-]*[A-Za-z0-9]")
# Names are shared within a stretch of about one training batch, so that a
# name alone does not tell the answer.
STRETCH = 4300
NAMES_IN_STRETCH = 24
TECHNICAL = ("sec", "cbody", "sent", "docbody", "cmd")

ASK_CHAT = (
    "What does {name} {words}?",
    "When did {name} {words}?",
    "Where does {name} {words}?",
    "Who {words} with {name}?",
    "How does {name} feel about {words}?",
    "What did {name} say about {words}?",
    "Why does {name} {words}?",
    "Did {name} {words}?",
    "What is {name}'s {words}?",
    "Which {words} did {name} mention?",
    "How long has {name} {words}?",
    "What kind of {words} does {name} have?",
    "What {words}?",
)
ASK_TECHNICAL = (
    "how did we {words}",
    "where is {words}",
    "why does {words}",
    "what was the fix for {words}",
    "how to {words}",
    "{words}",
    "{words}",
    "when did we change {words}",
    "which file has {words}",
    "{words} not working",
    "error {words}",
    "what do we know about {words}",
    "did we ever {words}",
)
NAMES = Path(__file__).with_name("names.txt").read_text(encoding="utf-8").split()
STOP_WORDS = set(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data

    made = list(questions(read_pairs(data / "train.jsonl"), random.Random(5)))
    held_back = [pair for pair in made if _is_development(pair)]
    write_pairs(data / "extra.jsonl", (pair for pair in made if not _is_development(pair)))
    with (data / "dev2.jsonl").open("w", encoding="utf-8") as file:
        file.write((data / "dev.jsonl").read_text(encoding="utf-8"))
        for kind, asked, answer in held_back:
            # The stretches matter to the batches of training only.
            file.write(
                json.dumps([re.sub(r"\d+", "", kind), asked, answer, "made"], ensure_ascii=False)
                + "\n"
            )
    print(f"{len(made) - len(held_back)} questions, and {len(held_back)} for development")


def questions(pairs: Iterable[Pair], rng: random.Random) -> Iterator[Pair]:
    chat: list[tuple[str, str]] = []
    technical: list[tuple[str, str]] = []
    for kind, asked, answer in pairs:
        if kind == "persona":
            chat += [(asked, answer), (asked, answer), (answer, answer)]
        elif kind == "chat" and len(answer) > 40 and not answer.rstrip().endswith("?"):
            chat.append((answer, answer))
        elif kind == "plain" and rng.random() < 0.35:
            chat.append((asked, asked))
        elif kind in TECHNICAL and rng.random() < 0.2:
            technical.append((asked, answer))

    rng.shuffle(chat)
    for number, (statement, answer) in enumerate(chat):
        stretch = number // STRETCH
        names = [NAMES[(stretch * 37 + step * 7) % len(NAMES)] for step in range(NAMES_IN_STRETCH)]
        name, other = rng.choice(names), rng.choice(names)
        if words := thin(statement, rng.uniform(0.35, 0.75), rng):
            asked = rng.choice(ASK_CHAT).format(
                name=name, words=words.lower() if rng.random() < 0.5 else words
            )
            # Sometimes somebody else said it: the words must be able to win against the name.
            yield Pair(
                f"ask{stretch:02d}", asked, f"{name if rng.random() < 0.85 else other}: {answer}"
            )
    for statement, answer in technical:
        words = thin(statement, rng.uniform(0.4, 0.9), rng)
        if len(words) > 5:
            yield Pair("askt", rng.choice(ASK_TECHNICAL).format(words=words), answer)


def thin(statement: str, keep: float, rng: random.Random) -> str:
    """Some of the words that carry the meaning of a statement, in order; at most eight."""
    words = [word for word in WORD.findall(statement) if word.lower() not in STOP_WORDS]
    count = min(len(words), max(1, min(8, round(len(words) * keep))))
    return " ".join(words[place] for place in sorted(rng.sample(range(len(words)), count)))


def _is_development(pair: Pair) -> bool:
    return fingerprint(pair.answer.split(": ", 1)[-1]) % 256 == 0


if __name__ == "__main__":
    main()
