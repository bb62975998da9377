"""Stores made of talks: short turns, without the bulk of an agent's log,
captured and embedded like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.judging.sets import TALK
from bench.judging.stores import Talk
from recollect import Memory


def fill_with_talks(environ: dict[str, str], paths: Sequence[Path], turns: int) -> None:
    """Import these talks and make their vectors; fewer turns than promised are a failure."""
    with Memory.open(environ=environ, adapters={TALK: Talk()}) as memory:
        report = memory.import_logs(paths)
        if report.turns != turns or report.problems:
            raise RuntimeError(
                f"{report.turns:,} of {turns:,} turns were imported, with {report.problems} "
                "problems"
            )
        *_, embedded = memory.store.embed()
        if embedded.remaining:
            raise RuntimeError(f"{embedded.remaining:,} turns were not embedded")
