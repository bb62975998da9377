"""Runs of engines: who wrote a project's memory, when, and what that took."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

# A memory was kept; nothing was worth keeping; nobody could answer; the answer was no good.
EngineOutcome = Literal["kept", "nothing", "later", "gave_up"]


class EngineRun(Struct, kw_only=True):
    """One time that an engine was asked about a project.

    `dropped` counts the lines of its answer that were no good.
    """

    project: str | None
    engine: str
    model: str = ""
    outcome: EngineOutcome
    why: str = ""
    prompts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    lines: int = 0
    dropped: int = 0
    at: str | None = None


class EngineTotals(NamedTuple):
    """What several runs took."""

    runs: int
    tokens: int
    cost_usd: float
