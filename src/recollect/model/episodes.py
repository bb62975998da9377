"""A task attempt: what was tried, step by step, and how it went.

Episodes are derived from the tasks of every session, and recorded live by
programs that want to. Field names are what `--json` prints; docs/json.md
promises them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from recollect.model.notes import Trust
from recollect.model.sessions import Outcome

# Recorded as it happened, or made of what a session came to.
EpisodeSource = Literal["live", "derived"]
PatternKind = Literal["tool_sequence", "decision_point", "error_recovery", "failure", "context"]


class Context(Struct, kw_only=True, frozen=True):
    """Where a task is done.

    What is not known is left out. Without a domain, it is the one
    that the settings give the project.
    """

    language: str | None = None
    domain: str | None = None
    tags: tuple[str, ...] = ()
    project: str | None = None


class Step(Struct, frozen=True, gc=False):
    """One thing that was done: a tool, what it was told to do, and what came of it."""

    tool: str
    action: str = ""
    latency_ms: int | None = None
    tokens: int | None = None
    success: bool | None = None
    observation: str = ""


class Ending(Struct, frozen=True, gc=False):
    """How an attempt ended.

    `outcome` is one of our words, or `failure` (fail) or `abstained` (abandoned).

    Without a duration, it is the time since the attempt was begun.
    """

    outcome: str
    result: str | None = None
    error: str | None = None
    duration_ms: int | None = None


class Reward(Struct, kw_only=True, frozen=True, gc=False):
    """How good an attempt was, between 0 and 1, and the parts that make it."""

    total: float
    outcome: float
    efficiency: float
    complexity: float
    quality: float


class Episode(Struct, kw_only=True):
    """One attempt. `ref` names it; that of a derived one is the turn in which the task begins.

    A derived one has the session and the turns it is made of. What a live
    one says is an agent's word; what a derived one says was seen in a log.
    """

    ref: str
    source: EpisodeSource
    task: str
    context: Context
    outcome: Outcome | None = None
    result: str | None = None
    error: str | None = None
    started_at: str | None = None
    duration_ms: int | None = None
    tokens: int | None = None
    steps: list[Step] = field(default_factory=list)
    reward: Reward | None = None
    session: str | None = None
    turns: list[int] = field(default_factory=list)
    agent: str | None = None
    trust: Trust = "assistant"


class Flushed(Struct, kw_only=True):
    """What became of the attempts that were completed since the last flush: so
    many were kept, so many were dropped.
    """

    kept: int
    dropped: int


class EpisodeHit(Struct, kw_only=True):
    """An earlier attempt that bears on a task.

    `parts` say what each consideration gave to the score, `why` in words.
    """

    episode: Episode
    score: float
    parts: dict[str, float]
    why: str


class Pattern(Struct, kw_only=True):
    """What recurs over attempts. `id` depends on kind and signature alone.

    `sessions` counts distinct sessions and recorded attempts, `went_well` those of them that
    say how it ended and ended well. `confidence` is the lower end of what that share may
    truly be. `evidence` are references of attempts, the newest first.
    """

    id: str
    kind: PatternKind
    signature: str
    sentence: str
    sessions: int
    went_well: int
    went_wrong: int
    confidence: float
    agents: list[str]
    projects: list[str]
    cross_agent: bool
    trust: Trust
    first_at: str | None
    last_at: str | None
    evidence: list[str] = field(default_factory=list)


class Heuristic(Struct, kw_only=True):
    """When this, do that: with how often it held when it was followed.

    `id` is that of the pattern it follows from.
    """

    id: str
    condition: str
    action: str
    confidence: float
    held: int
    failed: int
    status: Literal["active", "retired"]
    evidence: list[str] = field(default_factory=list)
