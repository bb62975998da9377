"""Codex: from records to items, with what must be remembered between two reads.

A record is told apart by its fields, not by a version: bare lines (to 0.31),
envelopes, and envelopes with ordinals whose events are turn items. Most
things are said twice, once for the model (`response_item`) and once for the
screen (`event_msg`); whichever comes first is taken and its twin is dropped.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.adapters import _codex_calls as calls
from recollect.capture.adapters._codex_copies import Stretch
from recollect.capture.adapters._codex_prompts import (
    INJECTED_KINDS,
    cwd_in,
    is_injected,
    placeholder,
    typed_in,
    typed_part,
    with_pictures,
)
from recollect.capture.adapters._codex_records import (
    Core,
    Payload,
    Record,
    digest,
    moment,
    text_of,
    uuid_moment,
    whole,
)
from recollect.capture.adapters._codex_tokens import Meter
from recollect.capture.adapters._codex_tools import Outcome, outcome, texts_in
from recollect.model import (
    Author,
    Event,
    EventKind,
    Item,
    Liveness,
    Origin,
    Problem,
    SessionFacts,
    ToolResult,
    TurnFacts,
    Usage,
)

MAX_STATE_BYTES = 60_000
MAX_CALLS = 300
MAX_LIVE = 300
MAX_REPEATS = 200
MAX_TWINS = 60

# Known, and of no use to us: what they say is said elsewhere, or is nobody's business.
SKIPPED_RECORDS = frozenset({"world_state", "security_risk_score", "inter_agent_communication_metadata"})
SKIPPED_ITEMS = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger"}
    | {"additional_tools", "other"}
)
SKIPPED_EVENTS = frozenset(
    {"thread_settings_applied", "thread_goal_updated", "sub_agent_activity", "guardian_assessment"}
    | {"collab_agent_spawn_end", "collab_agent_interaction_end", "collab_waiting_end", "collab_close_end"}
    | {"collab_resume_end", "dynamic_tool_call_request", "undo_completed", "warning", "guardian_warning"}
    | {"agent_reasoning_section_break", "stream_error", "background_event", "plan_update", "turn_diff"}
    | {"session_configured", "deprecation_notice", "model_reroute", "thread_queue_changed"}
    | {"hook_started", "hook_completed", "mcp_startup_update", "mcp_startup_complete"}
)
SKIPPED_TURN_ITEMS = frozenset({"HookPrompt", "SubAgentActivity", "CollabAgentToolCall"})
CONTEXT = ("effort", "sandbox_policy", "approval_policy")


class State(Struct, array_like=True):
    """What a checkpoint carries; everything in it is bounded."""

    line: int = 1
    thread: str = ""
    session: str = ""
    parent: str | None = None
    forked_from: str | None = None
    origin: Origin = "interactive"
    agent_path: str | None = None
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    context: dict[str, Any] = field(default_factory=dict)
    # The turn that is open, the task it runs in, and how many prompts that task has had.
    turn: str = ""
    task: str = ""
    ended_task: str = ""
    prompts: int = 0
    filled: bool = False
    prompt: str = ""
    turn_cwd: str | None = None
    telemetry: dict[str, Any] = field(default_factory=dict)
    # Whether user_message events exist here: then items of the role user say nothing new.
    told_by_events: bool = False
    calls: dict[str, tuple[str, bool]] = field(default_factory=dict)
    twins: dict[str, int] = field(default_factory=dict)
    live: list[str] = field(default_factory=list)
    repeats: dict[str, int] = field(default_factory=dict)
    review: str = ""
    unnamed: int = 0
    stretch: Stretch = field(default_factory=Stretch)
    meter: Meter = field(default_factory=Meter)


class Transcript:
    """Reads records in file order and collects the items they give in `out`."""

    def __init__(self, path: str, fallback: str, state: State | None = None) -> None:
        self.path, self.fallback = path, fallback
        self.state = state or State()
        self.out: list[Item] = []
        self.unknown: Counter[str] = Counter()
        self.odd: Counter[str] = Counter()
        self._held: list[tuple[str, list[str], int | None]] = []
        self._news = False
        self._records: dict[str, Callable[[Payload, int | None], None]] = {
            "event_msg": self._take_event,
            "response_item": self._take_item,
            "turn_context": self._take_context,
            "compacted": self._take_compacted,
            "inter_agent_communication": self._take_mail,
        }
        self._events: dict[str, Callable[[Payload, int | None], None]] = {
            "user_message": self._user_message,
            "agent_message": lambda told, at: self._say("reply", text_of(told.message), at, 1),
            "agent_reasoning": lambda told, at: self._say("reasoning", text_of(told.text), at, 1),
            "agent_reasoning_raw_content": lambda told, at: self._say("reasoning", text_of(told.text), at, 1),
            "token_count": self._token_count,
            "task_started": self._task_started,
            "turn_started": self._task_started,
            "task_complete": self._task_complete,
            "turn_complete": self._task_complete,
            "turn_aborted": self._turn_aborted,
            "thread_rolled_back": self._rolled_back,
            "context_compacted": lambda told, at: self._compaction("", at, 1),
            "error": lambda told, at: self._error(told.message or told.error, at),
            "item_completed": self._item_completed,
            "thread_name_updated": lambda told, at: self.name(text_of(told.thread_name)),
            "entered_review_mode": self._entered_review,
            "exited_review_mode": self._exited_review,
        }

    # Reading ----------------------------------------------------------------

    def take(self, record: Record) -> None:
        """One line."""
        kind, payload = record.type, record.payload
        if payload is None:
            self._take_bare(record)
            return
        at = moment(record.timestamp)
        if kind == "session_meta":
            self._take_meta(payload, at)
            return
        state = self.state
        if not state.session:
            self._identify_unnamed()
        if state.stretch.open and state.stretch.covers(payload, record.ordinal, at):
            self._pass_over(kind, payload)
            return
        handler = self._records.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(payload, at)
        else:
            self._skip(kind, SKIPPED_RECORDS, "record type")

    def _skip(self, kind: object, known: frozenset[str], what: str) -> None:
        if not isinstance(kind, str) or kind not in known:
            self.unknown[f"{what} {kind}"] += 1

    def _take_bare(self, record: Record) -> None:
        if record.record_type is not None:
            return
        if record.type is None and record.role is None:
            if text_of(record.id) and not self.state.session:
                self._take_bare_meta(record)
            else:
                self.odd["a record without a type"] += 1
            return
        if not self.state.session:
            self._identify_unnamed()
        if record.type in ("session_meta", "event_msg", "response_item", "turn_context", "compacted"):
            self.odd[f"a {record.type} without its payload"] += 1
            return
        self._take_item(record, moment(record.timestamp), bare=True)

    def flush(self) -> None:
        """Nothing waits beyond a checkpoint: held prompts and telemetry go out."""
        self._open_held()
        self._tell_turn()

    def take_state(self) -> bytes:
        """The state as bytes, cut down until it fits a checkpoint."""
        state = self.state
        try:
            encoded = msgspec.msgpack.encode(state)
        except OverflowError:
            # A number that no msgpack integer holds, in a field we only pass on.
            state.context, state.telemetry = {}, {}
            encoded = msgspec.msgpack.encode(state)
        while len(encoded) > MAX_STATE_BYTES and (
            state.calls or state.live or state.context or state.telemetry
        ):
            state.context, state.telemetry = {}, {}
            for held in (state.calls, state.repeats, state.twins):
                _trim(held, len(held) // 2)
            state.live = state.live[len(state.live) // 2 + 1 :]
            encoded = msgspec.msgpack.encode(state)
        return encoded

    def problems(self) -> list[Problem]:
        """What was not understood, one Problem for each kind of it."""
        unknown = [
            Problem(path=self.path, kind="unknown", reason=reason[:200], count=count)
            for reason, count in self.unknown.items()
        ]
        return unknown + [
            Problem(path=self.path, kind="bad_record", reason=reason[:200], count=count)
            for reason, count in self.odd.items()
        ]

    # The session ------------------------------------------------------------

    def facts(self) -> SessionFacts:
        """Who this is, for a read that goes on where another stopped."""
        state = self.state
        return SessionFacts(session=state.session, parent=state.parent, origin=state.origin)

    def name(self, title: str | None) -> None:
        """A title, from the index of thread names or an event."""
        state = self.state
        if title and title != state.title and state.session:
            state.title = title
            self.out.append(SessionFacts(session=state.session, title=title))

    def _identify_unnamed(self) -> None:
        """A file whose first line is lost: its name must do."""
        self._identify(Payload())
        self.out.append(self.facts())

    def _identify(self, told: Payload) -> None:
        state = self.state
        state.thread = text_of(told.id) or text_of(told.session_id) or self.fallback
        spawned = _spawned(told.source)
        is_agent = spawned is not None or told.thread_source == "subagent"
        parent = text_of((spawned or {}).get("parent_thread_id")) or text_of(told.parent_thread_id)
        state.forked_from = text_of(told.forked_from_id)
        state.agent_path = text_of(told.agent_path) or text_of((spawned or {}).get("agent_path"))
        state.cwd = text_of(told.cwd)
        if is_agent:
            state.origin, state.parent = "subagent", parent or state.forked_from
            state.session = f"{parent}/{state.thread}" if parent else state.thread
            root = text_of(told.session_id)
            if (spawned or {}).get("depth") == 2 and root and root != parent and parent:
                # Only here is the parent a sub-agent whose own parent we know.
                state.parent = f"{root}/{parent}"
        else:
            state.session, state.parent = state.thread, state.forked_from
            if told.source in ("exec", "mcp") or told.originator in ("codex_exec", "codex_mcp_server"):
                state.origin = "headless"

    def _take_meta(self, meta: Payload, at: int | None) -> None:
        state = self.state
        if not state.session:
            self._identify(meta)
            born = uuid_moment(state.thread) or moment(meta.timestamp) or at
            state.stretch.begin(meta, born, at)
        elif (text_of(meta.id) or state.thread) != state.thread:
            self._meet_parent(text_of(meta.id), at)
            return
        git = meta.git if isinstance(meta.git, dict) else {}
        self.out.append(
            SessionFacts(
                session=state.session,
                parent=state.parent,
                origin=state.origin,
                cwd=text_of(meta.cwd),
                started_at=moment(meta.timestamp) or at,
                agent_version=text_of(meta.cli_version),
                git_branch=text_of(git.get("branch")),
                git_sha=text_of(git.get("commit_hash")),
                git_remote=text_of(git.get("repository_url")),
                meta=_described(meta),
            )
        )

    def _take_bare_meta(self, record: Record) -> None:
        self._identify(Payload(id=record.id))
        git = record.git if isinstance(record.git, dict) else {}
        self.out.append(
            SessionFacts(
                session=self.state.session,
                origin="interactive",
                started_at=moment(record.timestamp),
                git_branch=text_of(git.get("branch")),
                git_sha=text_of(git.get("commit_hash")),
                git_remote=text_of(git.get("repository_url")),
                meta=_described(Payload(instructions=record.instructions)),
            )
        )

    def _meet_parent(self, thread: str | None, at: int | None) -> None:
        """A second session_meta of another thread begins copied history, at the start of a file only."""
        state = self.state
        if state.turn or state.stretch.start is not None:
            return
        if not state.stretch.foreign and state.parent is None:
            state.parent = state.forked_from = thread
            self.out.append(SessionFacts(session=state.session, parent=thread))
        state.stretch.meet_parent(at)

    def _pass_over(self, kind: object, payload: Payload) -> None:
        """A copied record: only what the child's own records build on is remembered."""
        if kind == "turn_context":
            self._note_context(payload)
        elif payload.type == "token_count":
            self.state.meter.advance(payload)
        elif payload.type in ("user_message", "item_completed"):
            self.state.told_by_events = True

    # Turns ------------------------------------------------------------------

    def _open(self, key: str, author: Author, at: int | None) -> None:
        self._tell_turn()
        state = self.state
        state.turn, state.filled, state.prompt, state.turn_cwd = key, False, "", state.cwd
        state.telemetry = dict(state.context)
        self._news = bool(state.telemetry)
        state.twins.clear()
        self.out.append(TurnFacts(session=state.session, turn=key, at=at, author=author, cwd=state.cwd))

    def _open_prompt(
        self, text: str, pictures: list[str], at: int | None, author: Author | None = None
    ) -> None:
        state = self.state
        key = self._key(text, at)
        self._open(key, author or ("agent" if state.origin == "subagent" else "human"), at)
        state.prompts += 1
        state.prompt = digest(text)
        state.live.append(key)
        del state.live[:-MAX_LIVE]
        self.out.append(
            Event(session=state.session, turn=key, kind="prompt", at=at, text=with_pictures(text, pictures))
        )

    def _key(self, text: str, at: int | None) -> str:
        """The task's own id for its first prompt, a number added for those that steer it."""
        state = self.state
        if state.task:
            return f"{state.task}.{state.prompts + 1}" if state.prompts else state.task
        mark = hashlib.sha256(f"{at}\n{text}".encode("utf-8", "replace")).hexdigest()[:16]
        seen = state.repeats.pop(mark, 0) + 1
        state.repeats[mark] = seen
        _trim(state.repeats, MAX_REPEATS)
        return mark if seen == 1 else f"{mark}.{seen}"

    def _open_held(self) -> None:
        held, self._held = self._held, []
        for text, pictures, at in held:
            self._open_prompt(text, pictures, at)

    def _content_turn(self, at: int | None) -> str:
        """The turn that something said or done belongs to."""
        if self._held:
            self._open_held()
        state = self.state
        if state.task and not state.prompts:
            # A task that nobody prompted: a goal goes on, an agent was woken.
            state.prompts = 1
            self._open(state.task, "system", at)
        state.filled = True
        return self._any_turn(at)

    def _any_turn(self, at: int | None) -> str:
        if self._held:
            self._open_held()
        if not self.state.turn:
            self._open("start", "system", at)
        return self.state.turn

    def _tell_turn(self) -> None:
        """What was learned about the open turn since it was last told."""
        state = self.state
        if self._news and state.turn:
            self.out.append(
                TurnFacts(
                    session=state.session,
                    turn=state.turn,
                    cwd=state.turn_cwd,
                    telemetry=dict(state.telemetry) or None,
                )
            )
        self._news = False

    def _learn(self, **facts: object) -> None:
        telemetry = self.state.telemetry
        for name, value in facts.items():
            if value is not None and telemetry.get(name) != value:
                telemetry[name] = value
                self._news = True

    def _task_started(self, told: Payload, at: int | None) -> None:
        self._begin_task(text_of(told.turn_id))
        if window := whole(told.model_context_window):
            self.state.context["context_window"] = window
        if mode := text_of(told.collaboration_mode_kind):
            self.state.context["collaboration_mode"] = mode
        if self.state.prompts and self.state.turn:
            self._learn(**self.state.context)

    def _begin_task(self, task: str | None) -> None:
        state = self.state
        if task is None or task in (state.task, state.ended_task):
            return
        # Some clients tell the prompt before the task that answers it.
        answers = bool(state.prompt) and not state.filled and not state.task
        state.task, state.prompts = task, 1 if answers else 0

    def _end_task(self) -> None:
        state = self.state
        state.ended_task, state.task, state.prompts = state.task or state.ended_task, "", 0

    def _task_complete(self, told: Payload, at: int | None) -> None:
        if isinstance(told.error, dict):
            self._error(told.error.get("message"), at)
        self._open_held()
        self._learn(duration_ms=whole(told.duration_ms), first_token_ms=whole(told.time_to_first_token_ms))
        self._end_task()

    def _turn_aborted(self, told: Payload, at: int | None) -> None:
        self._open_held()
        self._add("abort", text_of(told.reason) or "", at)
        self._learn(duration_ms=whole(told.duration_ms))
        self._end_task()

    def _rolled_back(self, told: Payload, at: int | None) -> None:
        """The last turns were undone; a prompt that steered a task went with it."""
        self._open_held()
        live, count = self.state.live, whole(told.num_turns) or 0
        while count > 0 and live:
            key = live.pop()
            self.out.append(Liveness(session=self.state.session, turn=key, live=False))
            if not (live and key.startswith(f"{live[-1].split('.')[0]}.")):
                count -= 1

    def _take_context(self, told: Payload, at: int | None) -> None:
        self._begin_task(text_of(told.turn_id))
        self._note_context(told)
        state = self.state
        if not state.turn or (state.task and not state.prompts) or self._held:
            return
        if state.cwd != state.turn_cwd and state.cwd:
            state.turn_cwd, self._news = state.cwd, True
        self._learn(**state.context)

    def _note_context(self, told: Payload) -> None:
        state = self.state
        state.model = text_of(told.model) or state.model
        state.cwd = text_of(told.cwd) or state.cwd
        for name in CONTEXT:
            value = getattr(told, name)
            if value is not None:
                state.context[name] = value
        mode = told.collaboration_mode
        mode = mode.get("mode") or mode.get("kind") if isinstance(mode, dict) else mode
        if text_of(mode):
            state.context["collaboration_mode"] = mode

    # What people and agents say ---------------------------------------------

    def _user_message(self, told: Payload, at: int | None) -> None:
        if told.kind in INJECTED_KINDS:
            return
        message = told.message if isinstance(told.message, str) else ""
        if is_injected(message):
            return
        pictures = [placeholder(url) for url in _list(told.images) if isinstance(url, str)]
        pictures += [f"[image {path}]" for path in _list(told.local_images) if isinstance(path, str)]
        self._prompted(typed_part(message), pictures, at)

    def _prompted(self, text: str, pictures: list[str], at: int | None) -> None:
        """A prompt as the screen showed it; the model's copy of it may have come before."""
        state = self.state
        state.told_by_events = True
        mark = digest(text)
        for held, _, held_at in self._held:
            if held == text:
                at = held_at
        self._held.clear()
        if state.prompt == mark and not state.filled:
            return
        if text or pictures:
            self._open_prompt(text, pictures, at)

    def _user_item(self, item: Core, at: int | None, bare: bool) -> None:
        state = self.state
        if state.cwd is None and (cwd := cwd_in(item.content)):
            state.cwd = cwd
            self.out.append(SessionFacts(session=state.session, cwd=cwd))
        if state.told_by_events:
            return
        text, pictures = typed_in(item.content)
        if not text and not pictures:
            return
        if bare:
            self._open_prompt(text, pictures, at)
        else:
            self._held.append((text, pictures, at))

    def _take_mail(self, told: Core, at: int | None) -> None:
        """A message from another agent starts a turn when it woke this one."""
        text = told.content if isinstance(told.content, str) else texts_in(told.content)
        state = self.state
        own = state.agent_path or "/root"
        if not text or told.author == own:
            return
        if (state.task and not state.prompts) or (state.origin == "subagent" and not state.turn):
            self._open_prompt(text, [], at, "agent")

    def _say(self, kind: EventKind, text: str | None, at: int | None, side: int) -> None:
        """A reply or a piece of reasoning, once; `side` is 1 on the screen and -1 for the model."""
        if not text or not text.strip():
            return
        turn = self._content_turn(at)
        if not self._is_twin(kind, text.strip(), side):
            self.out.append(Event(session=self.state.session, turn=turn, kind=kind, at=at, text=text))

    def _is_twin(self, kind: str, text: str, side: int) -> bool:
        """Whether the other side has said this already; counts up to be matched if not."""
        twins = self.state.twins
        mark = f"{kind}{digest(text)}"
        count = twins.get(mark, 0)
        if count * side < 0:
            twins[mark] = count + side
            return True
        twins[mark] = count + side
        _trim(twins, MAX_TWINS)
        return False

    def _reply(self, content: object, at: int | None) -> None:
        texts = [part.get("text") for part in _list(content) if isinstance(part, dict)]
        text = "".join(text for text in texts if isinstance(text, str))
        if self.state.review and text.startswith(self.state.review):
            self.state.review = ""
            return
        for said in _split_plan(text):
            self._say("reply", said, at, -1)

    def _reasoning(self, item: Core, at: int | None) -> None:
        for part in [*_list(item.summary), *_list(item.content)]:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                self._say("reasoning", text, at, -1)

    def _entered_review(self, told: Payload, at: int | None) -> None:
        hint = text_of(told.user_facing_hint) or text_of(told.prompt) or ""
        self._held.clear()
        self._open_prompt(f"/review {hint}".strip(), [], at)

    def _exited_review(self, told: Payload, at: int | None) -> None:
        review = told.review_output if isinstance(told.review_output, dict) else {}
        lead = text_of(review.get("overall_explanation")) or ""
        lines = [lead]
        for finding in _list(review.get("findings")):
            if isinstance(finding, dict):
                parts = (text_of(finding.get(key)) for key in ("title", "body"))
                lines.append("\n".join(part for part in parts if part))
        text = "\n\n".join(line for line in lines if line)
        if text:
            self._add("reply", text, at)
            self.state.review = lead[:200]

    # What happens to the thread ----------------------------------------------

    def _add(self, kind: EventKind, text: str, at: int | None) -> None:
        turn = self._any_turn(at)
        self.state.filled = True
        self.out.append(Event(session=self.state.session, turn=turn, kind=kind, at=at, text=text))

    def _error(self, message: object, at: int | None) -> None:
        if isinstance(message, dict):
            message = message.get("message")
        self._add("error", text_of(message) or "unknown error", at)

    def _take_compacted(self, told: Payload, at: int | None) -> None:
        self._compaction(text_of(told.message) or "", at, -1)

    def _compaction(self, text: str, at: int | None, side: int) -> None:
        self._open_held()
        if not self._is_twin("compaction", "", side):
            self._add("compaction", text, at)

    def _token_count(self, told: Payload, at: int | None) -> None:
        state = self.state
        if isinstance(told.rate_limits, dict) and state.turn:
            self._learn(rate_limits=told.rate_limits)
        info = told.info if isinstance(told.info, dict) else {}
        if (window := whole(info.get("model_context_window"))) and state.turn:
            state.context["context_window"] = window
            self._learn(context_window=window)
        call = state.meter.advance(told)
        if call is None:
            return
        spent = call.spent
        # A guessed end of the copied stretch, or a total carried over from the
        # parent, may repeat what the parent's file counts under its own name.
        shared = state.forked_from and (state.stretch.guessed or call.carried)
        self.out.append(
            Usage(
                session=state.session,
                turn=self._any_turn(at),
                key=f"{state.forked_from if shared else state.thread}:{call.mark}",
                model=text_of(info.get("model")) or state.model,
                at=at,
                input=max(0, spent.input - spent.cached - spent.written),
                cache_read=spent.cached,
                cache_write=spent.written,
                output=spent.output,
                reasoning=spent.reasoning,
            )
        )

    # Records by type ----------------------------------------------------------

    def _take_event(self, told: Payload, at: int | None) -> None:
        kind = told.type
        if not isinstance(kind, str):
            self.odd["an event without a type"] += 1
        elif handler := self._events.get(kind):
            handler(told, at)
        elif kind in calls.ENDS:
            self._ended(kind, told, at)
        else:
            self._skip(kind, SKIPPED_EVENTS, "event type")

    def _take_item(self, item: Core, at: int | None, bare: bool = False) -> None:
        kind = item.type
        if kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self._result(item, at)
        elif kind == "reasoning":
            self._reasoning(item, at)
        elif kind == "message" or (kind is None and isinstance(item.role, str)):
            if item.role == "assistant":
                self._reply(item.content, at)
            elif item.role == "user":
                self._user_item(item, at, bare)
        elif isinstance(kind, str) and kind in calls.CALLS:
            self._called(item, at)
        elif kind == "agent_message":
            self._take_mail(item, at)
        else:
            self._skip(kind, SKIPPED_ITEMS, "item type")

    def _item_completed(self, told: Payload, at: int | None) -> None:
        item = told.item if isinstance(told.item, dict) else {}
        kind = item.get("type")
        if kind == "UserMessage":
            text, pictures = typed_in(item.get("content"))
            self._begin_task(text_of(told.turn_id))
            self._prompted(text, pictures, at)
        elif kind == "AgentMessage":
            self._say("reply", texts_in(item.get("content")), at, 1)
        elif kind == "Plan":
            self._say("reply", text_of(item.get("text")), at, 1)
        elif kind == "Reasoning":
            for text in [*_list(item.get("summary_text")), *_list(item.get("raw_content"))]:
                self._say("reasoning", text_of(text), at, 1)
        elif kind == "ContextCompaction":
            self._compaction("", at, 1)
        elif kind == "EnteredReviewMode":
            self._entered_review(msgspec.convert(item, Payload), at)
        elif kind == "ExitedReviewMode":
            self._exited_review(msgspec.convert(item, Payload), at)
        elif isinstance(kind, str) and kind in calls.ENDS:
            end = msgspec.convert(item, Payload)
            if kind == "McpToolCall":
                end.invocation = item
                end.result = {"Err": _message(item["error"])} if item.get("error") else end.result
            self._ended(kind, end, at)
        else:
            self._skip(kind, SKIPPED_TURN_ITEMS, "turn item type")

    # Tools --------------------------------------------------------------------

    def _called(self, item: Core, at: int | None) -> None:
        made = calls.made_by(item)
        turn = self._content_turn(at)
        if made.kind == "web" and made.target and self._is_twin("web", made.target, -1):
            return
        if item.type == "image_generation_call":
            if made.call in self.state.calls:
                return
            self._tool_call(made, turn, at, calls.ended_by("ImageGeneration", _as_payload(item))[1])
            return
        self._tool_call(made, turn, at, None)

    def _tool_call(self, made: calls.Made, turn: str, at: int | None, end: Outcome | None) -> None:
        state, end = self.state, end or Outcome()
        call = made.call
        if call is None and made.kind == "shell":
            state.unnamed += 1
            call = f"unnamed-{state.unnamed}"
        if call is not None:
            state.calls.pop(call, None)
            state.calls[call] = (turn, end.text is not None)
            _trim(state.calls, MAX_CALLS)
        self.out.append(
            Event(
                session=state.session,
                turn=turn,
                kind="tool_call",
                at=at,
                call=call,
                name=made.name,
                tool_kind=made.kind,
                target=made.target,
                input=made.input,
                output=end.text,
                ok=end.ok,
                exit_code=end.exit_code,
                duration_ms=end.duration_ms,
            )
        )

    def _result(self, item: Core, at: int | None) -> None:
        call = text_of(item.call_id)
        if call is None:
            return
        given: object = item.output
        if item.type == "tool_search_output":
            names = (tool.get("name") for tool in _list(item.tools) if isinstance(tool, dict))
            given = ", ".join(name for name in names if isinstance(name, str))
        if call not in self.state.calls:
            self.odd["a result without its call"] += 1
            return
        self._join(call, outcome(given), at)

    def _ended(self, kind: str, told: Payload, at: int | None) -> None:
        made, end = calls.ended_by(kind, told)
        if made.call in self.state.calls and made.call is not None:
            self._join(made.call, end, at)
            return
        turn = self._content_turn(at)
        if made.kind == "web" and made.target and self._is_twin("web", made.target, 1):
            return
        self._tool_call(made, turn, at, end)

    def _join(self, call: str, end: Outcome, at: int | None) -> None:
        state = self.state
        turn, has_output = state.calls[call]
        if end.text and not has_output:
            state.calls[call] = (turn, True)
        self.out.append(
            ToolResult(
                session=state.session,
                turn=turn,
                call=call,
                at=at,
                output=None if has_output else end.text,
                ok=end.ok,
                exit_code=end.exit_code,
                duration_ms=end.duration_ms,
            )
        )


def _spawned(source: object) -> dict[str, Any] | None:
    """What `source` says about a sub-agent; None when it is not one."""
    if not isinstance(source, dict) or "subagent" not in source:
        return None
    kind = source["subagent"]
    spawn = kind.get("thread_spawn") if isinstance(kind, dict) else None
    return spawn if isinstance(spawn, dict) else {}


def _described(meta: Payload) -> dict[str, Any] | None:
    """What else is known of a session; of its instructions only the size and a hash."""
    names = ("originator", "source", "thread_source", "model_provider", "history_mode", "memory_mode")
    names += ("agent_nickname", "agent_role", "agent_path", "forked_from_id", "session_id")
    found = {name: getattr(meta, name) for name in names}
    base = meta.base_instructions
    text = text_of(base.get("text") if isinstance(base, dict) else base) or text_of(meta.instructions)
    if text:
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        found["instructions"] = {"length": len(text), "sha256": mark}
    return {name: value for name, value in found.items() if value is not None} or None


def _split_plan(text: str) -> list[str]:
    """A reply as the screen shows it: citations cut away, a proposed plan told apart."""
    if "<oai-mem-citation>" in text:
        before, _, rest = text.partition("<oai-mem-citation>")
        text = before + rest.partition("</oai-mem-citation>")[2]
    if "<proposed_plan>" not in text:
        return [text]
    before, _, rest = text.partition("<proposed_plan>")
    plan, _, after = rest.partition("</proposed_plan>")
    return [before + after, plan.strip()]


def _message(error: object) -> str:
    return text_of(error.get("message") if isinstance(error, dict) else error) or "unknown error"


def _as_payload(item: Core) -> Payload:
    return item if isinstance(item, Payload) else Payload(id=item.id, result=item.result, status=item.status)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _trim(held: dict[str, Any], size: int) -> None:
    while len(held) > size:
        del held[next(iter(held))]
