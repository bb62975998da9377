"""The running reading of one Claude Code file: records in, items out.

Everything that has to survive until the next read is in `State`; the rest of
`Transcript` lives for one read. Items collect in `out`, and the adapter hands
them on block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct, field, msgpack

from recollect.capture.adapters._claude_records import (
    SYNTHETIC,
    Attachment,
    Block,
    Message,
    Record,
    Said,
    Spent,
    digest,
    native_id,
    prompt_of,
)
from recollect.capture.adapters._claude_tools import (
    duration_ms,
    exit_code,
    kind_of,
    result_ok,
    result_text,
    target_of,
)
from recollect.capture.adapters._claude_tree import ROOT, Tree, Turn
from recollect.model import (
    Author,
    Event,
    EventKind,
    Item,
    Liveness,
    Problem,
    SessionFacts,
    ToolResult,
    TurnFacts,
    Usage,
    milliseconds,
)

# What a checkpoint keeps. A rewind past the kept turns, or a parent past the
# kept records, costs a second look at the file and nothing else.
_KEPT_TURNS = 200
_KEPT_RECORDS = 200
_KEPT_CALLS = 200
_STATE_BYTES = 60_000
_FACT_CHARACTERS = 500
_TITLE_RANKS = {"summary": 1, "ai-title": 2, "agent-name": 3, "custom-title": 4}
# Who writes a prompt, for the origins that are not a person.
_ORIGINS: dict[str, Author] = {
    "task-notification": "system",
    "channel": "system",
    "peer": "agent",
    "coordinator": "agent",
}


class Log(NamedTuple):
    """One file and what its place on disk says: whose session it holds, and where output overflows to."""

    path: str
    session: str | None
    parent: str | None = None
    agent: str | None = None
    overflow: str | None = None
    meta: dict[str, Any] = {}


class State(Struct, omit_defaults=True):
    """What one read leaves for the next."""

    session: str | None = None
    line: int = 1
    begun: bool = False
    turns: list[Turn] = field(default_factory=list)
    base: int = 0
    tip: int = ROOT
    places: dict[str, int] = field(default_factory=dict)
    # Calls without a result, by id, with their turn.
    calls: dict[str, int] = field(default_factory=dict)
    # The newest turn of each sub-agent inside this file; "" is the newest of all.
    sides: dict[str, int] = field(default_factory=dict)
    shell: str | None = None
    prompt_id: str | None = None
    answered: bool = False
    title_rank: int = 0
    leaves: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    news: dict[str, Any] = field(default_factory=dict)
    meta_news: dict[str, Any] = field(default_factory=dict)


class Transcript:
    """Takes the records of one file in order and turns them into items."""

    def __init__(self, log: Log, state: State | None = None) -> None:
        self.log = log
        self.state = state or State(session=log.session)
        self.tree = Tree(self.state.turns, self.state.base, self.state.tip)
        self.tree.places = self.state.places
        self.out: list[Item] = []
        self.unknown: dict[str, int] = {}
        self.bad: dict[str, int] = {}
        # Lines that a later record of the same block takes back.
        self.withdrawn: set[str] = set()
        self._announced: set[str] = set()
        self._early: dict[str, ToolResult] = {}
        self._usage: Usage | None = None
        self._telemetry: dict[int, dict[str, Any]] = {}
        if not self.state.begun:
            self.state.meta_news.update(log.meta)

    def take(self, record: Record) -> None:
        """Read one record."""
        kind = record.type
        take = _CHAIN.get(kind) if type(kind) is str else None
        if take is None:
            self._take_other(record)
            return
        state, tree = self.state, self.tree
        uuid = native_id(record.uuid)
        if uuid is not None and uuid in tree.places:
            return
        if state.session is None:
            self._adopt(record)
        if record.is_sidechain and self.log.agent is None:
            place = self._side_place(record)
        else:
            place = self._place(record)
        place = take(self, record, place)
        if uuid is not None and place is not None:
            tree.put(uuid, place)
            if state.leaves and uuid in state.leaves:
                self._title("summary", state.leaves.pop(uuid))

    def close_block(self) -> None:
        """Hand over what was held back for its fellows, before a checkpoint."""
        self._flush_usage()
        for result in self._early.values():
            self.out.append(result)
        self._early.clear()
        for place, telemetry in self._telemetry.items():
            turn = self.tree.turn(place)
            self.out.append(TurnFacts(session=turn.session, turn=turn.key, telemetry=telemetry))
        self._telemetry.clear()
        if self.state.begun and (self.state.news or self.state.meta_news) and self.state.session:
            self._tell_news(self.state.session)
        self.withdrawn.clear()

    def problems(self) -> list[Problem]:
        """What could not be made sense of, one for each sort."""
        path = self.log.path
        unknown = [
            Problem(path=path, kind="unknown", reason=f"record type {kind}", count=count)
            for kind, count in self.unknown.items()
        ]
        return unknown + [
            Problem(path=path, kind="bad_record", reason=reason, count=count) for reason, count in self.bad.items()
        ]

    def save(self) -> bytes:
        """The state for a checkpoint, cut down until it fits."""
        state, tree = self.state, self.tree
        turns, records, calls = _KEPT_TURNS, _KEPT_RECORDS, _KEPT_CALLS
        while True:
            state.turns = tree.turns[-turns:]
            state.base, state.tip = tree.count - len(state.turns), tree.tip
            links = {turn.link: turn.parent for turn in state.turns if turn.link}
            recent = dict(list(tree.places.items())[-records:])
            state.places = _at_hand(links | recent, state.base)
            state.calls = _at_hand(dict(list(state.calls.items())[-calls:]), state.base)
            state.sides = _at_hand(dict(list(state.sides.items())[-calls:]), state.base)
            data = msgpack.encode(state)
            if len(data) <= _STATE_BYTES:
                return data
            turns, records, calls = max(1, turns // 2), records // 2, calls // 2
            if not records:
                state.leaves, state.news, state.meta_news, state.facts = {}, {}, {}, {}

    # Places -----------------------------------------------------------------

    def _place(self, record: Record) -> int:
        """The turn a record of the conversation continues; the tip when nothing says otherwise."""
        tree = self.tree
        parent = native_id(record.parent_uuid)
        if parent is None:
            # A compaction starts a new root, and names what it really follows.
            parent = native_id(record.logical_parent_uuid)
            if parent is None:
                return tree.tip
        place = tree.places.get(parent)
        if place is None and tree.rescan is not None and record.type in ("user", "assistant"):
            place = tree.find(parent)
        if place is None or (place >= tree.base and tree.turn(place).side):
            return tree.tip
        return place

    def _side_place(self, record: Record) -> int | None:
        """The turn of the inline sub-agent that a record belongs to, None when it is a new one's."""
        tree, sides = self.tree, self.state.sides
        parent = native_id(record.parent_uuid)
        place = tree.places.get(parent) if parent else None
        if place is not None and place >= tree.base and tree.turn(place).side:
            return place
        agent = native_id(record.agent_id)
        if agent is not None:
            return sides.get(agent)
        starts = record.type == "user" and not _has_results(record)
        return None if starts else sides.get("")

    def _follow(self, place: int) -> None:
        """Move the tip when a record continues a branch that was left."""
        tree = self.tree
        if place not in (tree.tip, ROOT) and not tree.turn(place).side and not tree.on_path(place):
            self._switch(place)

    def _switch(self, place: int) -> None:
        for turn in self.tree.switch(place):
            self._announce(turn.session)
            self.out.append(Liveness(session=turn.session, turn=turn.key, live=turn.live))

    # Turns ------------------------------------------------------------------

    def _open(self, record: Record, place: int | None, key: str, author: Author) -> int:
        """Begin a turn where a prompt stands."""
        self._flush_usage()
        tree, state = self.tree, self.state
        side = bool(record.is_sidechain) and self.log.agent is None
        link = native_id(record.parent_uuid) or ""
        if side:
            number = self._open_side(record, place, key, link)
        else:
            session = state.session or ""
            if place == ROOT and tree.base == 0 and tree.turns and tree.turn(0).key == "start":
                place = 0
            if place is not None and place != tree.tip:
                self._switch(place)
            number = tree.add(Turn(session=session, key=key, parent=tree.tip, link=link))
            tree.tip = number
            state.prompt_id, state.answered = native_id(record.prompt_id), False
            self._notice(record)
        turn = tree.turn(number)
        self._announce(turn.session, record)
        telemetry = {"permission_mode": record.permission_mode} if isinstance(record.permission_mode, str) else None
        self.out.append(
            TurnFacts(
                session=turn.session,
                turn=key,
                at=milliseconds(record.timestamp),
                author=author,
                cwd=record.cwd if isinstance(record.cwd, str) and record.cwd else None,
                telemetry=telemetry,
            )
        )
        return number

    def _open_side(self, record: Record, place: int | None, key: str, link: str) -> int:
        """A turn of a sub-agent inside this file, in a session of its own."""
        tree, sides = self.tree, self.state.sides
        agent = native_id(record.agent_id)
        if place is not None:
            session = tree.turn(place).session
        else:
            session = f"{self.state.session}/{agent or native_id(record.uuid) or key}"
        number = tree.add(Turn(session=session, key=key, parent=ROOT, link=link, side=True))
        sides[""] = number
        if agent is not None:
            sides[agent] = number
        return number

    def _at(self, record: Record, place: int | None) -> tuple[int, Turn]:
        """The turn that holds what a record says, begun if nothing was said before."""
        if place == ROOT and self.tree.tip != ROOT:
            place = self.tree.tip
        if place is None or place == ROOT:
            place = self._open(record, None, "start", "system")
        turn = self.tree.turn(place)
        if turn.session not in self._announced:
            self._announce(turn.session, record)
        return place, turn

    # Sessions ---------------------------------------------------------------

    def _adopt(self, record: Record) -> None:
        """A sub-agent's file beside the main ones: only its records name the session it belongs to."""
        parent = native_id(record.session_id)
        agent = self.log.agent or ""
        self.state.session = f"{parent}/{agent}" if parent else f"agent-{agent}"
        self.log = self.log._replace(session=self.state.session, parent=parent)

    def _notice(self, record: Record) -> None:
        """What a prompt's record says about its session, where that is new."""
        state = self.state
        facts, news = state.facts, state.news
        branch = record.git_branch if record.git_branch != "HEAD" else None
        for name, value in (("agent_version", record.version), ("git_branch", branch)):
            if isinstance(value, str) and value and facts.get(name) != value:
                news[name] = facts[name] = value[:_FACT_CHARACTERS]
        if "cwd" not in facts and isinstance(record.cwd, str) and record.cwd:
            # The first one is the session's; a turn has its own.
            facts["cwd"] = True
            news["cwd"] = record.cwd
        for name, value in (("entrypoint", record.entrypoint), ("slug", record.slug), ("team", record.team_name)):
            if isinstance(value, str) and value and facts.get(name) != value:
                state.meta_news[name] = facts[name] = value[:_FACT_CHARACTERS]
        fork = record.forked_from
        if isinstance(fork, dict) and not state.begun and isinstance(fork.get("sessionId"), str):
            news["parent"] = fork["sessionId"][:_FACT_CHARACTERS]

    def _announce(self, session: str, record: Record | None = None) -> None:
        """Every session is introduced once in each read, before its first item."""
        if session in self._announced:
            return
        self._announced.add(session)
        state = self.state
        if session != state.session:
            self.out.append(_inline(session, state.session, record))
            return
        if record is not None and not state.begun:
            self._notice(record)
            state.news["started_at"] = milliseconds(record.timestamp)
        state.begun = True
        self._tell_news(session)

    def _tell_news(self, session: str) -> None:
        state, log = self.state, self.log
        news: dict[str, Any] = {"parent": log.parent, **state.news}
        entrypoint = state.facts.get("entrypoint")
        if log.agent is not None:
            news["origin"] = "subagent"
        else:
            news["origin"] = "headless" if str(entrypoint).startswith("sdk") else "interactive"
        self.out.append(SessionFacts(session=session, **news, meta=state.meta_news or None))
        state.news, state.meta_news = {}, {}
        self._announced.add(session)

    def _title(self, kind: str, title: object) -> None:
        """A better title, or a newer one of the same class."""
        rank = _TITLE_RANKS[kind]
        if isinstance(title, str) and title.strip() and rank >= self.state.title_rank and self.log.agent is None:
            self.state.title_rank = rank
            self.state.news["title"] = title.strip()[:_FACT_CHARACTERS]

    # Records of the chain ---------------------------------------------------

    def _user(self, record: Record, place: int | None) -> int | None:
        message = record.message
        content = message.content if isinstance(message, Message) else message
        if isinstance(content, list) and _has_results(record):
            return self._results(record, content, place)
        if not isinstance(content, str | list):
            self._count_bad("user record without content")
            return place
        if record.is_compact_summary:
            said = prompt_of(content)
            return self._event(record, place, "compaction", said.text)
        # What a tool put into the conversation, such as a skill's text, was not typed.
        if record.is_meta or record.source_tool_use_id:
            return place
        return self._said(record, place, prompt_of(content))

    def _said(self, record: Record, place: int | None, said: Said) -> int | None:
        if said.shape == "nothing":
            return place
        if said.shape in ("abort", "compaction"):
            return self._event(record, place, "abort" if said.shape == "abort" else "compaction", said.text)
        if said.shape == "shell_output":
            return self._shell_output(record, place, said.text)
        text = "!" + said.text if said.shape == "shell" else said.text
        if self._same_prompt(record, place):
            assert place is not None
        else:
            key = native_id(record.uuid) or digest(record.timestamp, text)
            place = self._open(record, place, key, self._author(record, said))
        at = milliseconds(record.timestamp)
        turn = self.tree.turn(place)
        self.out.append(Event(session=turn.session, turn=turn.key, kind="prompt", at=at, text=text))
        if said.shape == "shell":
            call = self.state.shell = native_id(record.uuid) or turn.key
            self.out.append(
                Event(
                    session=turn.session,
                    turn=turn.key,
                    kind="tool_call",
                    at=at,
                    call=call,
                    name="Bash",
                    tool_kind="shell",
                    target=said.text,
                    input={"command": said.text},
                )
            )
            self.state.calls[call] = place
        return place

    def _same_prompt(self, record: Record, place: int | None) -> bool:
        """Whether a record only adds to the prompt before it, before any answer."""
        state = self.state
        prompt = native_id(record.prompt_id)
        return (
            prompt is not None
            and prompt == state.prompt_id
            and record.type == "user"
            and not state.answered
            and place == self.tree.tip != ROOT
            and self.log.agent is None
            and not record.is_sidechain
        )

    def _author(self, record: Record, said: Said) -> Author:
        origin = record.origin
        kind = origin.get("kind") if isinstance(origin, dict) else None
        if said.author is not None:
            return said.author
        if isinstance(kind, str) and kind in _ORIGINS:
            return _ORIGINS[kind]
        if self.log.agent is not None or record.is_sidechain:
            return "agent"
        if record.prompt_source == "system":
            return "system"
        if record.prompt_source == "sdk" and kind != "human" and str(record.entrypoint).startswith("sdk"):
            return "agent"
        return "human"

    def _event(self, record: Record, place: int | None, kind: EventKind, text: str) -> int:
        place, turn = self._at(record, place)
        at = milliseconds(record.timestamp)
        self.out.append(Event(session=turn.session, turn=turn.key, kind=kind, at=at, text=text))
        return place

    def _shell_output(self, record: Record, place: int | None, text: str) -> int | None:
        call, self.state.shell = self.state.shell, None
        number = self.state.calls.pop(call, None) if call else None
        if call and number is not None:
            turn = self.tree.turn(number)
            self._announce(turn.session, record)
            at = milliseconds(record.timestamp)
            self.out.append(ToolResult(session=turn.session, turn=turn.key, call=call, at=at, output=text))
        return place

    def _results(self, record: Record, content: list[Any], place: int | None) -> int | None:
        outcome = record.tool_use_result
        for block in content:
            if type(block) is not Block:
                continue
            if block.type == "tool_result":
                self._result(record, block, outcome, place)
            elif block.type == "text" and isinstance(block.text, str) and block.text.startswith("[Request interr"):
                self._event(record, place, "abort", block.text)
        return place

    def _result(self, record: Record, block: Block, outcome: object, place: int | None) -> None:
        call = native_id(block.tool_use_id) or native_id(record.source_tool_use_id)
        if call is None:
            return
        number = self.state.calls.pop(call, None)
        known = number is not None
        number, turn = self._at(record, place if number is None else number)
        text = result_text(block, outcome, self.log.overflow)
        ok = result_ok(block, outcome)
        result = ToolResult(
            session=turn.session,
            turn=turn.key,
            call=call,
            at=milliseconds(record.timestamp),
            output=text,
            ok=ok,
            exit_code=None if ok else exit_code(text),
            duration_ms=duration_ms(outcome),
        )
        if known:
            self.out.append(result)
        else:
            # Written before its call: they are joined when that comes.
            self._early[call] = result

    def _assistant(self, record: Record, place: int | None) -> int | None:
        message = record.message
        if type(message) is not Message:
            self._count_bad("assistant record without a message")
            return place
        if place is not None:
            self._follow(place)
        place, turn = self._at(record, place)
        if place == self.tree.tip:
            self.state.answered = True
        at = milliseconds(record.timestamp)
        content = message.content
        blocks: list[Any] = content if isinstance(content, list) else [content]
        if message.model == SYNTHETIC or record.is_api_error_message:
            self._synthetic(turn, at, blocks)
            return place
        if type(message.usage) is Spent:
            self._spend(record, message, message.usage, place, at)
        telemetry = self._telemetry.setdefault(place, {})
        if type(message.stop_reason) is str:
            telemetry["stop_reason"] = message.stop_reason
        if type(record.effort) is str:
            telemetry["effort"] = record.effort
        for block in blocks:
            if type(block) is Block:
                self._block(record, turn, place, block, at)
            elif isinstance(block, str) and block.strip():
                self.out.append(Event(session=turn.session, turn=turn.key, kind="reply", at=at, text=block))
        return place

    def _synthetic(self, turn: Turn, at: int | None, blocks: list[Any]) -> None:
        """What the client says in the model's place: nothing, or that something went wrong."""
        for block in blocks:
            text = block.text if type(block) is Block else block
            if not isinstance(text, str) or not text.strip() or text.startswith("No response requested"):
                continue
            kind: EventKind = "abort" if text.startswith("[Request interrupted") else "error"
            self.out.append(Event(session=turn.session, turn=turn.key, kind=kind, at=at, text=text))

    def _block(self, record: Record, turn: Turn, place: int, block: Block, at: int | None) -> None:
        kind = block.type
        if kind == "tool_use" or kind == "server_tool_use" or kind == "mcp_tool_use":
            self._call(record, turn, place, block, at)
        elif kind == "text":
            if isinstance(block.text, str) and block.text.strip():
                # Withdrawn text is kept, but not as what was answered.
                said: EventKind = "reasoning" if self.withdrawn and record.uuid in self.withdrawn else "reply"
                self.out.append(Event(session=turn.session, turn=turn.key, kind=said, at=at, text=block.text))
        elif kind == "thinking":
            if isinstance(block.thinking, str) and block.thinking.strip():
                self.out.append(
                    Event(session=turn.session, turn=turn.key, kind="reasoning", at=at, text=block.thinking)
                )
        elif isinstance(kind, str) and kind.endswith("tool_result"):
            self._result(record, block, None, place)

    def _call(self, record: Record, turn: Turn, place: int, block: Block, at: int | None) -> None:
        name = block.name if isinstance(block.name, str) else ""
        call = native_id(block.id) or digest(record.uuid, name, record.timestamp)
        tool_kind = kind_of(name)
        self.out.append(
            Event(
                session=turn.session,
                turn=turn.key,
                kind="tool_call",
                at=at,
                call=call,
                name=name,
                tool_kind=tool_kind,
                target=target_of(tool_kind, block.input),
                input=block.input,
            )
        )
        early = self._early.pop(call, None)
        if early is None:
            self.state.calls[call] = place
        else:
            early.session, early.turn = turn.session, turn.key
            self.out.append(early)

    def _attachment(self, record: Record, place: int | None) -> int | None:
        attachment = record.attachment
        if type(attachment) is not Attachment or attachment.type != "queued_command" or attachment.is_meta:
            return place
        said = prompt_of(attachment.prompt)
        if attachment.command_mode == "task-notification" and said.shape == "prompt":
            said = said._replace(author="system")
        return self._said(record, place, said)

    def _system(self, record: Record, place: int | None) -> int | None:
        subtype = record.subtype
        if subtype == "local_command":
            return self._said(record, place, prompt_of(record.content))
        if subtype == "turn_duration":
            self._measure(place, turn_duration_ms=record.duration_ms)
        elif subtype == "compact_boundary":
            if place is not None:
                self._follow(place)
            details = record.compact_metadata if isinstance(record.compact_metadata, dict) else {}
            self._measure(place, compaction=details.get("trigger"), compacted_tokens=details.get("preTokens"))
        elif subtype in ("api_error", "error", "api_refusal", "model_refusal_fallback") or record.level == "error":
            # Ten tries of one call are one error.
            if not isinstance(record.retry_attempt, int) or record.retry_attempt <= 1:
                self._event(record, place, "error", _error_text(record))
            if record.retracted_message_uuids:
                self._measure(place, withdrawn=True)
        return place

    def _progress(self, record: Record, place: int | None) -> int | None:
        """A link of the chain that says nothing: what it repeats is in other records."""
        return place

    def _measure(self, place: int | None, **values: object) -> None:
        if place == ROOT:
            place = self.tree.tip
        if place is None or place == ROOT:
            return
        known = {
            name: value
            for name, value in values.items()
            if (isinstance(value, str) and len(value) <= _FACT_CHARACTERS) or _count(value)
        }
        if known:
            self._announce(self.tree.turn(place).session)
            self._telemetry.setdefault(place, {}).update(known)

    # Tokens -----------------------------------------------------------------

    def _spend(self, record: Record, message: Message, spent: Spent, place: int, at: int | None) -> None:
        """Count a model call once: its lines repeat the figures, and the largest are the true ones."""
        fresh, read = _count(spent.input_tokens), _count(spent.cache_read_input_tokens)
        write, output = _count(spent.cache_creation_input_tokens), _count(spent.output_tokens)
        if not write and isinstance(spent.cache_creation, dict):
            write = sum(_count(value) for value in spent.cache_creation.values())
        details = spent.output_tokens_details
        reasoning = _count(details.get("thinking_tokens")) if isinstance(details, dict) else 0
        telemetry = self._telemetry.setdefault(place, {})
        telemetry["context_tokens"] = fresh + read + write
        if type(spent.service_tier) is str:
            telemetry["service_tier"] = spent.service_tier
        key = native_id(message.id)
        if key is None:
            key = native_id(record.uuid) or digest(record.timestamp, message.model, fresh, read, write, output)
        elif request := native_id(record.request_id):
            key = f"{key}:{request}"
        usage = self._usage
        if usage is not None and usage.key == key:
            usage.input, usage.output = max(usage.input, fresh), max(usage.output, output)
            usage.cache_read, usage.cache_write = max(usage.cache_read, read), max(usage.cache_write, write)
            usage.reasoning = max(usage.reasoning, reasoning)
            return
        self._flush_usage()
        turn = self.tree.turn(place)
        self._usage = Usage(
            session=turn.session,
            turn=turn.key,
            key=key,
            model=message.model if isinstance(message.model, str) and message.model else None,
            at=at,
            input=fresh,
            cache_read=read,
            cache_write=write,
            output=output,
            reasoning=reasoning,
        )

    def _flush_usage(self) -> None:
        if self._usage is not None:
            self.out.append(self._usage)
            self._usage = None

    # Records beside the chain -----------------------------------------------

    def _take_other(self, record: Record) -> None:
        kind = record.type
        if type(kind) is not str or kind not in _OTHER:
            name = kind[:60] if isinstance(kind, str) else "missing"
            if name in self.unknown or len(self.unknown) < 50:
                self.unknown[name] = self.unknown.get(name, 0) + 1
            return
        take = _OTHER[kind]
        if take is not None:
            take(self, record)

    def _titled(self, record: Record) -> None:
        title = {
            "custom-title": record.custom_title,
            "agent-name": record.agent_name,
            "ai-title": record.ai_title,
        }.get(record.type)
        self._title(record.type, title)

    def _summary(self, record: Record) -> None:
        """A title for the conversation that ends in a leaf, which may be in another file, or still to come."""
        leaf = native_id(record.leaf_uuid)
        if leaf is None or not isinstance(record.summary, str):
            return
        if self.tree.find(leaf) is not None:
            self._title("summary", record.summary)
        elif len(self.state.leaves) < 50:
            self.state.leaves[leaf] = record.summary[:_FACT_CHARACTERS]

    def _linked(self, record: Record) -> None:
        """Where else this session's work is: a pull request, a worktree, another folder."""
        meta, tree = self.state.meta_news, record.worktree_session
        for name, value in (
            ("pull_request", record.pr_url),
            ("relocated_to", record.relocated_cwd),
            ("worktree", tree.get("worktreePath") if isinstance(tree, dict) else None),
            ("worktree_branch", tree.get("worktreeBranch") if isinstance(tree, dict) else None),
        ):
            if isinstance(value, str) and value:
                meta[name] = value[:_FACT_CHARACTERS]

    def _forked(self, record: Record) -> None:
        """An agent that began with its parent's context says so instead of copying it."""
        self.state.meta_news["inherits_context"] = True
        if self.state.session is None and (parent := native_id(record.parent_session_id)):
            record.session_id = parent
            self._adopt(record)

    def _count_bad(self, reason: str) -> None:
        self.bad[reason] = self.bad.get(reason, 0) + 1


_CHAIN: dict[str, Callable[[Transcript, Record, int | None], int | None]] = {
    "user": Transcript._user,
    "assistant": Transcript._assistant,
    "system": Transcript._system,
    "attachment": Transcript._attachment,
    "progress": Transcript._progress,
}
# What is None is known and passed over: undo data, the prompt queue, client state.
_OTHER: dict[str, Callable[[Transcript, Record], None] | None] = {
    "summary": Transcript._summary,
    "ai-title": Transcript._titled,
    "custom-title": Transcript._titled,
    "agent-name": Transcript._titled,
    "pr-link": Transcript._linked,
    "worktree-state": Transcript._linked,
    "relocated": Transcript._linked,
    "fork-context-ref": Transcript._forked,
    **dict.fromkeys(
        (
            "queue-operation",
            "file-history-snapshot",
            "file-history-delta",
            "last-prompt",
            "permission-mode",
            "mode",
            "bridge-session",
            "frame-link",
            "atis-latch",
            "started",
            "result",
        )
    ),
}


def _has_results(record: Record) -> bool:
    message = record.message
    if type(message) is not Message or not isinstance(message.content, list):
        return False
    return any(type(block) is Block and block.type == "tool_result" for block in message.content)


def _inline(session: str, parent: str | None, record: Record | None) -> SessionFacts:
    facts = SessionFacts(session=session, parent=parent, origin="subagent")
    if record is not None:
        facts.started_at = milliseconds(record.timestamp)
        facts.cwd = record.cwd if isinstance(record.cwd, str) and record.cwd else None
        facts.agent_version = record.version if isinstance(record.version, str) else None
        if isinstance(record.git_branch, str) and record.git_branch not in ("", "HEAD"):
            facts.git_branch = record.git_branch
    return facts


def _error_text(record: Record) -> str:
    error = record.error if isinstance(record.error, dict) else {}
    inner = error.get("error") if isinstance(error.get("error"), dict) else {}
    said = (error.get("formatted"), error.get("message"), inner.get("message"), record.content, record.error)
    text = next((text for text in said if isinstance(text, str) and text), "")
    status = error.get("status")
    head = f"API error {status}" if _count(status) else str(record.subtype or "error").replace("_", " ")
    return f"{head}: {text}" if text else head


def _count(value: object) -> int:
    """A token or millisecond count; anything else is none."""
    if type(value) is int and 0 <= value < 1 << 53:
        return value
    return int(value) if type(value) is float and 0 <= value < 1 << 53 else 0


def _at_hand(numbers: dict[str, int], base: int) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number >= base or (number == ROOT and base == 0)}
