"""Codex: from records to items.

A record is told apart by its fields, not by a version: bare lines (to 0.31),
envelopes, and envelopes with ordinals whose events are turn items. Most
things are said twice, once for the model (`response_item`) and once for the
screen (`event_msg`); whichever comes first is taken and its twin is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from recollect.capture.adapters import _codex_calls as calls
from recollect.capture.adapters._codex_prompts import typed_in
from recollect.capture.adapters._codex_records import (
    BARE,
    Fields,
    Line,
    fields,
    listed,
    moment,
    text_of,
    whole,
)
from recollect.capture.adapters._codex_records import uuid_moment as made_at
from recollect.capture.adapters._codex_sessions import facts_of, identity
from recollect.capture.adapters._codex_talk import Talk
from recollect.capture.adapters._codex_tools import Outcome, outcome, texts_in
from recollect.capture.adapters._codex_turns import MAX_CALLS, State, trim
from recollect.model import Event, Problem, SessionFacts, ToolResult, Usage

# Known, and of no use to us: what they say is said elsewhere, or says nothing that lasts.
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
ENVELOPED = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
# Longer ids are not ids; they would only fill the checkpoint.
MAX_ID = 200

Handler = Callable[[Fields, Any], None]


class Transcript(Talk):
    """Reads records in file order and collects the items they give in `out`."""

    def __init__(self, path: str, fallback: str, state: State | None = None) -> None:
        super().__init__(state)
        self.path, self.fallback = path, fallback
        self.unknown: Counter[str] = Counter()
        self.odd: Counter[str] = Counter()
        self._context: Fields = {}
        self._items: dict[str | None, Handler] = {
            "message": self.message,
            "reasoning": self.reasoning,
            "function_call_output": self._result,
            "custom_tool_call_output": self._result,
            "tool_search_output": self._found_tools,
            "agent_message": self.mail,
            **dict.fromkeys(calls.CALLS, self._called),
        }
        self._events: dict[str | None, Handler] = {
            "user_message": self.user_message,
            "agent_message": lambda told, stamp: self.say("reply", told.get("message"), stamp, 1),
            "agent_reasoning": lambda told, stamp: self.say("reasoning", told.get("text"), stamp, 1),
            "agent_reasoning_raw_content": lambda told, stamp: self.say(
                "reasoning", told.get("text"), stamp, 1
            ),
            "token_count": self._token_count,
            "task_started": self._task_started,
            "turn_started": self._task_started,
            "task_complete": self._task_complete,
            "turn_complete": self._task_complete,
            "turn_aborted": self._turn_aborted,
            "thread_rolled_back": self._rolled_back,
            "context_compacted": lambda told, stamp: self._compaction("", stamp, 1),
            "error": lambda told, stamp: self._error(told.get("message") or told.get("error"), stamp),
            "item_completed": self._item_completed,
            "thread_name_updated": lambda told, stamp: self.name(text_of(told.get("thread_name"))),
            "entered_review_mode": self.entered_review,
            "exited_review_mode": self.exited_review,
            **dict.fromkeys(calls.ENDS, self._ended),
        }
        self._records: dict[str, Handler] = {
            "turn_context": self._turn_context,
            "compacted": lambda told, stamp: self._compaction(text_of(told.get("message")) or "", stamp, -1),
            "inter_agent_communication": self.mail,
        }

    # Reading ----------------------------------------------------------------

    def take(self, lines: Iterable[Line | Problem]) -> None:
        """Enveloped lines, in order; what could not be read is passed on."""
        items, events, stretch = self._items, self._events, self.state.stretch
        for line in lines:
            if isinstance(line, Problem):
                self.out.append(line)
                continue
            kind, payload, stamp = line.type, line.payload, line.timestamp
            if not isinstance(payload, dict):
                self.odd["a record without a payload"] += 1
                continue
            if kind == "session_meta":
                self._meta(payload, stamp)
                continue
            if not self.session:
                self._begin_unnamed()
            if stretch.open and stretch.covers(payload, line.ordinal, moment(stamp)):
                self._pass_over(kind, payload)
                continue
            if kind == "response_item" or kind == "event_msg":
                told = payload.get("type")
                table = items if kind == "response_item" else events
                handler = table.get(told) if told.__class__ is str else None
                if handler is not None:
                    handler(payload, stamp)
                elif kind == "response_item":
                    self._other_item(payload, stamp)
                else:
                    self._skip(told, SKIPPED_EVENTS, "event type")
            else:
                handler = self._records.get(kind) if isinstance(kind, str) else None
                if handler is not None:
                    handler(payload, stamp)
                else:
                    self._skip(kind, SKIPPED_RECORDS, "record type")

    def is_bare(self, data: bytes) -> bool:
        """Whether this file has lines without an envelope; its first line decides for all."""
        state = self.state
        if state.bare is None:
            try:
                state.bare = "payload" not in BARE.decode(data.lstrip().partition(b"\n")[0])
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                state.bare = b'"payload"' not in data[:4096]
        return state.bare

    def take_bare(self, lines: Iterable[Fields | Problem]) -> None:
        """Lines without an envelope: the session, then items without times."""
        for line in lines:
            if isinstance(line, Problem):
                self.out.append(line)
            elif isinstance(line.get("payload"), dict):
                known = {name: line.get(name) for name in ("timestamp", "type", "payload", "ordinal")}
                self.take([Line(**known)])
            elif "record_type" not in line:
                self._bare(line)

    def _bare(self, line: Fields) -> None:
        kind = line.get("type")
        if kind is None and "role" not in line:
            if text_of(line.get("id")) and not self.session:
                self._meta(line, None)
            else:
                self.odd["a record without a type"] += 1
            return
        if not self.session:
            self._begin_unnamed()
        if kind == "message" and line.get("role") == "user":
            self.user_item(line, line.get("timestamp"), bare=True)
            return
        handler = self._items.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(line, line.get("timestamp"))
        elif isinstance(kind, str) and kind in ENVELOPED:
            self.odd["a record without a payload"] += 1
        else:
            self._other_item(line, line.get("timestamp"))

    def _other_item(self, item: Fields, stamp: object) -> None:
        if item.get("type") is None and isinstance(item.get("role"), str):
            self.message(item, stamp)
        else:
            self._skip(item.get("type"), SKIPPED_ITEMS, "item type")

    def _skip(self, kind: object, known: frozenset[str], what: str) -> None:
        if not isinstance(kind, str):
            self.odd[f"no {what}"] += 1
        elif kind not in known:
            self.unknown[f"{what} {kind[:100]}"] += 1

    def problems(self) -> list[Problem]:
        """What was not understood, one Problem for each kind of it."""
        told: list[Problem] = []
        for reason, count in self.unknown.items():
            told.append(Problem(path=self.path, kind="unknown", reason=reason, count=count))
        for reason, count in self.odd.items():
            told.append(Problem(path=self.path, kind="bad_record", reason=reason, count=count))
        return told

    # The session ------------------------------------------------------------

    def _begin_unnamed(self) -> None:
        """A file whose first line is lost: its name must do."""
        self.be(identity({}, self.fallback))
        self.out.append(self.facts())

    def _meta(self, meta: Fields, stamp: object) -> None:
        state, at = self.state, moment(stamp)
        who = state.who
        if who is None:
            who = identity(meta, self.fallback)
            self.be(who)
            state.cwd = text_of(meta.get("cwd"))
            born = made_at(who.thread) or moment(meta.get("timestamp")) or at
            state.stretch.begin(meta, born, at)
        elif (text_of(meta.get("id")) or who.thread) != who.thread:
            self._meet_parent(text_of(meta.get("id")), at)
            return
        self.out.append(facts_of(meta, who, at))

    def _meet_parent(self, thread: str | None, at: int | None) -> None:
        """Another thread's session_meta begins copied history, but only before any turn of our own."""
        state = self.state
        if state.who is None or state.turn or state.stretch.start is not None:
            return
        if state.who.parent is None:
            self.be(state.who._replace(parent=thread, forked_from=thread))
            self.out.append(SessionFacts(session=self.session, parent=thread))
        state.stretch.meet_parent(at)

    def _pass_over(self, kind: object, payload: Fields) -> None:
        """A copied record: only what the child's own records build on is remembered."""
        if kind == "turn_context":
            self._note_context(payload)
        elif payload.get("type") == "token_count":
            self.state.meter.advance(payload)
        elif payload.get("type") in ("user_message", "item_completed"):
            self.state.told_by_events = True

    # What happens to the thread -------------------------------------------------

    def _task_started(self, told: Fields, stamp: object) -> None:
        state = self.state
        self.begin_task(_id(told.get("turn_id")))
        if window := whole(told.get("model_context_window")):
            state.context["context_window"] = window
        if mode := text_of(told.get("collaboration_mode_kind")):
            state.context["collaboration_mode"] = mode
        if state.turn and state.prompts:
            self.learn(state.context)

    def _task_complete(self, told: Fields, stamp: object) -> None:
        if self._held:
            self.open_held()
        if error := told.get("error"):
            self._error(error, stamp)
        self.learn(
            {
                "duration_ms": whole(told.get("duration_ms")),
                "first_token_ms": whole(told.get("time_to_first_token_ms")),
            }
        )
        self.end_task()

    def _turn_aborted(self, told: Fields, stamp: object) -> None:
        self.add("abort", text_of(told.get("reason")) or "", stamp)
        self.learn({"duration_ms": whole(told.get("duration_ms"))})
        self.end_task()

    def _rolled_back(self, told: Fields, stamp: object) -> None:
        if self._held:
            self.open_held()
        self.roll_back(whole(told.get("num_turns")) or 0)

    def _turn_context(self, told: Fields, stamp: object) -> None:
        state = self.state
        self.begin_task(_id(told.get("turn_id")))
        # Old versions write one for every request, nearly all of them alike.
        if told != self._context:
            self._context = told
            self._note_context(told)
        if not state.turn or self._held or (state.task and not state.prompts):
            return
        if state.cwd != state.turn_cwd and state.cwd:
            state.turn_cwd, self._news = state.cwd, True
        self.learn(state.context)

    def _note_context(self, told: Fields) -> None:
        state = self.state
        state.model = text_of(told.get("model")) or state.model
        cwd = text_of(told.get("cwd"))
        if cwd and len(cwd) < 5000:
            state.cwd = cwd
        for name in ("effort", "sandbox_policy", "approval_policy"):
            if told.get(name) is not None:
                state.context[name] = told[name]
        mode = told.get("collaboration_mode")
        if isinstance(mode, dict):
            mode = mode.get("mode") or mode.get("kind")
        if text_of(mode):
            state.context["collaboration_mode"] = mode

    def _error(self, error: object, stamp: object) -> None:
        told = error.get("message") if isinstance(error, dict) else error
        self.add("error", text_of(told) or "unknown error", stamp)

    def _compaction(self, text: str, stamp: object, side: int) -> None:
        if not self.is_twin("compaction", "", side):
            self.add("compaction", text, stamp)

    def _token_count(self, told: Fields, stamp: object) -> None:
        state = self.state
        info = told.get("info")
        if state.turn:
            limits = told.get("rate_limits")
            if limits:
                state.telemetry["rate_limits"] = limits
                self._news = True
            if info.__class__ is dict and (window := whole(info.get("model_context_window"))):
                state.context["context_window"] = state.telemetry["context_window"] = window
                self._news = True
        call = state.meter.advance(told)
        if call is None or state.who is None:
            return
        given, cached, written, output, reasoning = call.spent
        who = state.who
        # When the end of the copied stretch is a guess, or the total was carried over
        # from the parent, this may be a call that the parent's file counts too.
        shared = who.forked_from and (state.stretch.guessed or call.carried)
        self.out.append(
            Usage(
                session=self.session,
                turn=self.any_turn(stamp),
                key=f"{who.forked_from if shared else who.thread}:{call.mark}",
                model=text_of(fields(info).get("model")) or state.model,
                at=moment(stamp),
                input=max(0, given - cached - written),
                cache_read=cached,
                cache_write=written,
                output=output,
                reasoning=reasoning,
            )
        )

    def _item_completed(self, told: Fields, stamp: object) -> None:
        """A turn item: paginated files tell by these what events told before."""
        item = fields(told.get("item"))
        kind = item.get("type")
        if kind == "UserMessage":
            self.begin_task(_id(told.get("turn_id")))
            self.prompted(*typed_in(item.get("content")), stamp)
        elif kind == "AgentMessage":
            self.say("reply", texts_in(item.get("content")), stamp, 1)
        elif kind == "Plan":
            self.say("reply", item.get("text"), stamp, 1)
        elif kind == "Reasoning":
            for name in ("summary_text", "raw_content"):
                for text in listed(item.get(name)):
                    self.say("reasoning", text, stamp, 1)
        elif kind == "ContextCompaction":
            self._compaction("", stamp, 1)
        elif kind == "EnteredReviewMode":
            self.entered_review(item, stamp)
        elif kind == "ExitedReviewMode":
            self.exited_review(item, stamp)
        elif isinstance(kind, str) and kind in calls.ENDS:
            self._ended(item, stamp)
        else:
            self._skip(kind, SKIPPED_TURN_ITEMS, "turn item type")

    # Tools ------------------------------------------------------------------------

    def _called(self, item: Fields, stamp: object) -> None:
        made, end = calls.made_by(item)
        turn = self.content_turn(stamp)
        if made.kind == "web" and made.target and self.is_twin("web", made.target, -1):
            return
        if end is not None and made.call in self.state.calls:
            return
        self._tool_call(made, turn, stamp, end)

    def _tool_call(self, made: calls.Made, turn: str, stamp: object, end: Outcome | None) -> None:
        state, call = self.state, made.call
        if call is None and made.kind == "shell":
            state.unnamed += 1
            call = f"unnamed-{state.unnamed}"
        if call is not None:
            if call in state.calls:
                del state.calls[call]
            state.calls[call] = (turn, end is not None and end.text is not None)
            if len(state.calls) > MAX_CALLS:
                trim(state.calls, MAX_CALLS)
        event = Event(
            session=self.session,
            turn=turn,
            kind="tool_call",
            at=moment(stamp),
            call=call,
            name=made.name,
            tool_kind=made.kind,
            target=made.target,
            input=made.input,
        )
        if end is not None:
            event.output, event.ok, event.exit_code, event.duration_ms = end
        self.out.append(event)

    def _result(self, item: Fields, stamp: object) -> None:
        call = item.get("call_id")
        if isinstance(call, str):
            self._join(call[:MAX_ID], outcome(item.get("output")), stamp)

    def _found_tools(self, item: Fields, stamp: object) -> None:
        names = [fields(tool).get("name") for tool in listed(item.get("tools"))]
        if call := _id(item.get("call_id")):
            self._join(call, Outcome(", ".join(name for name in names if isinstance(name, str))), stamp)

    def _ended(self, told: Fields, stamp: object) -> None:
        made, end = calls.ended_by(told)
        if made.call is not None and made.call in self.state.calls:
            self._join(made.call, end, stamp)
            return
        turn = self.content_turn(stamp)
        if made.kind == "web" and made.target and self.is_twin("web", made.target, 1):
            return
        self._tool_call(made, turn, stamp, end)

    def _join(self, call: str, end: Outcome, stamp: object) -> None:
        held = self.state.calls
        if call not in held:
            self.odd["a result without its call"] += 1
            return
        turn, has_output = held[call]
        text, ok, exit_code, duration_ms = end
        if text and not has_output:
            held[call] = (turn, True)
        self.out.append(
            ToolResult(
                session=self.session,
                turn=turn,
                call=call,
                at=moment(stamp),
                output=None if has_output else text,
                ok=ok,
                exit_code=exit_code,
                duration_ms=duration_ms,
            )
        )


def _id(value: object) -> str | None:
    return value[:MAX_ID] if isinstance(value, str) and value else None
