"""The course of a Grok Build session, replayed from its updates.

The log is only ever appended to. A rewind leaves a marker behind which the
conversation goes on from an earlier prompt, so what was undone is still there
and is told as undone. Which prompt a marker means is counted as Grok counts:
each run of user chunks is a prompt until the first that carries its number;
from then on only those that do. The others were sent in the middle of a turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.grok.prompts import GrokKeys, author_of, key_of, typed
from recollect.capture.adapters.grok.records import GrokUpdate, GrokUpdateLine, decode_raw
from recollect.capture.adapters.grok.tokens import GrokBill, bill_of
from recollect.capture.adapters.grok.tools import GrokCalls
from recollect.capture.logs.dialogue import OPENING
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    first_text,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Event, EventKind

_SPOKEN: dict[str | None, EventKind] = {
    "agent_message_chunk": "reply",
    "agent_thought_chunk": "reasoning",
}
# Nothing in these that a conversation is made of, or that is not told better elsewhere.
_PASSED_OVER = {
    "plan", "available_commands_update", "current_mode_update", "session_info_update",
    "config_option_update", "usage_update", "diff_review", "auto_compact_started",
    "auto_compact_cancelled", "auto_continue_completed", "memory_flush_started",
    "memory_flush_completed", "memory_dream_completed", "memory_session_saved", "feedback_request",
    "relay_sync_status", "auto_recovery_started", "hook_annotation", "hook_execution",
    "hooks_changed", "plugins_changed", "plugin_updates_installed", "session_status",
    "session_recap", "session_recap_unavailable", "last_turn_summary", "task_completed",
    "subagent_progress", "task_backgrounded", "scheduled_task_created", "scheduled_task_fired",
    "scheduled_task_deleted", "monitor_event", "model_auto_switched", "model_changed",
    "tool_call_delta_chunk", "image_compressed", "image_dropped", "memory_files",
    "workflow_updated", "goal_updated", "pending_interaction", "interaction_resolved",
    "response_started", "reasoning_completed", "response_completed", "unknown",
}  # fmt: skip


class GrokTurn(Struct):
    """One prompt and what came of it."""

    session: str
    key: str
    at: int | None = None
    author: Author = "human"
    words: list[str] = field(default_factory=list)
    prompt_id: str = ""
    live: bool = True
    events: list[Event] = field(default_factory=list)
    telemetry: dict[str, Any] = field(default_factory=dict)
    # By prompt: the program may run one of its own that no chunk tells of.
    bills: dict[str, GrokBill] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """What was asked; it may have come in several pieces."""
        return "\n".join(filter(None, self.words))

    def add(self, kind: EventKind, at: int | None = None, text: str = "") -> Event:
        """One more thing that happened."""
        event = Event(session=self.session, turn=self.key, kind=kind, at=at, text=text)
        self.events.append(event)
        return event


class GrokSubagent(Struct):
    """A sub-agent that a prompt started, and when it finished."""

    child: str
    at: int | None
    finished_at: int | None = None


class GrokUpdates:
    """The turns of one session, in the order in which they began."""

    def __init__(self, session: str, problems: ProblemCounter, *, subagent: bool) -> None:
        self.session, self.subagent = session, subagent
        self.turns: list[GrokTurn] = []
        self.title: str | None = None
        self.calls = GrokCalls()
        self.problems = problems
        self._keys = GrokKeys()
        self._by_prompt: dict[str, GrokTurn] = {}
        self._by_child: dict[str, GrokSubagent] = {}
        self._starts_by_prompt: dict[str, list[GrokSubagent]] = {}
        # The turns that are part of the conversation now, and which of them begin a counted prompt.
        self._live: list[GrokTurn] = []
        self._starts: list[int] = []
        self._numbered = False
        # The number of the prompt whose chunks are coming in; None between prompts.
        self._run: tuple[int | None] | None = None
        # What is being said, chunk by chunk.
        self._speaking: Event | None = None
        self._chunks: list[str] = []

    # Reading

    def take(self, line: GrokUpdateLine) -> None:
        """One more line of the log."""
        told = line.notification
        update, meta = told.update, fields_of(told.meta)
        kind, own = text_of(update.kind), fields_of(update.meta)
        if kind == "user_message_chunk" and own.get("hostTurn") is not True:
            self._user_chunk(update, line.at(meta), text_of(meta.get("promptId")) or "", own)
            return
        self._run = None
        if kind in _SPOKEN:
            # What the program says in answer to a command of its own is
            # not part of the conversation.
            if own.get("hostTurn") is not True:
                self._say(_SPOKEN[kind], update, line.at(meta))
        elif kind in ("tool_call", "tool_call_update"):
            self._tool(update, line.at(meta), own)
        elif kind in _HANDLED:
            _HANDLED[kind](self, update, line.at(meta), meta)
        elif kind != "user_message_chunk" and kind not in _PASSED_OVER:
            self.problems.unknown("update", update.kind)

    def finish(self) -> None:
        """Nothing more is added to what was being said."""
        if self._speaking is not None:
            self._speaking.text = "".join(self._chunks)
            self._speaking, self._chunks = None, []

    @property
    def children(self) -> set[str]:
        """The sub-agents that were started."""
        return set(self._by_child)

    def started_by(self, *prompts: str) -> list[GrokSubagent]:
        """The sub-agents that a prompt started, under whichever of its names."""
        starts: list[GrokSubagent] = []
        for prompt in dict.fromkeys(prompts):
            starts += self._starts_by_prompt.get(prompt, ())
        return starts

    # Prompts

    def _user_chunk(self, update: GrokUpdate, at: int | None, prompt_id: str, own: Fields) -> None:
        number = whole_of(own.get("promptIndex"))
        text = content_text(decode_raw(update.content))
        self._numbered = self._numbered or number is not None
        goes_on = self._run is not None and (not self._numbered or self._run[0] == number)
        self._run = (number,)
        if goes_on and self._live:
            self._live[-1].words.append(typed(text))
            return
        self.finish()
        # What is sent in the middle of a turn has the id of the prompt before.
        key = self._keys.fresh(prompt_id or key_of(at, text))
        turn = GrokTurn(
            self.session,
            key,
            at,
            author_of(prompt_id, own, subagent=self.subagent),
            [typed(text)],
            prompt_id,
        )
        if number is not None or not self._numbered:
            self._starts.append(len(self._live))
        if model := text_of(own.get("modelId")):
            turn.telemetry["model"] = model
        self._begin(turn)

    def _begin(self, turn: GrokTurn) -> None:
        self.turns.append(turn)
        self._live.append(turn)
        self._by_prompt.setdefault(turn.prompt_id or turn.key, turn)

    @property
    def _turn(self) -> GrokTurn:
        """The turn that things belong to now; one is begun when there is none."""
        if not self._live:
            self._begin(
                GrokTurn(
                    self.session, self._keys.fresh(f"{self.session}{OPENING}"), author="system"
                )
            )
        return self._live[-1]

    # What the agent does

    def _say(self, kind: EventKind, update: GrokUpdate, at: int | None) -> None:
        text = content_text(decode_raw(update.content))
        if self._speaking is None or self._speaking.kind != kind:
            if not text:
                return
            self.finish()
            self._speaking = self._turn.add(kind, at)
        self._chunks.append(text)

    def _tool(self, update: GrokUpdate, at: int | None, own: Fields) -> None:
        call = text_of(update.call)
        if call is None:
            self.problems.bad("a tool call without an id")
            return
        known = self.calls.find(call)
        if known is None:
            self.finish()
            known = self.calls.begin(call, self._turn.add("tool_call", at))
        known.learn(update, own)
        if known.is_done:
            self.finish()

    # What the vendor adds

    def _completed(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        self.finish()
        prompt_id = text_of(update.prompt_id) or ""
        turn = self._by_prompt.get(prompt_id) or self._turn
        bill = bill_of(prompt_id, update.usage, at)
        turn.prompt_id = turn.prompt_id or prompt_id
        if bill.models:
            turn.bills[prompt_id] = bill
        reason, result = text_of(update.stop_reason), text_of(update.agent_result)
        again = "stop_reason" in turn.telemetry
        if reason:
            turn.telemetry["stop_reason"] = reason
        if category := text_of(meta.get("cancellationCategory")):
            turn.telemetry["cancellation"] = category
        if not again and reason == "cancelled":
            turn.add("abort", at)
        elif not again and reason == "error":
            turn.add("error", at, result or "error")

    def _rewound(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        self.finish()
        target = whole_of(update.target_prompt_index)
        if target is None or not 0 <= target < len(self._starts):
            return
        first = self._starts[target]
        for turn in self._live[first:]:
            turn.live = False
        del self._live[first:], self._starts[target:]

    def _compacted(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        self.finish()
        turn, text = self._turn, text_of(update.summary_preview) or ""
        if turn.events and turn.events[-1].kind == "compaction":
            # A checkpoint and the notice of it tell of the same one.
            turn.events[-1].text = turn.events[-1].text or text
        else:
            turn.add("compaction", at, text)
        for name, value in (("before", update.tokens_before), ("after", update.tokens_after)):
            if count := count_of(value):
                turn.telemetry[f"context_tokens_{name}_compaction"] = count

    def _failed(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        self.finish()
        reason = first_text(update.error, update.message, update.reason)
        if update.type != "retrying" and reason:
            self._turn.add("error", at, reason)

    def _spawned(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        child = text_of(update.child_session_id)
        if child:
            prompt = first_text(update.parent_prompt_id, meta.get("promptId")) or self._turn.key
            start = self._by_child[child] = GrokSubagent(child, at)
            self._starts_by_prompt.setdefault(prompt, []).append(start)

    def _finished(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        start = self._by_child.get(text_of(update.child_session_id) or "")
        if start is not None:
            start.finished_at = at

    def _titled(self, update: GrokUpdate, at: int | None, meta: Fields) -> None:
        self.title = text_of(update.session_summary) or self.title


_HANDLED: dict[str | None, Callable[[GrokUpdates, GrokUpdate, int | None, Fields], None]] = {
    "turn_completed": GrokUpdates._completed,
    "rewind_marker": GrokUpdates._rewound,
    "compaction_checkpoint": GrokUpdates._compacted,
    "auto_compact_completed": GrokUpdates._compacted,
    "auto_compact_failed": GrokUpdates._failed,
    "auto_recovery_exhausted": GrokUpdates._failed,
    "retry_state": GrokUpdates._failed,
    "subagent_spawned": GrokUpdates._spawned,
    "subagent_finished": GrokUpdates._finished,
    "session_summary_generated": GrokUpdates._titled,
}
