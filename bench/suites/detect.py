"""What recurs over 1,617 sessions of three agents: whether it is found, whether
anything else is, and what that costs.

The sessions are made up (bench/habits.py): random work, into which habits of
every kind are planted, and as much of it without any. They are imported through
their agents' adapters, digested and learned from like any others.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from bench.habits import HABITS, Session, make_world
from bench.measure import Figure, absolute, spent
from bench.plan import Plan, say
from bench.scribes import adapters, write_logs
from recollect import Memory
from recollect.model.patterns import Pattern
from recollect.settings import Settings

SESSIONS, TURNS = 1617, 28
# Sessions that come one by one when all others are there.
LATE = 11
SEED = 7


def figures(plan: Plan) -> list[Figure]:
    """What is found and what is not, and what it costs."""
    planted = make_world(SESSIONS, seed=SEED, turns=TURNS, habits=HABITS)
    noise = make_world(SESSIONS, seed=SEED + 1, turns=TURNS)
    with _remembered(plan, "habits", planted[:-LATE]) as memory:
        learning = spent(lambda: _learn(memory))
        say(f"learned from {SESSIONS - LATE:,} sessions in {learning:.1f} s CPU")
        late = [_after_one_more(plan, memory, session) for session in planted[-LATE:]]
        whole = [_from_all(memory) for _ in range(plan.runs_or(5))]
        found = list(memory.old.detect(limit=None))
    with _remembered(plan, "noise", noise) as memory:
        _learn(memory)
        false = [*_not_planted(found, planted), *memory.old.detect(limit=None)]
    return [
        absolute(
            "detect", "everything counted and judged, 1,617 sessions", whole, target=3, unit="s CPU"
        ),
        absolute(
            "detect-one",
            "the same after one new session, with learning from it",
            late,
            target=0.05,
            unit="s CPU",
        ),
        absolute("learn", "learning from 1,606 sessions", [learning], target=None, unit="s CPU"),
        absolute(
            "patterns-found",
            "planted patterns found",
            [_share(found, planted)],
            target=0.95,
            unit="share",
            better="higher",
        ),
        absolute(
            "patterns-false",
            "others found, there and in as much noise",
            [float(len(false))],
            target=0,
            unit="patterns",
        ),
    ]


def _remembered(plan: Plan, name: str, world: Sequence[Session]) -> Memory:
    """A memory that has these sessions and their digests, and has learned nothing yet."""
    home = plan.work / name
    shutil.rmtree(home, ignore_errors=True)
    memory = Memory(
        Settings(str(home), str(home / "recollect.db"), {"redact.enabled": False}),
        adapters=adapters(),
    )
    _take_in(memory, home, world)
    return memory


def _take_in(memory: Memory, home: Path, world: Sequence[Session]) -> None:
    report = memory.import_logs(write_logs(world, home / "logs"))
    if report.sessions != len(world) or report.problems:
        raise RuntimeError(
            f"{report.sessions:,} of {len(world):,} sessions were imported, with {report.problems} "
            "problems"
        )
    for _ in memory.digest_new():
        pass


def _learn(memory: Memory) -> None:
    for _ in memory.old.learn():
        pass


def _after_one_more(plan: Plan, memory: Memory, session: Session) -> float:
    _take_in(memory, plan.work / "habits", [session])
    return spent(lambda: (_learn(memory), memory.old.detect()))


def _from_all(memory: Memory) -> float:
    """Detect within a selection, which is counted anew each time; this one leaves nothing out."""
    return spent(lambda: memory.old.detect(since="1970-01-01", limit=None))


def _share(found: Sequence[Pattern], world: Sequence[Session]) -> float:
    """How many of the planted patterns are there with exactly the
    sessions that they were planted in.
    """
    planted: dict[tuple[str, str], set[str]] = {}
    for session in world:
        for key in session.planted:
            planted.setdefault(key, set()).add(session.ref)
    right = [
        pattern for pattern in found
        if (carriers := planted.get((pattern.kind,
        pattern.signature))) is not None and pattern.sessions == len(carriers)
        and {sighting.ref.partition("#")[0] for sighting in pattern.evidence} <= carriers
    ]  # fmt: skip
    return len(right) / len(planted)


def _not_planted(found: Sequence[Pattern], world: Sequence[Session]) -> list[Pattern]:
    planted = {key for session in world for key in session.planted}
    return [pattern for pattern in found if (pattern.kind, pattern.signature) not in planted]
