"""What a session came to, and a project's memory made of that.

Everything here is derived and says from which turns. Field names are what
`--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from recollect.model.sessions import Outcome as Outcome
from recollect.model.sessions import Tokens

# What speaks for an outcome. For success: the person accepted it, or praised or thanked without
# a word of the work; a check that failed before passes; the work was kept (commit, merge, pull
# request); `check_passed` (never seen failing) proves little. Against: the person corrected it,
# pasted an error (`shown`), refused it or is annoyed, edits were taken back, the last check or
# command failed, the same call again and again, a time-out, the agent says that it did not
# manage, an abort. `left`: another topic began without a verdict.
EvidenceKind = Literal[
    "accepted", "praised", "check_fixed", "kept", "check_passed",
    "corrected", "shown", "refused", "annoyed", "reverted", "check_failed", "command_failed",
    "loop", "timeout", "admitted", "aborted", "left",
]  # fmt: skip


class Evidence(Struct, kw_only=True):
    """One thing that speaks for an outcome, and the turn it is in."""

    kind: EvidenceKind
    ref: str
    text: str = ""


class Run(Struct, kw_only=True):
    """A shell command; `check` says that it tells whether the work is
    right (tests, linters, builds).
    """

    ref: str
    command: str
    ok: bool | None
    exit_code: int | None = None
    check: bool = False


class Trouble(Struct, kw_only=True):
    """An error, and what made it go away.

    `worked` is the turn in which the same command passed, if it did.
    """

    ref: str
    error: str
    command: str | None = None
    steps: list[str] = field(default_factory=list)
    worked: str | None = None


class Task(Struct, kw_only=True):
    """One thing that was asked in a session, and how it went.

    `turns` are turn numbers, the first one first. `p` is the probability that it
    succeeded; an outcome is named only where that is sure.
    """

    title: str
    asked: str
    turns: list[int]
    outcome: Outcome
    p: float | None = None
    evidence: list[Evidence] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    errors: list[Trouble] = field(default_factory=list)
    tokens: Tokens = field(default_factory=Tokens)
    seconds: int | None = None


class Digest(Struct, kw_only=True):
    """What one session came to."""

    session: str
    project: str | None
    title: str
    outcome: Outcome
    summary: str
    tasks: list[Task] = field(default_factory=list)
    open_ends: list[str] = field(default_factory=list)
