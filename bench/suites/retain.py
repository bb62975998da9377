"""What it costs to let go of the events of every turn, and what that gives back.

The store has the whole corpus and its digests. A run lets go of everything,
with the steps that it takes so that nobody waits long for the store; a second
one has nothing to do, which is what most runs after an import are like.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.measure import Figure, absolute, alternate, compared
from bench.plan import Plan, child, say

_BUDGET = "\n[retain]\nraw_hard_cap_bytes = 1\n"


def figures(plan: Plan) -> list[Figure]:
    """All figures, from the same runs."""
    digested, home = _digested_store(plan), plan.home("retained", redact=False)
    (home / "config.toml").write_text((digested / "config.toml").read_text() + _BUDGET)
    first: list[dict[str, float]] = []
    second: list[dict[str, float]] = []

    def ours() -> float:
        _clear(home)
        shutil.copy(digested / "recollect.db", home)
        first.append(child(["retain"], plan.environ(home)))
        second.append(child(["retain"], plan.environ(home)))
        one = first[-1]
        sizes = f"{one['before'] / 1e6:.1f} to {one['after'] / 1e6:.1f} MB"
        say(
            f"events of {one['turns']:,.0f} turns let go: {one['seconds']:.2f} s, longest step "
            f"{one['step']:.2f} s, {sizes}"
        )
        return one["seconds"]

    def reference() -> float:
        imported = plan.home("imported", redact=False)
        _clear(imported)
        return child(["import"], plan.environ(imported))["seconds"]

    pairs = alternate(ours, reference, plan.runs_or(5))
    sizes = [(one["after"] / 1e6, one["before"] / 1e6) for one in first]
    return [
        compared(
            "retain",
            "letting go of all events",
            "importing them, redaction off",
            pairs,
            target=None,
            unit="s CPU",
        ),
        compared(
            "retain-size",
            "store without events",
            "the store with them",
            sizes,
            target=None,
            unit="MB",
        ),
        absolute(
            "retain-step",
            "longest step of it",
            [one["step"] for one in first],
            target=None,
            unit="s wall",
            of=max,
        ),
        absolute(
            "retain-idle",
            "retention with nothing to do",
            [one["run"] for one in second],
            target=None,
            unit="s CPU",
        ),
    ]


def _digested_store(plan: Plan) -> Path:
    """The home of a store with all digests, made unless an earlier suite did it."""
    home = plan.home("digested", redact=False)
    if not (home / "recollect.db").exists():
        shutil.copy(plan.full_store() / "recollect.db", home)
        child(["digest"], plan.environ(home))
    return home


def _clear(home: Path) -> None:
    for path in home.glob("recollect.db*"):
        path.unlink()
