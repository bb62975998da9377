"""What it costs to say what every session came to, against importing the same sessions.

Each side runs in a fresh process with the modules it imports. The import is the
usual one, which takes secrets out; a second figure is against one without.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.measure import Figure, Pair, alternate, compared
from bench.plan import Plan, child, say


def figures(plan: Plan) -> list[Figure]:
    """Both figures of this suite."""
    return [digest(plan), digest_plain(plan)]


def digest(plan: Plan) -> Figure:
    """Against an import as it is done unless somebody turns redaction off."""
    pairs = _pairs(plan, redact=True)
    return compared(
        "digest",
        "digests of all sessions",
        "importing them",
        pairs,
        target=0.5,
        unit="s CPU",
    )


def digest_plain(plan: Plan) -> Figure:
    """Against the least that an import can cost."""
    pairs = _pairs(plan, redact=False)
    title, against = (
        "digests of all sessions, redaction off",
        "importing them, redaction off",
    )
    return compared("digest-plain", title, against, pairs, target=None, unit="s CPU")


def _pairs(plan: Plan, *, redact: bool) -> list[Pair]:
    """All digests of a store that has none, and importing the corpus once more."""
    full = plan.full_store()
    home = _empty(plan, "digested", redact=redact)

    def ours() -> float:
        _empty(plan, "digested", redact=redact)
        shutil.copy(full / "recollect.db", home)
        made = child(["digest"], plan.environ(home))
        say(f"digests: {made['seconds']:.2f} s for {made['sessions']:,.0f} sessions")
        return made["seconds"]

    def reference() -> float:
        return child(["import"], plan.environ(_empty(plan, "imported", redact=redact)))["seconds"]

    return alternate(ours, reference, plan.runs_or(5))


def _empty(plan: Plan, name: str, *, redact: bool) -> Path:
    """A home without a store."""
    home = plan.home(f"{name}-redacted" if redact else name, redact=redact)
    for path in home.glob("recollect.db*"):
        path.unlink()
    return home
