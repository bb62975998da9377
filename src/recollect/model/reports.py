"""What looking after a store came to, and what was set up for the agents.

Field names are what `--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct, field

from recollect.model.logs import Problem
from recollect.model.sessions import Outcome, Tokens


class SourceReport(Struct, kw_only=True):
    """What one source came to in one import; `skipped` is a file that was not read as one."""

    path: str
    agent: str
    outcome: Literal["imported", "updated", "unchanged", "failed", "skipped"]
    reason: str = ""
    turns: int = 0
    events: int = 0
    bytes: int = 0
    problems: list[Problem] = field(default_factory=list)
    external: bool = False


class SourceProblems(Struct, kw_only=True):
    """What was wrong in one source, whenever it was imported.

    `failure` says why the whole of it could not be read. `total` counts alike
    problems one by one; of a log with very many only the first are kept.
    """

    path: str
    agent: str
    imported_at: str | None
    failure: str | None
    total: int
    problems: list[Problem]


class ImportReport(Struct, kw_only=True):
    """What an import did in total; the `--json` object."""

    discovered: int = 0
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    problems: int = 0
    sessions: int = 0
    subagents: int = 0
    turns: int = 0
    tool_calls: int = 0
    redactions: int = 0
    analyzed: int = 0
    external: int = 0
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

    def spent_tokens(self) -> int:
        """What rows are put in order by."""
        return self.tokens.input + self.tokens.output if self.tokens else 0


class WeekOutcome(NamedTuple):
    """How many sessions of a week came to one outcome."""

    week: str
    outcome: Outcome
    sessions: int


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


class ProjectLogs(Struct, kw_only=True):
    """The logs in a project's folder that are external.

    Those that git tracks came with the repository, or may have: they stay external
    whoever confirms the folder.
    """

    folder: str
    logs: list[str]
    tracked: list[str]


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
        return f"{raw}, digests, notes and memories {self.distilled_bytes / 1e6:.1f} MB{cap}"


class Leaving(Struct, kw_only=True):
    """What an agent deletes of its own logs within a week.

    `sessions` are stored and stay; `unread_logs` are files that no import has read yet.
    """

    agent: str
    name: str
    sessions: int
    unread_logs: int

    def __str__(self) -> str:
        parts = []
        if self.sessions:
            kept = "it is" if self.sessions == 1 else "they are"
            plural = "" if self.sessions == 1 else "s"
            parts.append(
                f"{self.name} deletes the logs of {self.sessions} session{plural} within 7 days; "
                f"{kept} kept here"
            )
        if self.unread_logs:
            plural = "" if self.unread_logs == 1 else "s"
            parts.append(
                f"{self.name} deletes {self.unread_logs} log{plural} within 7 days that "
                f"{'was' if self.unread_logs == 1 else 'were'} not read yet: recollect import"
            )
        return "\n".join(parts)


class StoreSummary(Struct, kw_only=True):
    """What is in the store, in a few numbers."""

    path: str
    size_bytes: int
    sessions: int
    subagents: int
    turns: int
    tool_calls: int
    projects: int
    notes: int
    agents: dict[str, int]
    first_at: str | None
    last_at: str | None
    jobs_waiting: int
    room: Room | None = None
    leaving: list[Leaving] = []


class Scrubbed(Struct, kw_only=True):
    """Whether deleted text has left the files too, and what is in the way if not.

    `text_index` means that no segment holds words of deleted rows, `pages`
    that no page does, `log` that the write-ahead log was emptied.
    """

    text_index: bool = False
    pages: bool = False
    log: bool = False
    detail: str = ""

    @property
    def complete(self) -> bool:
        """Nothing of what was deleted can be read from the store's files any more."""
        return self.text_index and self.pages and self.log


class Forgotten(Struct, kw_only=True):
    """What `forget` removed, or would remove.

    `copies` are turns of other sessions that held the same content; `notes`
    are those that were given in these turns only; `files` are copies of the
    whole store that lay beside it.
    """

    sessions: list[str] = field(default_factory=list)
    turns: int = 0
    copies: list[str] = field(default_factory=list)
    tool_calls: int = 0
    model_calls: int = 0
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    scrubbed: Scrubbed | None = None
    dry_run: bool = False


class HealthCheck(Struct, kw_only=True):
    """One thing that was looked at; `hint` says what to do when it is not well.

    `warning` means that nothing is broken: a person may want to do something.
    """

    name: str
    ok: bool
    warning: bool = False
    detail: str = ""
    hint: str = ""


class Health(Struct, kw_only=True):
    """How a store is doing, check by check."""

    path: str
    ok: bool
    verified: bool
    findings: list[HealthCheck]


class RepairReport(Struct, kw_only=True):
    """What a repair found, kept and lost.

    `kept` and `lost` count rows by table; where a whole page was unreadable
    nobody knows how many rows it held, so `lost_pages` counts those.
    `rebuilt` rows were lost and could be told again from what is left.
    """

    path: str
    sound: bool
    damaged_copy: str | None = None
    kept: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    rebuilt: dict[str, int] = field(default_factory=dict)
    lost_pages: int = 0
    sources_to_read_again: int = 0
    text_rebuilt: bool = False
    notes: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)


class RescannedValue(Struct, kw_only=True):
    """A value that a scan takes out of turns, by the tag that it leaves; never the value itself.

    One that stands in very many turns waits until a person says yes.
    """

    kind: str
    tag: str
    turns: int = 0
    times: int = 0
    first: str = ""
    waits: bool = False


class Rescanned(Struct, kw_only=True):
    """What scanning the store for secrets again changed; a dry run only lists the values."""

    turns: int = 0
    turns_changed: int = 0
    sessions_changed: int = 0
    other_rows_changed: int = 0
    redactions: int = 0
    resumed: bool = False
    version: str = ""
    scrubbed: Scrubbed | None = None
    values: list[RescannedValue] = field(default_factory=list)
    dry_run: bool = False


class Optimized(Struct, kw_only=True):
    """What optimising did; `scrubbed` when it finished an earlier deletion."""

    merge_steps: int = 0
    segments: int = 0
    scrubbed: Scrubbed | None = None


class Retained(Struct, kw_only=True):
    """What keeping the store within its budget came to.

    `evicted` counts turns whose events were let go, by pass: by age, down to
    the soft cap, down to the hard cap. `data_loss` are those of them that no
    digest tells of. Usage is in bytes as stored; what is kept of a turn whose
    events were let go counts as distilled. `given_back` is by how much the
    file got smaller.
    """

    freed: int = 0
    final_usage: int = 0
    evicted: dict[str, int] = field(default_factory=lambda: {"age": 0, "soft": 0, "hard": 0})
    data_loss: int = 0
    distilled_usage: int = 0
    given_back: int = 0
    alerts: list[str] = field(default_factory=list)
    dry_run: bool = False


class Embedded(Struct, kw_only=True):
    """What embedding came to.

    `remaining` turns still wait, because of a limit or because they are new.
    """

    turns: int = 0
    pieces: int = 0
    seconds: float = 0.0
    encoder: str = ""
    remaining: int = 0


InstallState = Literal[
    "added", "changed", "unchanged", "removed", "skipped",
    "would add", "would change", "would remove",
]  # fmt: skip
_PLANNED: dict[InstallState, InstallState] = {
    "added": "would add",
    "changed": "would change",
    "removed": "would remove",
}


class Installed(Struct, kw_only=True):
    """What installing or uninstalling did to one part of one agent's settings.

    After a dry run `state` says what it would do: `would add`, `would change`,
    `would remove`.
    """

    agent: str
    scope: Literal["user", "project"]
    part: Literal["hooks", "mcp", "skill", "timer"]
    path: str
    state: InstallState
    note: str = ""

    def planned(self) -> Installed:
        """The same, of something that was not done."""
        self.state = _PLANNED.get(self.state, self.state)
        return self


class Integration(Struct, kw_only=True):
    """What one agent has of ours, for the user or in a project.

    `plugin` names the plugin that brings it all, `command` is the program that
    the agent's settings call, and `command_exists` whether it is still there.
    """

    agent: str
    scope: Literal["user", "project"]
    hooks: bool = False
    mcp: bool = False
    skill: bool = False
    plugin: str | None = None
    command: str | None = None
    command_exists: bool = True


# The memory of a session, or that of a project.
