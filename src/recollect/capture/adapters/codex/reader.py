"""Makes items of the records of one Codex thread.

A record is told apart by its fields, not by a version: bare lines (to 0.31),
envelopes, and envelopes with ordinals whose events are turn items. Most
things are said twice, once for the model (`response_item`) and once for the
screen (`event_msg`); whichever comes first is taken and its twin is dropped.

Of prompts the event is taken, because the item for the model stands among many
texts that nobody typed; an item only when no event has followed it before the
model answers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from recollect.capture.adapters.codex.calls import CALLS, ENDS, CodexCalls, id_of
from recollect.capture.adapters.codex.prompts import (
    INJECTED_KINDS,
    cwd_in,
    is_injected,
    placeholder,
    typed_in,
    typed_part,
)
from recollect.capture.adapters.codex.records import BARE, CodexLine, moment, uuid_moment, whole
from recollect.capture.adapters.codex.session import facts_of, identity
from recollect.capture.adapters.codex.tools import texts_in
from recollect.capture.adapters.codex.turns import CodexState
from recollect.capture.logs.values import Fields, fields_of, list_of, text_of
from recollect.model.logs import Event, EventKind, Problem, SessionFacts, Usage

# Known, and of no use to us: what they say is said elsewhere, or says nothing that lasts.
SKIPPED_RECORDS = frozenset({
    "world_state", "security_risk_score", "inter_agent_communication_metadata",
    "token_usage_record",
})  # fmt: skip
SKIPPED_ITEMS = frozenset({
    "ghost_snapshot", "compaction", "compaction_summary", "context_compaction",
    "compaction_trigger", "additional_tools", "other",
})  # fmt: skip
SKIPPED_EVENTS = frozenset({
    "thread_settings_applied", "thread_goal_updated", "sub_agent_activity", "guardian_assessment",
    "collab_agent_spawn_end", "collab_agent_interaction_end", "collab_waiting_end",
    "collab_close_end", "collab_resume_end", "dynamic_tool_call_request", "undo_completed",
    "warning", "guardian_warning", "agent_reasoning_section_break", "stream_error",
    "background_event", "plan_update", "turn_diff", "session_configured", "deprecation_notice",
    "model_reroute", "thread_queue_changed", "hook_started", "hook_completed",
    "mcp_startup_update", "mcp_startup_complete",
})  # fmt: skip
SKIPPED_TURN_ITEMS = frozenset({"HookPrompt", "SubAgentActivity", "CollabAgentToolCall"})
ENVELOPED = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})

# How nearly every file begins; a regular expression is enough to see the envelope.
_enveloped = re.compile(rb'\{"timestamp":"[^"\\]*","type":"[^"\\]*","payload":\{')


class CodexReader(CodexCalls):
    """Reads records in file order and collects the items they give in `out`."""

    def __init__(self, path: str, fallback: str, state: CodexState | None = None) -> None:
        super().__init__(state)
        self.path, self.fallback = path, fallback
        self.unknown: defaultdict[str, int] = defaultdict(int)
        self._context: Fields = {}

    # Reading ----------------------------------------------------------------

    def take(self, lines: Iterable[CodexLine]) -> None:
        """Enveloped lines, in order."""
        copied = self.state.copied
        for line in lines:
            kind, payload, stamp = line.type, line.payload, line.timestamp
            if type(payload) is not dict:
                self.odd["a record without a payload"] += 1
                continue
            if kind == "response_item":
                table = _items
            elif kind == "event_msg":
                table = _events
            elif kind == "session_meta":
                self._meta(payload, stamp)
                continue
            else:
                table = None
            if not self.session:
                self._begin_unnamed()
            if copied.open and copied.covers(payload, line.ordinal, moment(stamp)):
                self._pass_over(kind, payload)
            elif table is None:
                self._take_record(kind, payload, stamp)
            else:
                try:
                    handler = table[payload["type"]]
                except (KeyError, TypeError):
                    self._take_other(kind, payload, stamp)
                else:
                    handler(self, payload, stamp)

    def take_loose(self, lines: Iterable[CodexLine | Problem]) -> None:
        """Lines among which there are some that could not be read: these are passed on."""
        for line in lines:
            if isinstance(line, Problem):
                self.out.append(line)
            else:
                self.take([line])

    def _take_record(self, kind: object, payload: Fields, stamp: object) -> None:
        handler = _records.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(self, payload, stamp)
        else:
            self._skip(kind, SKIPPED_RECORDS, "record type")

    def _take_other(self, kind: str, payload: Fields, stamp: object) -> None:
        if kind == "response_item":
            self._other_item(payload, stamp)
        else:
            self._skip(payload.get("type"), SKIPPED_EVENTS, "event type")

    def is_bare(self, data: bytes) -> bool:
        """Whether this file has lines without an envelope; its first line decides for all."""
        state = self.state
        if state.bare is None and _enveloped.match(data):
            state.bare = False
        elif state.bare is None:
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
                known = {
                    name: line.get(name) for name in ("timestamp", "type", "payload", "ordinal")
                }
                self.take([CodexLine(**known)])
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
        handler = _items.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(self, line, line.get("timestamp"))
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
            born = uuid_moment(who.thread) or moment(meta.get("timestamp")) or at
            state.copied.begin(meta, born, at)
        elif (text_of(meta.get("id")) or who.thread) != who.thread:
            self._meet_parent(text_of(meta.get("id")), at)
            return
        self.out.append(facts_of(meta, who, at))

    def _meet_parent(self, thread: str | None, at: int | None) -> None:
        """Another thread's session_meta begins copied history, before any turn of our own."""
        state = self.state
        if state.who is None or state.turn or state.copied.start is not None:
            return
        if state.who.parent is None:
            self.be(state.who._replace(parent=thread, forked_from=thread))
            self.out.append(SessionFacts(session=self.session, parent=thread))
        state.copied.meet_parent(at)

    def _pass_over(self, kind: object, payload: Fields) -> None:
        """A copied record: only what the child's own records build on is remembered."""
        if kind == "turn_context":
            self._note_context(payload)
        elif payload.get("type") == "token_count":
            self.state.meter.advance(payload)
        elif payload.get("type") in ("user_message", "item_completed"):
            self.state.told_by_events = True

    # What people and agents say, each thing once ---------------------------------

    def user_message(self, told: Fields, stamp: object) -> None:
        """A prompt, told by an event."""
        message = told.get("message")
        text = message if type(message) is str else ""
        if told.get("kind") in INJECTED_KINDS or is_injected(text):
            return
        has_pictures = told.get("images") or told.get("local_images")
        self.prompted(typed_part(text), _pictures(told) if has_pictures else [], stamp)

    def prompted(self, text: str, pictures: list[str], stamp: object) -> None:
        """A prompt as the screen showed it; the model's copy of it may have come before."""
        state = self.state
        if self._held:
            for held, _, held_stamp in self._held:
                if held == text:
                    stamp = held_stamp
            self._held.clear()
        elif not state.told_by_events and not state.filled and self.has_prompt(text):
            # An earlier read ended between the two.
            state.told_by_events = True
            return
        if not state.told_by_events:
            state.told_by_events = True
        if text or pictures:
            self.open_prompt(text, pictures, stamp)

    def message(self, item: Fields, stamp: object) -> None:
        """A message that the model saw or wrote; developers' messages are nobody's."""
        role, state = item.get("role"), self.state
        if role == "user":
            if not state.told_by_events or state.cwd is None:
                self.user_item(item, stamp)
        elif role == "assistant":
            text = _joined_texts(item.get("content"))
            if "<" in text and ("<oai-mem-citation>" in text or "<proposed_plan>" in text):
                for said in _shown(text):
                    self.say("reply", said, stamp, -1)
            elif state.review and text.startswith(state.review):
                state.review = ""
            else:
                self.say("reply", text, stamp, -1)

    def user_item(self, item: Fields, stamp: object, bare: bool = False) -> None:
        """A text in the user's name: a prompt, when it was typed and no event tells it."""
        state = self.state
        if state.cwd is None and (cwd := cwd_in(item.get("content"))):
            state.cwd = cwd
            self.out.append(SessionFacts(session=self.session, cwd=cwd))
        if state.told_by_events:
            return
        text, pictures = typed_in(item.get("content"))
        if not text and not pictures:
            return
        if bare:
            self.open_prompt(text, pictures, stamp)
        else:
            self.hold(text, pictures, stamp)

    def mail(self, told: Fields, stamp: object) -> None:
        """A message from another agent starts a turn when it woke this one."""
        content, state, who = told.get("content"), self.state, self.state.who
        text = content if isinstance(content, str) else texts_in(content)
        own = (who.agent_path if who else None) or "/root"
        if not text or told.get("author") == own:
            return
        first = who is not None and who.origin == "subagent" and not state.turn
        if first or (state.task and not state.prompts):
            self.open_prompt(text, [], stamp, "agent")

    def say(self, kind: EventKind, text: object, stamp: object, side: int) -> None:
        """A reply or a piece of reasoning, once; `side` is that of `is_twin`."""
        if type(text) is not str or not (bare := text.strip()):
            return
        turn = self.settled or self.content_turn(stamp)
        if not self.is_twin(kind, bare, side):
            self.out.append(
                Event(session=self.session, turn=turn, kind=kind, at=moment(stamp), text=text)
            )

    def reasoning(self, item: Fields, stamp: object) -> None:
        """Each part of a summary, and of the raw thought where a model shows it."""
        for parts in (item.get("summary"), item.get("content")):
            for part in parts if type(parts) is list else ():
                self.say("reasoning", part.get("text") if type(part) is dict else part, stamp, -1)

    def entered_review(self, told: Fields, stamp: object) -> None:
        """A review is asked for by a command, which no message tells."""
        hint = text_of(told.get("user_facing_hint")) or text_of(told.get("prompt")) or ""
        self._held.clear()
        self.open_prompt(f"/review {hint}".strip(), [], stamp)

    def exited_review(self, told: Fields, stamp: object) -> None:
        """What a review found."""
        review = fields_of(told.get("review_output"))
        lead = text_of(review.get("overall_explanation")) or ""
        lines = [lead]
        for finding in list_of(review.get("findings")):
            parts = [text_of(fields_of(finding).get(name)) for name in ("title", "body")]
            lines.append("\n".join(part for part in parts if part))
        text = "\n\n".join(line for line in lines if line)
        if text:
            self.add("reply", text, stamp)
            # The same is then said as a message to the model.
            self.state.review = lead[:200]

    def add(self, kind: EventKind, text: str, stamp: object) -> None:
        """Something that was said or happened once."""
        turn = self.any_turn(stamp)
        self.state.filled = True
        self.out.append(
            Event(session=self.session, turn=turn, kind=kind, at=moment(stamp), text=text)
        )

    # What happens to the thread -------------------------------------------------

    def _task_started(self, told: Fields, stamp: object) -> None:
        state = self.state
        self.begin_task(id_of(told.get("turn_id")))
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
        if turn_id := told.get("turn_id"):
            self.begin_task(id_of(turn_id))
        # Old versions write one for every request, nearly all of them alike.
        if told != self._context:
            self._context = told
            self._note_context(told)
        if not state.turn or self._held or (state.task and not state.prompts):
            return
        if state.cwd != state.turn_cwd and state.cwd:
            state.turn_cwd, self._news = state.cwd, True
        if state.telemetry != state.context:
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
            if type(info) is dict and (window := whole(info.get("model_context_window"))):
                state.context["context_window"] = state.telemetry["context_window"] = window
                self._news = True
        call = state.meter.advance(told)
        if call is None or state.who is None:
            return
        given, cached, written, output, reasoning = call.spent
        who = state.who
        # When the end of the copied history is a guess, or the total was carried over
        # from the parent, this may be a call that the parent's file counts too.
        shared = who.forked_from and (state.copied.guessed or call.carried)
        self.out.append(
            Usage(
                session=self.session,
                turn=self.any_turn(stamp),
                key=f"{who.forked_from if shared else who.thread}:{call.mark}",
                model=(text_of(info.get("model")) if type(info) is dict else None) or state.model,
                at=moment(stamp),
                input=given - cached - written if given > cached + written else 0,
                cache_read=cached,
                cache_write=written,
                output=output,
                reasoning=reasoning,
            )
        )

    def _item_completed(self, told: Fields, stamp: object) -> None:
        """A turn item: paginated files tell by these what events told before."""
        item = fields_of(told.get("item"))
        kind = item.get("type")
        if kind == "UserMessage":
            self.begin_task(id_of(told.get("turn_id")))
            self.prompted(*typed_in(item.get("content")), stamp)
        elif kind == "AgentMessage":
            self.say("reply", texts_in(item.get("content")), stamp, 1)
        elif kind == "Plan":
            self.say("reply", item.get("text"), stamp, 1)
        elif kind == "Reasoning":
            for name in ("summary_text", "raw_content"):
                for text in list_of(item.get(name)):
                    self.say("reasoning", text, stamp, 1)
        elif kind == "ContextCompaction":
            self._compaction("", stamp, 1)
        elif kind == "EnteredReviewMode":
            self.entered_review(item, stamp)
        elif kind == "ExitedReviewMode":
            self.exited_review(item, stamp)
        elif isinstance(kind, str) and kind in ENDS:
            self.ended(item, stamp)
        else:
            self._skip(kind, SKIPPED_TURN_ITEMS, "turn item type")


# Words ------------------------------------------------------------------------


def _pictures(told: Fields) -> list[str]:
    pictures = [placeholder(url) for url in list_of(told.get("images")) if isinstance(url, str)]
    return pictures + [
        f"[image {path}]" for path in list_of(told.get("local_images")) if isinstance(path, str)
    ]


def _joined_texts(content: object) -> str:
    """The texts of a message's content; nearly always it is one."""
    if type(content) is not list:
        return ""
    texts = []
    for part in content:
        if type(part) is dict and type(text := part.get("text")) is str:
            texts.append(text)
    return texts[0] if len(texts) == 1 else "".join(texts)


def _shown(text: str) -> list[str]:
    """A reply as the screen shows it: citations cut away, a proposed plan told apart."""
    if "<oai-mem-citation>" in text:
        before, _, rest = text.partition("<oai-mem-citation>")
        text = before + rest.partition("</oai-mem-citation>")[2]
    if "<proposed_plan>" not in text:
        return [text]
    before, _, rest = text.partition("<proposed_plan>")
    plan, _, after = rest.partition("</proposed_plan>")
    return [before + after, plan]


# Which record goes where --------------------------------------------------------

Handler = Callable[[CodexReader, Fields, Any], None]

_items: dict[str, Handler] = {
    "message": CodexReader.message,
    "reasoning": CodexReader.reasoning,
    **dict.fromkeys(CALLS, CodexReader.called),
    "function_call": CodexReader.function_called,
    "function_call_output": CodexReader.answered,
    "custom_tool_call_output": CodexReader.answered,
    "tool_search_output": CodexReader.found_tools,
    "agent_message": CodexReader.mail,
}
_events: dict[str, Handler] = {
    "user_message": CodexReader.user_message,
    "agent_message": lambda self, told, stamp: self.say("reply", told.get("message"), stamp, 1),
    "agent_reasoning": lambda self, told, stamp: self.say("reasoning", told.get("text"), stamp, 1),
    "agent_reasoning_raw_content": lambda self, told, stamp: self.say(
        "reasoning", told.get("text"), stamp, 1
    ),
    "token_count": CodexReader._token_count,
    "task_started": CodexReader._task_started,
    "turn_started": CodexReader._task_started,
    "task_complete": CodexReader._task_complete,
    "turn_complete": CodexReader._task_complete,
    "turn_aborted": CodexReader._turn_aborted,
    "thread_rolled_back": CodexReader._rolled_back,
    "context_compacted": lambda self, told, stamp: self._compaction("", stamp, 1),
    "error": lambda self, told, stamp: self._error(told.get("message") or told.get("error"), stamp),
    "item_completed": CodexReader._item_completed,
    "thread_name_updated": lambda self, told, stamp: self.name(text_of(told.get("thread_name"))),
    "entered_review_mode": CodexReader.entered_review,
    "exited_review_mode": CodexReader.exited_review,
    **dict.fromkeys(ENDS, CodexReader.ended),
}
_records: dict[str, Handler] = {
    "turn_context": CodexReader._turn_context,
    "compacted": lambda self, told, stamp: self._compaction(
        text_of(told.get("message")) or "", stamp, -1
    ),
    "inter_agent_communication": CodexReader.mail,
}
