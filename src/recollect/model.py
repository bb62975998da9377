"""The nouns: what an adapter yields, what the store keeps, what the faces show.

Two families live here. *Items* are what an adapter finds in a log, in file
order; capture assembles them into turns and the store keeps those. *Records*
(`Session`, `Turn`, ...) are what comes back out, with the field names that the
JSON contract in docs/json.md promises.

Times are integer milliseconds since 1970, UTC, in items and tables, and
ISO 8601 text in records. A missing time is None: it is never invented.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct, field

Origin = Literal["interactive", "headless", "subagent"]
Author = Literal["human", "agent", "system"]
EventKind = Literal["prompt", "reply", "reasoning", "tool_call", "compaction", "error", "abort"]
ToolKind = Literal["shell", "edit", "read", "search", "web", "task", "mcp", "other"]
Category = Literal["preference", "project", "pattern", "decision", "constraint"]
NoteStatus = Literal["candidate", "active", "superseded", "rejected"]
Trust = Literal["user", "tool-verified", "assistant", "external"]
NoteAuthor = Literal["person", "agent", "rules", "model"]
# What a task, or a session, came to.
Outcome = Literal["success", "partial", "fail", "uncertain", "abandoned"]
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
    """

    agent: str
    path: str
    companions: tuple[str, ...] = ()
    appended: bool = True
    rank: int = 0


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
    the session come in the same stretch: those that are stored and do not
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


# What comes back out --------------------------------------------------------


class Tokens(Struct, kw_only=True):
    """Token counts as every adapter reports them; `output` includes `reasoning`."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
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
    `raw_log` then says where the agent's own log still is.
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


class SessionTask(Struct, kw_only=True):
    """One thing that was asked in a session, how it went, and in which turns.

    `digest` tells more.
    """

    title: str
    outcome: Outcome
    turns: list[int]


class Session(Struct, kw_only=True):
    """One conversation with one agent. `turns` and `tool_calls` are counts.

    `outcome`, `summary` and `tasks` are what it came to, once that is known.
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
    tokens: Tokens
    cost_usd: float | None
    source: str | None
    outcome: Outcome | None
    summary: str | None
    tasks: list[SessionTask]
    meta: dict[str, Any]


class SessionDetail(Session, kw_only=True):
    """A session with its turns, as `show` gives it."""

    turn_list: list[Turn]


class SourceReport(Struct, kw_only=True):
    """What one source came to in one import."""

    path: str
    agent: str
    outcome: Literal["imported", "updated", "unchanged", "failed"]
    reason: str = ""
    turns: int = 0
    events: int = 0
    bytes: int = 0
    problems: list[Problem] = field(default_factory=list)


class ImportReport(Struct, kw_only=True):
    """What an import did in total; the `--json` object."""

    discovered: int = 0
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    problems: int = 0
    sessions: int = 0
    turns: int = 0
    tool_calls: int = 0
    redactions: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def __add__(self, other: ImportReport) -> ImportReport:
        return ImportReport(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )


class StatsRow(Struct, kw_only=True):
    """Sums over some turns.

    None is what cannot be told for this sort of row, such as the errors of a model.

    `cost_usd` covers the priced calls; `unpriced_calls` says how many are not in it.
    """

    by: str
    name: str | None
    sessions: int = 0
    turns: int = 0
    errors: int | None = 0
    tool_calls: int | None = 0
    failed_tool_calls: int | None = 0
    model_calls: int | None = 0
    tokens: Tokens | None = field(default_factory=Tokens)
    cost_usd: float | None = None
    unpriced_calls: int | None = 0


class ProjectRow(Struct, kw_only=True):
    """A project with what is known under its name."""

    key: str
    kind: Literal["remote", "repository", "directory"]
    domain: str | None
    sessions: int
    turns: int
    last_at: str | None
    aliases: list[str]
    merged: list[str]


class AgentRow(Struct, kw_only=True):
    """A supported agent: where it keeps its logs, and what of it is stored.

    `in_projects` says that it also keeps some in the folders it works in.
    """

    agent: str
    name: str
    roots: list[str]
    in_projects: bool
    found: list[str]
    sources: int
    sessions: int
    newest_version: str | None
    last_at: str | None


class SupportedAgent(AgentRow, kw_only=True):
    """A supported agent, with what else we can do for it.

    `install` tells whether `recollect install` knows it, and has done it;
    `resume` whether its sessions can be gone on with.
    """

    install: Literal["installed", "available"] | None
    resume: bool


class JobRow(Struct, kw_only=True):
    """A piece of work that waits, runs or failed."""

    id: int
    kind: str
    subject: str
    state: Literal["waiting", "running", "failed"]
    tries: int
    not_before: str | None
    error: str | None


class Note(Struct, kw_only=True):
    """One remembered fact.

    Without a `project` it holds everywhere. `session` and `turn` say where it
    was given first, as far as that is known; `seen` counts how often.
    """

    ref: str
    category: Category
    text: str
    project: str | None
    status: NoteStatus
    trust: Trust
    author: NoteAuthor
    confidence: float
    session: str | None
    turn: int | None
    seen: int
    created_at: str | None
    seen_at: str | None
    valid_from: str | None
    valid_to: str | None
    superseded_by: str | None


class Room(Struct, kw_only=True):
    """How much room is used of what the settings allow; a limit of 0 is none."""

    raw_bytes: int
    raw_soft_cap_bytes: int
    raw_hard_cap_bytes: int
    raw_max_age_days: int
    distilled_bytes: int
    distilled_cap_bytes: int

    def __str__(self) -> str:
        caps = {"soft cap": self.raw_soft_cap_bytes, "hard cap": self.raw_hard_cap_bytes}
        limits = [f"{name} {cap / 1e6:.1f} MB" for name, cap in caps.items() if cap]
        limits += [f"{self.raw_max_age_days} days"] if self.raw_max_age_days else []
        raw = f"events take {self.raw_bytes / 1e6:.1f} MB" + (
            f" ({', '.join(limits)})" if limits else ""
        )
        cap = f" (cap {self.distilled_cap_bytes / 1e6:.1f} MB)" if self.distilled_cap_bytes else ""
        return f"{raw}, what was distilled from them {self.distilled_bytes / 1e6:.1f} MB{cap}"


class StoreSummary(Struct, kw_only=True):
    """What is in the store, in a few numbers."""

    path: str
    size_bytes: int
    sessions: int
    turns: int
    tool_calls: int
    projects: int
    notes: int
    agents: dict[str, int]
    first_at: str | None
    last_at: str | None
    jobs_waiting: int
    room: Room | None = None


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
