"""What a full import takes: disk for the store, memory while it runs.

Measured with redaction, as users run it. When the import suite ran before, its
imports are looked at; else the corpus is imported here.
"""

from __future__ import annotations

import json

from bench.measure import Figure, absolute, compared
from bench.plan import Plan
from bench.suites.full_import import IMPORTS, measured


def figures(plan: Plan) -> list[Figure]:
    """Both figures, from the same imports."""
    earlier = plan.work / IMPORTS
    imports = (
        json.loads(earlier.read_text())
        if earlier.exists()
        else measured(plan, "redacted", redact=True)[1]
    )
    return [store_size(plan, imports), peak_memory(imports)]


def store_size(plan: Plan, imports: list[dict[str, float]]) -> Figure:
    """The store with its text index, as the import leaves it, against the logs."""
    raw = plan.corpus.size_bytes() / 1e6
    pairs = [(one["store_bytes"] / 1e6, raw) for one in imports]
    return compared("store-size", "store size", "the raw logs", pairs, target=0.6, unit="MB")


def peak_memory(imports: list[dict[str, float]]) -> Figure:
    """The high-water mark of the importing process."""
    samples = [one["peak_bytes"] / 1e6 for one in imports]
    return absolute("peak-memory", "peak memory of the full import", samples, target=300, unit="MB")
