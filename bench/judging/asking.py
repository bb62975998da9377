"""Asks a memory the questions of a labelled set, as they were typed, and judges what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import msgspec

from bench.judging.metrics import Injection, judged, share, summary
from bench.judging.sets import Question
from recollect import Memory
from recollect.model.search import Hit
from recollect.serve.hook import respond

MODES = ("text", "vector", "hybrid")
# What an agent gets unasked is judged apart from what a search finds.
PROMPTS = ("silent", "speak")
# Where that is in a report: what `recall` says, and what a hook does.
UNASKED = ("injection", "hook")
# What a person sees of a search, and how far down we look for sessions and first ranks.
SHOWN, DEEP = 10, 200


@dataclass(frozen=True)
class Answer:
    """One question as one mode of search answered it: what is shown, in how
    long, and where the evidence came.
    """

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
        yield Answer(
            question,
            mode,
            shown.hits,
            ranks,
            judged(found, question.evidence, question.sessions),
            seconds,
        )


def reactions(memory: Memory, prompts: Iterable[Question]) -> Iterator[Reaction]:
    """What would be injected for each prompt, in its project."""
    for prompt in prompts:
        pack = memory.recall(prompt.text, folder=prompt.project)
        yield prompt, Injection([line.ref for line in pack.lines], prompt.evidence)


def reactions_of_hook(memory: Memory, prompts: Iterable[Question]) -> Iterator[Reaction]:
    """What an agent is told when a person types each prompt, by the code that its hook runs."""
    for prompt in prompts:
        # Each in a session of its own, because a session is told nothing twice; one
        # that keeps no log is told nothing at all.
        common = {
            "session_id": prompt.id,
            "transcript_path": "/nowhere/rollout.jsonl",
            "cwd": prompt.project,
        }
        passed = {**common, "prompt": prompt.text}
        answer = respond(
            "codex",
            "UserPromptSubmit",
            msgspec.json.encode(passed),
            {"RECOLLECT_HOME": memory.settings.home},
        )
        told = (
            msgspec.json.decode(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
        )
        # Between the lines of the frame: dash, date and reference.
        yield (
            prompt,
            Injection(
                [line.split()[2].rstrip(":") for line in told.splitlines()[1:-1]], prompt.evidence
            ),
        )


def agreement(hook: Iterable[Reaction], recall: Iterable[Reaction]) -> float | None:
    """The share of the lines a hook told that `recall` tells too, for
    the same prompts in the same order.
    """
    told = [
        ref in recalled.lines
        for (_, said), (_, recalled) in zip(hook, recall, strict=True)
        for ref in said.lines
    ]
    return share(told)


def figures(given: Sequence[Answer], *, by_kind: bool = False) -> dict[str, object]:
    """The figures of some answers of one mode, and when asked
    for those of each kind of question.
    """
    whole: dict[str, object] = dict(_summary(given))
    if by_kind:
        kinds = sorted({answer.question.kind for answer in given})
        whole["by"] = {
            kind: _summary([answer for answer in given if answer.question.kind == kind])
            for kind in kinds
        }
    return whole


def _summary(given: Sequence[Answer]) -> dict[str, float]:
    return summary([answer.figures for answer in given], [answer.seconds for answer in given])
