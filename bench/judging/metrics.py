"""The figures: how much of what answers a question is found, and how high.

Each is the mean over questions. *Recall* is the share of a question's evidence
among the first hits, *hit* whether any of it is there. The reciprocal rank is
that of the first evidence in the whole list, 0 when it is not in it. nDCG
knows only evidence and the rest.

For sessions, the turns found are followed from the best down, and each session
counts where it is met first: sessions are ranked by their best turn. The first
ten *sessions* of a list long enough to hold ten are compared with the sessions
of the evidence. (The sessions of the first ten turns would be another figure:
it falls when a search finds several turns of the right session.)
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import log2

from bench.judging.sets import session_of

FIGURES = (
    "recall_at_1", "recall_at_5", "recall_at_10", "hit_at_10", "mrr", "ndcg_at_10",
    "session_recall_at_10", "session_hit_at_10",
)  # fmt: skip


def judged(
    found: Sequence[str], evidence: AbstractSet[str], sessions: AbstractSet[str]
) -> dict[str, float]:
    """The figures of one question, by name; `found` are references, the best first."""
    found_sessions = list(dict.fromkeys(map(session_of, found)))
    return {
        "recall_at_1": recall(found[:1], evidence),
        "recall_at_5": recall(found[:5], evidence),
        "recall_at_10": recall(found[:10], evidence),
        "hit_at_10": float(not evidence.isdisjoint(found[:10])),
        "mrr": next((1 / rank for rank, ref in enumerate(found, 1) if ref in evidence), 0.0),
        "ndcg_at_10": ndcg(found[:10], evidence),
        "session_recall_at_10": recall(found_sessions[:10], sessions),
        "session_hit_at_10": float(not sessions.isdisjoint(found_sessions[:10])),
    }


def recall(found: Sequence[str], wanted: AbstractSet[str]) -> float:
    """The share of what is wanted that was found."""
    return len(wanted & set(found)) / len(wanted)


def ndcg(found: Sequence[str], wanted: AbstractSet[str]) -> float:
    """The gain of this order against that of the best one of the same length."""
    gain = sum(1 / log2(rank + 1) for rank, ref in enumerate(found, 1) if ref in wanted)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    return gain / best


def summary(rows: Sequence[dict[str, float]], seconds: Sequence[float]) -> dict[str, float]:
    """The means of some questions' figures, and the median time of a search."""
    means = {name: round(statistics.fmean(row[name] for row in rows), 4) for name in FIGURES}
    return {**means, "p50_ms": round(statistics.median(seconds) * 1000, 3), "questions": len(rows)}


@dataclass(frozen=True)
class Injection:
    """What was injected for one prompt: the references of the lines,
    and those that would have helped.

    No reference helps when it should have stayed silent.
    """

    lines: list[str]
    helpful: frozenset[str]


def injection_summary(prompts: Sequence[Injection]) -> dict[str, float | None]:
    """How often injection is right when it speaks, and silent when it should be.

    `precision`: of the prompts it spoke on, those with a line that helps.
    `line_precision`: of all lines, those that help. `silence`: of the prompts
    that nothing helps, those it was silent on. `spoke`: of the others, those
    it spoke on. A share of nothing is None.
    """
    spoken = [prompt for prompt in prompts if prompt.lines]
    lines = [ref in prompt.helpful for prompt in spoken for ref in prompt.lines]
    return {
        "precision": share([not prompt.helpful.isdisjoint(prompt.lines) for prompt in spoken]),
        "line_precision": share(lines),
        "silence": share([not prompt.lines for prompt in prompts if not prompt.helpful]),
        "spoke": share([bool(prompt.lines) for prompt in prompts if prompt.helpful]),
        "prompts": len(prompts),
    }


def share(answers: Sequence[bool]) -> float | None:
    """How many of these are true, as a share; None of nothing."""
    return round(sum(answers) / len(answers), 4) if answers else None
