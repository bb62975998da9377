"""The figures as a table, and the questions that were missed, for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bench.judging.asking import UNASKED, Answer, Reaction
from bench.judging.metrics import FIGURES
from recollect import Memory
from recollect.model.sessions import Turn

_WIDTH = 200
_TOP = 5


def table(report: dict[str, dict[str, Any]]) -> str:
    """A line for each part and mode, then for each kind of question.

    Below them what injection came to.
    """
    names = (*FIGURES, "p50_ms", "questions")
    rows = [
        (
            "part",
            "mode",
            "kind",
            *(name.replace("_at_", "@").replace("recall", "R") for name in names),
        )
    ]
    rows += [
        (
            part,
            mode,
            kind,
            *(
                f"{figures[name]:.3f}" if name != "questions" else str(figures[name])
                for name in names
            ),
        )
        for part, modes in report.items()
        for mode, whole in modes.items()
        if mode not in UNASKED
        for kind, figures in [("", whole), *whole.get("by", {}).items()]
    ]
    lines = _aligned(rows)
    for part, modes in report.items():
        for face in UNASKED:
            if said := modes.get(face):
                lines += [
                    "",
                    f"{part} {face}: "
                    + ", ".join(f"{name} {value}" for name, value in said.items()),
                ]
    return "\n".join(lines)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def missed(memory: Memory, given: Iterable[Answer]) -> Iterator[str]:
    """Questions whose evidence is not all among the first ten hits, each with
    where it is and what was found instead.
    """
    for answer in given:
        question = answer.question
        if answer.figures["recall_at_10"] == 1:
            continue
        lines = [f"{question.id} ({question.kind}, {answer.mode}): {question.text}"]
        for ref in sorted(question.evidence):
            place = f"rank {answer.ranks[ref]}" if ref in answer.ranks else "not found"
            lines.append(f"  wanted  {ref}  {place}: {_words(memory, ref)}")
        for hit in answer.shown[:_TOP]:
            sort = "right" if hit.ref in question.evidence else "found"
            lines.append(f"  {sort}   {hit.ref}  {hit.score:.3f}: {_words(memory, hit.ref)}")
        yield "\n".join(lines)


def misjudged(memory: Memory, given: Iterable[Reaction]) -> Iterator[str]:
    """Prompts on which injection spoke and should not have, or
    did not say what would have helped.
    """
    for prompt, said in given:
        if (said.lines or said.helpful) and said.helpful.isdisjoint(said.lines):
            lines = [f"{prompt.id} ({prompt.kind}, injection): {prompt.text}"]
            lines += [f"  wanted  {ref}: {_words(memory, ref)}" for ref in sorted(said.helpful)]
            lines += [f"  said    {ref}: {_words(memory, ref)}" for ref in said.lines]
            yield "\n".join(lines)


def _words(memory: Memory, ref: str) -> str:
    turn = memory.show(ref)
    text = " ".join(f"{turn.prompt} {turn.reply}".split()) if isinstance(turn, Turn) else ""
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
