"""Asks a memory the questions of a labelled set, as they were typed, and judges what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from bench.judging.metrics import Injection, judged, summary
from bench.judging.sets import Question
from recollect import Memory
from recollect.lookup import Hit

MODES = ("text", "vector", "hybrid")
# What an agent gets unasked is judged apart from what a search finds.
PROMPTS = ("silent", "speak")
# What a person sees of a search, and how far down we look for sessions and first ranks.
SHOWN, DEEP = 10, 200


@dataclass(frozen=True)
class Answer:
    """One question as one mode of search answered it: what is shown, in how long, and where the evidence came."""

    question: Question
    mode: str
    shown: Sequence[Hit]
    ranks: dict[str, int]
    figures: dict[str, float]
    seconds: float


# A prompt with what would be injected for it.
Reaction = tuple[Question, Injection]


def answers(memory: Memory, questions: Iterable[Question], mode: str) -> Iterator[Answer]:
    """What a mode of search finds for each question.

    The first ten hits are asked for as a person would, and timed; the longer
    list only adds what comes after them.
    """
    memory.search("the first search opens the store", mode=mode)
    for question in questions:
        start = perf_counter()
        shown = memory.search(question.text, mode=mode, limit=SHOWN)
        seconds = perf_counter() - start
        deep = memory.search(question.text, mode=mode, limit=DEEP)
        found = list(dict.fromkeys(hit.ref for hit in (*shown, *deep)))
        ranks = {ref: rank for rank, ref in enumerate(found, 1) if ref in question.evidence}
        yield Answer(question, mode, shown.hits, ranks, judged(found, question.evidence, question.sessions), seconds)


def reactions(memory: Memory, prompts: Iterable[Question]) -> Iterator[Reaction]:
    """What would be injected for each prompt, in its project."""
    for prompt in prompts:
        pack = memory.recall(prompt.text, folder=prompt.project)
        yield prompt, Injection([line.ref for line in pack.lines], prompt.evidence)


def figures(given: Sequence[Answer], *, by_kind: bool = False) -> dict[str, object]:
    """The figures of some answers of one mode, and when asked for those of each kind of question."""
    whole: dict[str, object] = dict(_summary(given))
    if by_kind:
        kinds = sorted({answer.question.kind for answer in given})
        whole["by"] = {kind: _summary([answer for answer in given if answer.question.kind == kind]) for kind in kinds}
    return whole


def _summary(given: Sequence[Answer]) -> dict[str, float]:
    return summary([answer.figures for answer in given], [answer.seconds for answer in given])
