"""What an adapter finds in a log, in file order: capture makes turns of it, the store keeps those.

Times are integer milliseconds since 1970, UTC. A missing time is None: it is
never invented.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct

Origin = Literal["interactive", "headless", "subagent"]
Author = Literal["human", "agent", "system"]
EventKind = Literal[
    "prompt", "reply", "reasoning", "tool_call", "compaction", "error", "abort", "command"
]  # fmt: skip
ToolKind = Literal["shell", "edit", "read", "search", "web", "task", "mcp", "other"]
ProblemKind = Literal["unreadable", "bad_line", "bad_record", "unknown", "too_large", "torn"]


# Where logs are -------------------------------------------------------------


class Source(Struct, frozen=True):
    """One place a log lives: a file, a session's folder, a database.

    `companions` are the further files, and folders of files, that its adapter
    may read.

    `appended` says that the file only ever grows at its end: a grown one is
    read from the checkpoint, and what is new in a turn is added to it. Any
    other source is read when it or one of its companions has changed; its
    adapter is given the state that it left, if it left one, and yields turns
    whole: those that may have changed since, or all of them.

    Several places may tell of the same session. The one with the lowest
    `rank` is believed; what the others say of that session is passed over.

    `in_project` and `external` are not the adapter's to say: the folder of the
    project that a log lies in, where a cloned repository could have put it,
    and whether it has to be taken for anybody's.
    """

    agent: str
    path: str
    companions: tuple[str, ...] = ()
    appended: bool = True
    rank: int = 0
    in_project: str | None = None
    external: bool = False


class Checkpoint(Struct, frozen=True):
    """How far a source was read, and what its adapter must remember to go on.

    `position` is a byte offset into the log, decompressed where it is
    compressed; for a source that is not appended to, how many bytes have been
    read of it in all. `state` belongs to the adapter (at most 64 KB) and means
    nothing to anybody else.
    """

    position: int
    state: bytes = b""


# What an adapter yields -----------------------------------------------------


class SessionFacts(Struct, kw_only=True, gc=False):
    """Something the log says about a session; None leaves what is known alone.

    `session` and `parent` are native ids, without the agent; a sub-agent's is
    `<session>/<agent id>`. A log that only repeats what another agent's own
    log tells names that session, with its agent, in `copy_of`: the copy is
    passed over where the original is stored. `whole` says that all turns of
    the session come in the same batch: those that are stored and do not
    come were undone.
    """

    session: str
    parent: str | None = None
    copy_of: str | None = None
    whole: bool | None = None
    origin: Origin | None = None
    cwd: str | None = None
    title: str | None = None
    started_at: int | None = None
    agent_version: str | None = None
    git_branch: str | None = None
    git_sha: str | None = None
    git_remote: str | None = None
    meta: dict[str, Any] | None = None


class TurnFacts(Struct, kw_only=True, gc=False):
    """A turn begins, or more is learned about it; None leaves what is known alone.

    `turn` is the native key: stable when the same log is read again from the
    start, and equal in a fork that copied the turn.
    """

    session: str
    turn: str
    at: int | None = None
    author: Author | None = None
    cwd: str | None = None
    git_remote: str | None = None
    telemetry: dict[str, Any] | None = None


class Event(Struct, kw_only=True, gc=False):
    """One ordered item inside a turn.

    A `command` is what a person told the program around the agent, such as
    `/clear`: nobody asked for anything, so no turn begins and no search finds it.

    A tool call carries its native `call` id until its result is joined; the
    result may come much later, even in another run. `folder` is where a shell
    call ran, when the log says so: `go test ./...` is only true there.
    """

    session: str
    turn: str
    kind: EventKind
    at: int | None = None
    text: str = ""
    call: str | None = None
    name: str | None = None
    tool_kind: ToolKind | None = None
    target: str | None = None
    input: Any = None
    output: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    folder: str | None = None


class ToolResult(Struct, kw_only=True, gc=False):
    """What a tool call of this turn gave back; joined to the call with the same id.

    None leaves what is known alone, so a log that tells the output in one
    record and the exit code in another yields two of these.
    """

    session: str
    turn: str
    call: str
    at: int | None = None
    output: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    duration_ms: int | None = None


class Usage(Struct, kw_only=True, gc=False):
    """The tokens of one model call.

    The same `key` may come again, in this file or another; the store keeps
    the largest figures once, owned by the earliest (time, session id).
    `cost_usd` is what the log itself says; where it says nothing the price
    table is asked.
    """

    session: str
    turn: str
    key: str
    model: str | None = None
    at: int | None = None
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    cost_usd: float | None = None


class Liveness(Struct, kw_only=True, gc=False):
    """A turn was undone or abandoned, or is part of the conversation again."""

    session: str
    turn: str
    live: bool


class Problem(Struct, kw_only=True, frozen=True):
    """One thing wrong in someone's log: a value that travels, never raised.

    `line` counts from 1; None when the whole source is meant. `count` stands
    for that many alike ones, so that a flood costs one row.
    """

    path: str
    kind: ProblemKind
    reason: str
    line: int | None = None
    count: int = 1


Item = SessionFacts | TurnFacts | Event | ToolResult | Usage | Liveness | Problem | Checkpoint


def milliseconds(text: object) -> int | None:
    """An ISO 8601 time as milliseconds UTC, or None when it is not one.

    A time without a zone is taken as UTC: that is what agents mean by it.
    """
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
