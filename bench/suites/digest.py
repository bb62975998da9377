"""What it costs to say what every session came to, against importing the same sessions.

Each side runs in a fresh process with the modules it imports. The import is
the one without redaction, which is the faster one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.measure import Figure, alternate, compared
from bench.plan import Plan, child, say


def figures(plan: Plan) -> list[Figure]:
    """The one figure of this suite."""
    return [digest(plan)]


def digest(plan: Plan) -> Figure:
    """All digests of a store that has none, and importing the corpus once more."""
    full, home = plan.full_store(), plan.home("digested", redact=False)

    def ours() -> float:
        _clear(plan, "digested")
        shutil.copy(full / "recollect.db", home)
        made = child(["digest"], plan.environ(home))
        say(f"digests: {made['seconds']:.2f} s for {made['sessions']:,.0f} sessions")
        return made["seconds"]

    def reference() -> float:
        return child(["import"], plan.environ(_clear(plan, "imported")))["seconds"]

    pairs = alternate(ours, reference, plan.runs_or(5))
    return compared("digest", "digests of all sessions", "importing them, redaction off", pairs, target=1, unit="s CPU")


def _clear(plan: Plan, name: str) -> Path:
    home = plan.home(name, redact=False)
    for path in home.glob("recollect.db*"):
        path.unlink()
    return home
