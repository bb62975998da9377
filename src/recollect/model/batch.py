"""What capture hands a store: everything one source said up to a checkpoint.

A store keeps a batch whole or not at all. It is already free of secrets,
knows what its model calls cost; what only the store can decide (turn numbers, who
owns a model call that several files repeat) is left to it, and what needs the whole
session (its project) is settled when it is stored.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from recollect.model.logs import (
    Checkpoint,
    Event,
    Problem,
    SessionFacts,
    ToolResult,
    TurnFacts,
    Usage,
)


class Fingerprint(Struct, frozen=True):
    """What a source looked like when it was read; `head` and `tail` are hashes."""

    inode: int
    size_bytes: int
    mtime_ns: int
    head: int = 0
    tail: int = 0


class KnownSource(Struct, frozen=True):
    """What the store remembers about a source."""

    id: int
    agent: str
    path: str
    version: int
    fingerprint: Fingerprint
    checkpoint: Checkpoint
    failure: str | None


class ProjectIdentity(Struct, frozen=True):
    """What is known of the project of a folder.

    `folders` become aliases of a project that is more than a folder, and `parents`
    are those above that it may be a part of, the nearest first. `seen` says
    that git's own files on this machine said so; otherwise a log did. One
    that `gathers` holds the work of many projects: what lies below is not part of it.
    """

    key: str
    kind: Literal["remote", "repository", "directory"]
    folders: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    seen: bool = False
    gathers: bool = False


class SessionPlace(Struct, frozen=True):
    """Where a session began, as its log says."""

    cwd: str | None
    git_remote: str | None
    git_branch: str | None


class TurnPart(Struct):
    """The events one batch adds to one turn.

    `late` are results of calls that an earlier batch brought.
    """

    facts: TurnFacts
    events: list[Event] = field(default_factory=list)
    late: list[ToolResult] = field(default_factory=list)


class Batch(Struct):
    """One source's items up to a checkpoint, in the order they came."""

    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    turns: dict[tuple[str, str], TurnPart] = field(default_factory=dict)
    usages: dict[str, Usage] = field(default_factory=dict)
    costs: dict[str, float | None] = field(default_factory=dict)
    live: dict[tuple[str, str], bool] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    checkpoint: Checkpoint = Checkpoint(0)

    def is_empty(self) -> bool:
        """Whether it says nothing but how far a source was read."""
        return not (self.sessions or self.turns or self.usages or self.live or self.problems)


class Written(Struct):
    """What a batch changed in the store; `touched` are the numbers of the sessions."""

    touched: set[int] = field(default_factory=set)
    turns: int = 0
    tool_calls: int = 0
    events: int = 0
