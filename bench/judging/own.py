"""Our own set: what a developer asks about sessions with coding agents.

`bench/sets/own` writes the logs and the questions. Of its kinds, `silent` and
`speak` are prompts as an agent gets them, judged by what would be injected;
the others are questions, judged by what a search finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Group
from collections.abc import Iterator
from pathlib import Path

from bench.judging.sets import Collection, LabelledSet, Question, digest_of, session_of
from bench.sets.own import make
from recollect.errors import UsageError


def load(data: Path | None, categories: Group[str] = ()) -> LabelledSet:
    """The set, with the questions of these kinds; of all kinds when none is named."""
    if data is not None:
        raise UsageError("our own set is part of the project", hint="leave out --data")
    left_out: Counter[str] = Counter()
    # The sample sessions are part of it, and so is what plays the scripts of both.
    digest = digest_of([make.HERE, make.ROOT / "tools"])
    return LabelledSet("own", digest, _collection(categories, left_out), left_out)


def _collection(categories: Group[str], left_out: Counter[str]) -> Iterator[Collection]:
    questions = []
    for row in make.questions():
        if categories and row.kind not in categories:
            left_out[f"questions of kind {row.kind}"] += 1
        else:
            questions.append(_question(row))
    yield Collection("own", questions, make.build)


def _question(row: make.Question) -> Question:
    return Question(
        id=row.id,
        part=row.part,
        kind=row.kind,
        text=row.text,
        evidence=frozenset(row.answers),
        sessions=frozenset(map(session_of, row.answers)),
        project=row.cwd,
    )
