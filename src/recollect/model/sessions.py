"""Sessions and turns as they come back out, with the fields that docs/json.md promises.

Times are ISO 8601 text. A missing time is None: it is never invented.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from recollect.model.logs import Author, EventKind, Origin, ToolKind

# What a task, or a session, came to.
Outcome = Literal["success", "partial", "fail", "uncertain", "abandoned"]


class Tokens(Struct, kw_only=True):
    """Token counts as every adapter reports them.

    `output` includes `reasoning`, and `cache_write` what was written to be
    kept for an hour, which costs more.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0


class Git(Struct, kw_only=True):
    """Where in a repository a session took place."""

    branch: str | None = None
    sha: str | None = None
    remote: str | None = None


class TurnEvent(Struct, kw_only=True):
    """An event as it is shown; the tool fields exist for tool calls only."""

    kind: EventKind
    at: str | None = None
    text: str = ""


class ToolCall(TurnEvent, kw_only=True):
    """A tool call with its result joined; `ok` is None while nothing is known."""

    name: str | None = None
    tool_kind: ToolKind | None = None
    target: str | None = None
    input: Any = None
    output: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    folder: str | None = None


class Turn(Struct, kw_only=True):
    """One human prompt and everything until the next.

    `evicted_at` is when most of its events were let go, if they were;
    `raw_log` then says where the agent's own log still is. Of a `damaged` one
    some events cannot be read any more.
    """

    ref: str
    ordinal: int
    live: bool
    author: Author
    prompt: str
    reply: str
    started_at: str | None
    ended_at: str | None
    project: str | None
    tokens: Tokens
    cost_usd: float | None
    telemetry: dict[str, Any]
    events: list[TurnEvent | ToolCall]
    evicted_at: str | None
    raw_log: str | None
    damaged: bool = False


class SessionTask(Struct, kw_only=True):
    """One thing that was asked in a session, how it went, and in which turns.

    `digest` tells more.
    """

    title: str
    outcome: Outcome
    turns: list[int]


class Session(Struct, kw_only=True):
    """One conversation with one agent. `turns` and `tool_calls` are counts.

    `subagents` is how many others it started; what those said and did is theirs.

    `outcome`, `summary` and `tasks` are what it came to, once that is known.
    An `external` one came with a project and may be anybody's.
    """

    id: str
    agent: str
    native_id: str
    parent: str | None
    origin: Origin
    project: str | None
    domain: str | None
    cwd: str | None
    title: str | None
    started_at: str | None
    ended_at: str | None
    model: str | None
    models: list[str]
    agent_version: str | None
    git: Git
    turns: int
    tool_calls: int
    errors: int
    subagents: int
    tokens: Tokens
    cost_usd: float | None
    source: str | None
    outcome: Outcome | None
    summary: str | None
    tasks: list[SessionTask]
    meta: dict[str, Any]
    external: bool = False


class SessionDetail(Session, kw_only=True):
    """A session with its turns, as `show` gives it."""

    turn_list: list[Turn]
