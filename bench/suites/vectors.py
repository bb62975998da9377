"""The index of a process that stays, alone: the ten vectors nearest to a question's, among 45,000.

The generated logs are words thrown together, and their vectors lie about
equally far from each other, which those of text that somebody wrote do not. So
here the turns are pieces of Python's own library, and the questions are about
pieces that are not among them. What is compared with is numpy multiplying
every vector and taking out the largest products, in one thread.
"""

from __future__ import annotations

import random
import sysconfig
import threading
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.judging.sets import Said, TalkSession, talk
from bench.measure import Figure, absolute, alternate, compared, spent
from bench.plan import Plan, say
from bench.queries import questions_about
from bench.talks import fill_with_talks
from recollect.embed.static import StaticEncoder
from recollect.recall.meaning import without_mean
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.vectors.resident import Index, build_index
from recollect.store.sqlite.vectors.stored import Vectors

TURNS = 45_000
QUESTIONS = 500
PIECE_CHARACTERS = 500
TURNS_IN_SESSION = 28
NEAREST = 10
RECALL = 0.98

Matrix = NDArray[np.float32]
Turns = NDArray[np.int64]


def figures(plan: Plan) -> list[Figure]:
    """How long a query takes, and how much of the truth it finds.

    When that is too little its speed means nothing.
    """
    chance = random.Random(1)
    pieces = list(_pieces())
    chance.shuffle(pieces)
    if len(pieces) < TURNS + 2 * QUESTIONS:
        raise SystemExit(
            f"bench: this Python's library has only {len(pieces):,} pieces of text; take one that "
            "has its tests"
        )
    questions = islice(questions_about(pieces[TURNS:], chance), QUESTIONS)
    index, turns, stored, asked = _indexed(
        plan, pieces[:TURNS], [" ".join(question) for question in questions]
    )
    recall = float(np.mean([_share_found(index, turns, stored, vector) for vector in asked]))
    if recall < RECALL:
        raise SystemExit(
            f"bench: the index finds {recall:.4f} of the {NEAREST} nearest, and {RECALL} is wanted"
        )
    return [
        vector_query(plan, index, stored, asked),
        absolute(
            "vector-recall",
            f"its recall@{NEAREST}",
            [recall],
            target=RECALL,
            unit="share",
            better="higher",
        ),
    ]


def vector_query(plan: Plan, index: Index, stored: Matrix, asked: list[array[float]]) -> Figure:
    """The search call of the index; a run asks all questions."""
    matrix = np.array(asked, np.float32)
    pairs = alternate(
        lambda: spent(lambda: [index.nearest(vector, NEAREST) for vector in asked]) / len(asked),
        lambda: spent(lambda: [nearest_exactly(stored, vector) for vector in matrix]) / len(asked),
        plan.runs_or(15),
    )
    title, exact = f"vector query among {len(stored):,}", "numpy comparing all, one thread"
    return compared("vector-query", title, exact, pairs, target=1 / 50, unit="s CPU")


def nearest_exactly(stored: Matrix, vector: Matrix) -> Turns:
    """The rows nearest to a vector, in no order."""
    found: Turns = np.argpartition(stored @ vector, -NEAREST)[-NEAREST:]
    return found


def _share_found(index: Index, turns: Turns, stored: Matrix, vector: array[float]) -> float:
    """How many of the nearest the index finds.

    One that is as near as the last of them is as good.
    """
    near = stored @ np.array(vector)
    least = np.sort(near)[-NEAREST] - 1e-6
    found = np.searchsorted(turns, index.nearest(vector, NEAREST))
    return float((near[found] >= least).sum()) / NEAREST


def _indexed(
    plan: Plan, pieces: list[str], questions: list[str]
) -> tuple[Index, Turns, Matrix, list[array[float]]]:
    """An index over the vectors of these pieces, their turns and vectors, and the
    vectors of questions as a search has them.
    """
    say(f"making a store of {len(pieces):,} pieces of text")
    home = plan.home("pieces", redact=False)
    said = [Said(piece) for piece in pieces]
    starts = range(0, len(said), TURNS_IN_SESSION)
    log = talk(
        [TalkSession(str(start), None, said[start : start + TURNS_IN_SESSION]) for start in starts]
    )(home)
    fill_with_talks(plan.environ(home), [log], len(pieces))
    db = Database(str(home / "recollect.db"))
    state = Vectors(db).state()
    index = state and build_index(db, state, threading.Event())
    rows, common, encoder = (
        db.rows("select turn, codes from vectors order by turn"),
        Vectors(db).mean(),
        StaticEncoder(),
    )
    db.close()
    if not index:
        raise RuntimeError("no index was made")
    stored = (
        np.frombuffer(b"".join(codes for _, codes in rows), np.int8)
        .reshape(len(rows), -1)
        .astype(np.float32)
    )
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    asked = [
        vector
        for question in questions
        if (vector := without_mean(encoder.encode_query(question), common)) is not None
    ]
    return index, np.array([turn for turn, _ in rows]), stored, asked


def _pieces() -> Iterator[str]:
    """Texts of about the length of a turn's prompt and reply; tables of numbers are left out."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        text = (
            path.read_text(encoding="utf-8", errors="replace")
            if "site-packages" not in path.parts
            else ""
        )
        for start in range(0, len(text), PIECE_CHARACTERS):
            piece = text[start : start + PIECE_CHARACTERS]
            if sum(map(str.isalpha, piece)) > PIECE_CHARACTERS / 5:
                yield piece
