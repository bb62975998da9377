"""What recurs over sessions and agents, and what follows from it.

Everything here is derived and says from which turns. Field names are what
`--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from recollect.model.notes import Trust

PatternKind = Literal[
    "tool_sequence", "decision_point", "error_recovery", "failure", "friction", "context"
]
PatternStatus = Literal["candidate", "accepted", "published", "rejected", "retired"]


class Signal(Struct, kw_only=True, gc=False):
    """One thing seen in one session that may be part of a pattern.

    The signature is the same wherever the same thing is seen, whoever does it:
    normalised commands and tools, classes of errors, kinds of files. What is
    said about it is composed of that alone.
    """

    kind: PatternKind
    signature: str
    turn: int
    went_well: bool | None
    trust: Trust = "tool-verified"


class Sighting(Struct, kw_only=True):
    """Where a pattern was seen: a line of its evidence."""

    ref: str
    agent: str
    project: str | None
    at: str | None
    went_well: bool | None
    live: bool = True


class Pattern(Struct, kw_only=True):
    """What recurs. `id` depends on kind and signature alone, so it stays while the evidence stands.

    `sessions` counts distinct sessions, `went_well` those of them that say how
    it ended and ended well. `confidence` is the lower end of what that share
    may truly be, `strength` the confidence faded by how long it was not seen.
    """

    id: str
    kind: PatternKind
    signature: str
    sentence: str
    status: PatternStatus
    version: int
    sessions: int
    went_well: int
    went_wrong: int
    confidence: float
    strength: float
    agents: list[str]
    projects: list[str]
    cross_agent: bool
    trust: Trust
    first_at: str | None
    last_at: str | None
    evidence: list[Sighting] = field(default_factory=list)
    helpful: int = 0
    harmful: int = 0


class PatternVersion(Struct, kw_only=True):
    """One state a pattern was in: who made it so, when and why."""

    version: int
    status: PatternStatus
    sentence: str
    sessions: int
    author: Literal["rules", "person"]
    at: str
    why: str = ""


class Heuristic(Struct, kw_only=True):
    """When this, do that: with how often it held when it was followed."""

    id: str
    condition: str
    action: str
    confidence: float
    held: int
    failed: int
    status: Literal["active", "retired"]
    patterns: list[str]
    evidence: list[Sighting] = field(default_factory=list)
