"""What is known of a Claude Code session, and the items that come of it.

`ClaudeState` is all that survives from one read to the next; `ClaudeItems` collects
the items of the block being read. Some wait there for their fellows: the figures
of a split message, a title that may be bettered, what is measured of a turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct, field

from recollect.capture.adapters.claude_code.records import (
    ID_CHARACTERS,
    ClaudeMessage,
    ClaudeRecord,
    ClaudeUsage,
    digest,
    native_id,
)
from recollect.capture.adapters.claude_code.tree import ROOT, ClaudeTurn
from recollect.model.logs import Item, Origin, SessionFacts, TurnFacts, Usage, milliseconds

FACT_CHARACTERS = 500
_TITLE_RANKS = {"summary": 1, "ai-title": 2, "agent-name": 3, "custom-title": 4}


class ClaudeLog(NamedTuple):
    """One transcript, and what its place on disk says.

    `session` is None for a sub-agent's file whose records alone name the
    session it belongs to; `overflow` is the folder of outputs too long for a line.
    """

    path: str
    session: str | None
    parent: str | None = None
    agent: str | None = None
    overflow: str | None = None
    meta: dict[str, Any] | None = None


class ClaudeState(Struct, omit_defaults=True):
    """What one read leaves for the next."""

    session: str | None = None
    parent: str | None = None
    begun: bool = False
    turns: list[ClaudeTurn] = field(default_factory=list)
    base: int = 0
    tip: int = ROOT
    places: dict[str, int] = field(default_factory=dict)
    # Calls without a result, by id, with their turn.
    calls: dict[str, int] = field(default_factory=dict)
    # The newest turn of each sub-agent inside this file; "" is the newest of all.
    sides: dict[str, int] = field(default_factory=dict)
    shell: str | None = None
    caveat: str | None = None
    # The prompt being given: its id and time, until it is answered.
    prompt_id: str | None = None
    prompt_time: str | None = None
    answered: bool = False
    title_rank: int = 0
    # Titles whose leaf was not seen yet.
    leaves: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    news: dict[str, Any] = field(default_factory=dict)
    meta_news: dict[str, Any] = field(default_factory=dict)


class ClaudeItems:
    """The items of one read, and what is held back until it is complete."""

    def __init__(self, log: ClaudeLog, state: ClaudeState) -> None:
        self.log, self.state = log, state
        self.out: list[Item] = []
        self._announced: set[str] = set()
        self._noticed: tuple[Any, ...] = ()
        self._usage: Usage | None = None
        self._telemetry: dict[int, tuple[ClaudeTurn, dict[str, Any]]] = {}
        if not state.begun and log.meta:
            state.meta_news.update(log.meta)
            if isinstance(title := log.meta.get("description"), str):
                state.news["title"] = title

    def close(self) -> None:
        """Hand over what was held back, before a checkpoint."""
        self.flush_usage()
        for turn, telemetry in self._telemetry.values():
            if telemetry:
                self.announce(turn.session)
                self.out.append(TurnFacts(session=turn.session, turn=turn.key, telemetry=telemetry))
        self._telemetry.clear()
        state = self.state
        if state.begun and state.session and (state.news or state.meta_news):
            self._tell_news(state.session)

    # Sessions ---------------------------------------------------------------

    def adopt(self, parent: str | None) -> None:
        """Name the session of a sub-agent's file after the parent its records name."""
        state, agent = self.state, self.log.agent or ""
        state.parent = parent
        state.session = f"{parent}/{agent}" if parent else f"agent-{agent}"

    def announce(self, session: str, record: ClaudeRecord | None = None) -> None:
        """Introduce a session, once in each read and before its first item."""
        if session in self._announced:
            return
        self._announced.add(session)
        state = self.state
        if session != state.session:
            self.out.append(_inline(session, state.session, record))
            return
        if record is not None and not state.begun:
            self.notice(record)
            state.news["started_at"] = milliseconds(record.timestamp)
        state.begun = True
        self._tell_news(session)

    def notice(self, record: ClaudeRecord) -> None:
        """What a prompt's record says about its session, where that is new."""
        said = (record.version, record.git_branch, record.entrypoint, record.slug, record.team_name)
        if said == self._noticed:
            return
        self._noticed = said
        state = self.state
        facts, news = state.facts, state.news
        branch = record.git_branch if record.git_branch != "HEAD" else None
        for name, value in (("agent_version", record.version), ("git_branch", branch)):
            if isinstance(value, str) and value and facts.get(name) != value:
                news[name] = facts[name] = value[:FACT_CHARACTERS]
        if "cwd" not in facts and isinstance(record.cwd, str) and record.cwd:
            # The first one is the session's; a turn has its own.
            facts["cwd"] = True
            news["cwd"] = record.cwd
        meta = {"entrypoint": record.entrypoint, "slug": record.slug, "team": record.team_name}
        for name, value in meta.items():
            if isinstance(value, str) and value and facts.get(name) != value:
                state.meta_news[name] = facts[name] = value[:FACT_CHARACTERS]
        fork = record.forked_from
        if isinstance(fork, dict) and not state.begun and isinstance(fork.get("sessionId"), str):
            state.parent = native_id(fork["sessionId"])

    def know(self, **facts: object) -> None:
        """Something beside the conversation that is worth keeping with its session."""
        for name, value in facts.items():
            if value is True:
                self.state.meta_news[name] = value
            elif isinstance(value, str) and value:
                self.state.meta_news[name] = value[:FACT_CHARACTERS]

    def title(self, kind: str, title: object) -> None:
        """A better title, or a newer one of the same class."""
        rank = _TITLE_RANKS[kind]
        if not isinstance(title, str) or not title.strip() or self.log.agent is not None:
            return
        if rank >= self.state.title_rank:
            self.state.title_rank = rank
            self.state.news["title"] = title.strip()[:FACT_CHARACTERS]

    def _tell_news(self, session: str) -> None:
        state = self.state
        is_headless = str(state.facts.get("entrypoint")).startswith("sdk")
        origin: Origin = "headless" if is_headless else "interactive"
        self.out.append(
            SessionFacts(
                session=session,
                parent=state.parent or self.log.parent,
                origin="subagent" if self.log.agent is not None else origin,
                meta=state.meta_news or None,
                **state.news,
            )
        )
        state.news, state.meta_news = {}, {}
        self._announced.add(session)

    # Turns ------------------------------------------------------------------

    def telemetry(self, place: int, turn: ClaudeTurn) -> dict[str, Any]:
        """What is measured of a turn in this block, to be added to."""
        held = self._telemetry.get(place)
        if held is None:
            held = self._telemetry[place] = (turn, {})
        return held[1]

    def count_usage(
        self,
        record: ClaudeRecord,
        message: ClaudeMessage,
        spent: ClaudeUsage,
        turn: ClaudeTurn,
        at: int | None,
        telemetry: dict[str, Any],
    ) -> None:
        """Count a model call once: its lines repeat the figures, and the largest are true."""
        fresh, read = spent.input_tokens, spent.cache_read_input_tokens
        write, output = spent.cache_creation_input_tokens, spent.output_tokens
        are_counts = type(fresh) is type(read) is type(write) is type(output) is int
        if not are_counts or (fresh | read | write | output) >> 53:
            fresh, read, write, output = map(count, (fresh, read, write, output))
        write_1h = 0
        if type(spent.cache_creation) is dict:
            # What lives for an hour costs more. Some logs give only this split.
            write = write or sum(map(count, spent.cache_creation.values()))
            write_1h = min(write, count(spent.cache_creation.get("ephemeral_1h_input_tokens")))
        details = spent.output_tokens_details
        reasoning = count(details.get("thinking_tokens")) if type(details) is dict else 0
        telemetry["context_tokens"] = fresh + read + write
        if type(spent.service_tier) is str:
            telemetry["service_tier"] = spent.service_tier[:FACT_CHARACTERS]
        key, request = message.id, record.request_id
        if type(key) is not str or len(key) > ID_CHARACTERS:
            key = native_id(key)
        if key is None:
            figures = (fresh, read, write, output)
            told_by = record.timestamp or turn.session
            key = native_id(record.uuid) or digest(told_by, message.model, figures)
        elif type(request) is str and len(request) <= ID_CHARACTERS:
            key = f"{key}:{request}"
        usage = self._usage
        if usage is not None:
            if usage.key == key:
                usage.input = max(usage.input, fresh)
                usage.cache_read = max(usage.cache_read, read)
                usage.cache_write = max(usage.cache_write, write)
                usage.cache_write_1h = max(usage.cache_write_1h, write_1h)
                usage.output = max(usage.output, output)
                usage.reasoning = max(usage.reasoning, reasoning)
                return
            self.out.append(usage)
        self._usage = Usage(
            session=turn.session,
            turn=turn.key,
            key=key,
            model=message.model if type(message.model) is str and message.model else None,
            at=at,
            input=fresh,
            cache_read=read,
            cache_write=write,
            cache_write_1h=write_1h,
            output=output,
            reasoning=reasoning,
        )

    def flush_usage(self) -> None:
        """The figures of the last model call are as large as they will get."""
        if self._usage is not None:
            self.out.append(self._usage)
            self._usage = None


def count(value: object) -> int:
    """A number of tokens or milliseconds; anything else is none."""
    if type(value) is int and 0 <= value < 1 << 53:
        return value
    return int(value) if type(value) is float and 0 <= value < 1 << 53 else 0


def _inline(session: str, parent: str | None, record: ClaudeRecord | None) -> SessionFacts:
    """The facts of a sub-agent inside its parent's file."""
    facts = SessionFacts(session=session, parent=parent, origin="subagent")
    if record is not None:
        facts.started_at = milliseconds(record.timestamp)
        facts.cwd = record.cwd if isinstance(record.cwd, str) and record.cwd else None
        facts.agent_version = record.version if isinstance(record.version, str) else None
        if isinstance(record.git_branch, str) and record.git_branch not in ("", "HEAD"):
            facts.git_branch = record.git_branch
    return facts
