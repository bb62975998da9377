"""A project's sessions out of the store, as the finders read them."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import accumulate
from typing import TYPE_CHECKING

from recollect.model.record import CallRecord, SessionRecord, TurnRecord
from recollect.model.search import Query, Scope
from recollect.model.sessions import SessionDetail, ToolCall, Turn

if TYPE_CHECKING:
    from recollect.store import Store

# What comes from outside may be written by anybody: what an agent says after it
# is not told unasked.
_FROM_OUTSIDE = ("web", "mcp")
# A command that fetches does what a web tool does: pages, issues, what others publish.
_FETCHES = re.compile(
    r"(?:^|[;&|(`\n]|\$\()\s*(?:\w+=\S*\s+|sudo\s+|timeout\s+\S+\s+)*(?:curl|wget|http|https|xh"
    r"|lynx|w3m"
    r"|(?:gh|glab|hub)\s+(?:issue|pr|mr|api|release|gist|search|run)|(?:npm|pnpm|yarn)\s+(?:view"
    r"|info|show)"
    r"|Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\b",
    re.IGNORECASE,
)
# What only asks this machine, and what only sends.
_ASKS_HERE = re.compile(
    r"localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|\b(?:pr|issue|mr|release)\s+(?:create|edit|merge"
    r"|close)\b"
)
# Files that came with somebody else's package, wherever they lie.
_OF_OTHERS = re.compile(
    r"(?:^|[/\\])(?:node_modules|vendor|third[_-]party|site-packages|bower_components|\.cargo"
    r"|Pods)[/\\]"
)
# Of a project that has more only the newest are read: what was said before has been said again,
# or was left.
MOST_TURNS = 4_000


def read_sessions(store: Store, project: str) -> list[SessionRecord]:
    """The newest sessions of a project, the oldest first; those of sub-agents are part of their
    parents.

    What came with the project, and may be anybody's, is none of them, and neither is what a
    person wants nothing remembered of. Of a fork only its own turns are read.
    """
    scope = Scope(Query().having(project=project, **{"-is": "external"}), {})
    found = [
        session
        for session in store.sessions.search(scope, limit=None)
        if session.origin != "subagent"
    ]
    found.sort(key=lambda session: (session.started_at or "", session.id))
    turns = accumulate(session.turns for session in reversed(found))
    kept = sum(1 for sum_of in turns if sum_of <= MOST_TURNS)
    read = (store.sessions.get(session.id) for session in found[-max(kept, 1) :])
    return [
        _session(session, store.sessions.copied_turns(session.id) if session.parent else set())
        for session in read
        if session.meta.get("memory_mode") != "disabled"
    ]


def _session(session: SessionDetail, copied: Collection[int]) -> SessionRecord:
    turns, tainted = [], False
    for turn in session.turn_list:
        if turn.live:
            calls = tuple(_call(event) for event in turn.events if isinstance(event, ToolCall))
            tainted = tainted or any(map(is_from_outside, calls))
            if turn.ordinal not in copied:
                turns.append(_turn(turn, calls, session.started_at, tainted=tainted))
    return SessionRecord(
        session.id, session.started_at or "", session.cwd or "", tuple(turns),
        session.origin == "interactive", session.git.branch,
    )  # fmt: skip


def is_from_outside(call: CallRecord) -> bool:
    """Whether what a call gave back may be written by anybody."""
    if call.kind in _FROM_OUTSIDE:
        return True
    if call.kind == "shell":
        fetches = _FETCHES.search(call.target) is not None
        return (fetches and not _ASKS_HERE.search(call.target)) or (
            call.passed and _OF_OTHERS.search(call.target) is not None
        )
    return call.kind == "read" and _OF_OTHERS.search(call.target) is not None


def _turn(
    turn: Turn, calls: tuple[CallRecord, ...], started_at: str | None, *, tainted: bool
) -> TurnRecord:
    def said(kind: str) -> tuple[str, ...]:
        return tuple(event.text for event in turn.events if event.kind == kind and event.text)

    return TurnRecord(
        turn.ref, turn.started_at or started_at or "", turn.author == "human",
        said("prompt"), said("reply"), calls, said("compaction"),
        any(event.kind == "abort" for event in turn.events), tainted,
    )  # fmt: skip


def _call(call: ToolCall) -> CallRecord:
    given = call.input
    folder = call.folder
    if folder is None and isinstance(given, dict):
        folder = given.get("workdir") or given.get("cwd")
    return CallRecord(
        call.tool_kind or "other", call.name or "", (call.target or "").strip(), folder,
        call.ok, call.exit_code, call.output or "", given,
    )  # fmt: skip
