"""Kimi Code: one wire log for each agent of a session, with
everything that its state is rebuilt from.

A session that was taken over from Kimi CLI begins with messages without times.
Those are turns of the old session, and the rest is a session that continues it.
"""

from __future__ import annotations

from html import unescape
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.adapters.kimi.reader import KimiMessageReader, exit_code_in, key_of, typed_in
from recollect.capture.logs.dialogue import LONGEST_ID, Dialogue, DialogueState
from recollect.capture.logs.readers import DialogueReader
from recollect.capture.logs.tags import inside
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    moment_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Item

# What is remembered in a checkpoint, of each sort: with calls that wait
# for ever it must not grow too large.
_MOST_AWAITED = 20
_MOST_UNDOABLE = 150
_MOST_MODELS = 10
# Every type in which nothing is for us: settings, estimates, and traces of what is told by others.
_PASSED_OVER = frozenset({
    "context.update_token_count", "cron.add", "cron.cursor", "cron.delete", "forked",
    "full_compaction.begin", "full_compaction.cancel", "full_compaction.complete", "goal.clear",
    "goal.create", "goal.update", "interaction.request", "interaction.resolved",
    "interruptionReminder.recorded", "llm.tools_snapshot", "mcp.tools_discovered",
    "micro_compaction.apply", "permission.record_approval_result", "plan.revision",
    "plan_mode.cancel", "plan_mode.enter", "plan_mode.exit", "plugin.session_start",
    "prompt.accepted", "runtime.set_binding", "staleGuard.cleared", "staleGuard.recorded",
    "swarm_mode.enter", "swarm_mode.exit", "task.started", "task.terminated", "task.waitDelivered",
    "token_counting.measured", "token_counting.rebased", "token_counting.truncated",
    "token_counting.turn_recorded", "tools.register_user_tool", "tools.reset_active_tools",
    "tools.set_active_tools", "tools.unregister_user_tool", "tools.update_store",
    "tower_mode.enter", "tower_mode.exit",
})  # fmt: skip
_SILENT_EVENTS = frozenset({"step.begin", "step.end", "step.retrying"})


class _Record(Struct, rename="camel"):
    """A line of the log."""

    type: Any = None
    time: Any = None
    created_at: Any = msgspec.field(default=None, name="created_at")
    input: Any = None
    origin: Any = None
    message: Any = None
    event: Any = None
    model: Any = None
    model_alias: Any = None
    provider: Any = None
    thinking_effort: Any = None
    usage: Any = None
    reason: Any = None
    error: Any = None
    duration_ms: Any = None
    summary: Any = None
    context_summary: Any = None
    count: Any = None
    cwd: Any = None
    environment_disclosure: Any = None
    profile_name: Any = None
    mode: Any = None


CODE_RECORDS: msgspec.json.Decoder[_Record] = msgspec.json.Decoder(_Record)


class KimiCodeState(Struct):
    """Where the reading of a log stands.

    `awaited` are prompts that the context has yet to repeat, `undoable` the
    turns since the context was last cut, `models` what aliases stand for.
    """

    dialogue: DialogueState = field(default_factory=DialogueState, name="standing")
    old: DialogueState = field(default_factory=DialogueState)
    repeats: dict[str, int] = field(default_factory=dict)
    awaited: list[str] = field(default_factory=list)
    undoable: list[tuple[str, bool]] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    aborted: str = ""
    shell_call: str = ""


class KimiCodeReader(DialogueReader):
    """Makes items of the log of one agent.

    `old` is the session that this one was taken over from, if it was.
    """

    def __init__(
        self,
        path: str,
        session: str,
        facts: Fields,
        state: KimiCodeState | None,
        *,
        old: str | None = None,
    ) -> None:
        self._state = state or KimiCodeState()
        super().__init__(path, Dialogue(session, self._state.dialogue), self._state)
        self._facts = facts
        self._is_agent = facts.get("origin") == "subagent"
        self._messages = KimiMessageReader(self.dialogue, self._state.repeats, self.problems)
        self._old: KimiMessageReader | None = None
        if old:
            dialogue = Dialogue(old, self._state.old)
            self._old = KimiMessageReader(dialogue, self._state.repeats, self.problems)
        self._known: Fields = {}
        self._introduced: set[str] = set()

    def take(self, record: _Record) -> None:
        """One more line."""
        at = moment_of(record.time)
        if self._old and at is None:
            # The header of a log that was taken over tells when its session was touched last.
            if record.type != "metadata":
                self._say_facts(self._old.dialogue, "cwd", "title")
                self._take_message(record, at, self._old)
            return
        self._say_facts(self.dialogue, *self._facts)
        match record.type:
            case "metadata":
                self.dialogue.facts(started_at=moment_of(record.created_at))
            case "turn.prompt" | "turn.steer":
                self._take_prompt(record, at)
            case "turn.cancel":
                self._abort(at)
            case "turn.ended":
                self._end(record, at)
            case "context.append_message":
                self._take_message(record, at, self._messages)
            case "context.append_loop_event":
                self._take_event(fields_of(record.event), at)
            case "context.apply_compaction":
                self._compact(record, at)
            case "context.clear":
                self._state.undoable.clear()
            case "context.undo":
                self._undo(count_of(record.count))
            case "usage.record":
                self._count(record, at)
            case "config.update" | "profile.bind" | "llm.request" | "permission.set_mode":
                self._learn(record)
            case kind if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.problems.unknown("record", kind)

    def drain(self) -> list[Item]:
        """The items that were made since the last time, those of the old session first."""
        return [*(self._old.dialogue.drain() if self._old else ()), *super().drain()]

    # The session

    def _say_facts(self, dialogue: Dialogue, *names: str) -> None:
        """What the file beside the log tells of a session, before anything else of this pass."""
        if dialogue.session not in self._introduced:
            self._introduced.add(dialogue.session)
            dialogue.facts(**{name: self._facts.get(name) for name in names})

    def _learn(self, record: _Record) -> None:
        alias, model = text_of(record.model_alias), text_of(record.model)
        if alias and model and len(alias) + len(model) <= 2 * LONGEST_ID:
            self._state.models[alias] = model
            if len(self._state.models) > _MOST_MODELS:
                del self._state.models[next(iter(self._state.models))]
        told = {
            "provider": text_of(record.provider),
            "thinking_effort": text_of(record.thinking_effort),
            "profile": text_of(record.profile_name),
            "permission_mode": text_of(record.mode),
        }
        meta = {
            name: value for name, value in told.items() if value and self._known.get(name) != value
        }
        # Every request tells them again.
        self._known.update(meta)
        cwd = text_of(record.cwd) or text_of(fields_of(record.environment_disclosure).get("cwd"))
        if cwd or meta:
            self.dialogue.facts(cwd=cwd, meta=meta or None)

    # Turns

    def _take_prompt(self, record: _Record, at: int | None) -> None:
        raw = content_text(record.input)
        self._state.awaited = [*self._state.awaited, key_of(raw, None)][-_MOST_AWAITED:]
        self._begin_turn(raw, fields_of(record.origin), at)

    def _begin_turn(self, raw: str, origin: Fields, at: int | None) -> None:
        said, author = _typed(raw, origin, is_agent=self._is_agent)
        if not said:
            return
        key = key_of(raw, at)
        self._state.undoable = [*self._state.undoable, (key, author == "human")][-_MOST_UNDOABLE:]
        self.dialogue.prompt(key, said, at=at, author=author)

    def _abort(self, at: int | None) -> None:
        turn = self._state.dialogue.turn
        if turn and self._state.aborted != turn:
            self._state.aborted = turn
            self.dialogue.say("abort", None, at=at)

    def _end(self, record: _Record, at: int | None) -> None:
        reason, spent = text_of(record.reason), whole_of(record.duration_ms)
        if reason == "cancelled":
            self._abort(at)
        self.dialogue.say("error", text_of(fields_of(record.error).get("message")), at=at)
        told = {"end_reason": reason, "duration_ms": spent}
        telemetry = {name: value for name, value in told.items() if value is not None}
        self.dialogue.learn(telemetry=telemetry or None)

    def _undo(self, count: int) -> None:
        """The last prompts of a person are taken back, with all that followed each."""
        undoable = self._state.undoable
        while count > 0 and undoable:
            turn, is_human = undoable.pop()
            self.dialogue.undo(turn)
            count -= is_human

    def _compact(self, record: _Record, at: int | None) -> None:
        self._state.undoable.clear()
        summary = text_of(record.summary) or content_text(fields_of(record.summary).get("content"))
        self.dialogue.say("compaction", summary or text_of(record.context_summary), at=at)

    # What was said and done

    def _take_message(self, record: _Record, at: int | None, messages: KimiMessageReader) -> None:
        message = fields_of(record.message)
        role, content = message.get("role"), message.get("content")
        origin = fields_of(message.get("origin"))
        if role != "user" or at is None:
            # Written only by the first versions, and by those that take
            # over; others tell it in events.
            messages.take(role, content, message.get("toolCalls"), message.get("toolCallId"), at=at)
        elif origin.get("kind") == "shell_command":
            self._take_own_command(content_text(content), origin, at)
        elif (awaited := key_of(raw := content_text(content), None)) in self._state.awaited:
            self._state.awaited.remove(awaited)
        elif origin.get("kind") in ("user", None) and typed_in(raw):
            self._begin_turn(raw, origin, at)

    def _take_own_command(self, text: str, origin: Fields, at: int | None) -> None:
        """What a person ran with `!`, past the model: the command, and later what it printed."""
        if origin.get("phase") == "input":
            command = unescape(inside(text, "bash-input") or text)
            self._state.shell_call = f"!{at}"
            self.dialogue.call(
                self._state.shell_call, "!", {"command": command}, at=at, kind="shell"
            )
        elif self._state.shell_call:
            streams = (inside(text, "bash-stdout"), inside(text, "bash-stderr"))
            output = unescape("\n".join(filter(None, streams)))
            ok = origin.get("isError") is not True
            self.dialogue.result(self._state.shell_call, output, at=at, ok=ok)
            self._state.shell_call = ""

    def _take_event(self, event: Fields, at: int | None) -> None:
        match event.get("type"):
            case "content.part":
                part = fields_of(event.get("part"))
                if part.get("type") == "think":
                    self.dialogue.say("reasoning", text_of(part.get("think")), at=at)
                else:
                    self.dialogue.say("reply", content_text(part), at=at)
            case "tool.call":
                name = text_of(event.get("name")) or "tool"
                self.dialogue.call(text_of(event.get("toolCallId")), name, event.get("args"), at=at)
            case "tool.result":
                self._take_result(event, at)
            case "turn.interrupted":
                self._abort(at)
            case kind if not isinstance(kind, str) or kind not in _SILENT_EVENTS:
                self.problems.unknown("event", kind)

    def _take_result(self, event: Fields, at: int | None) -> None:
        call, result = text_of(event.get("toolCallId")), fields_of(event.get("result"))
        if call is None:
            self.problems.bad("a tool result that names no call")
            return
        output, ok = content_text(result.get("output")), result.get("isError") is not True
        self.dialogue.result(
            call, output, at=at, ok=ok, exit_code=None if ok else exit_code_in(output)
        )

    def _count(self, record: _Record, at: int | None) -> None:
        usage, alias = fields_of(record.usage), text_of(record.model)
        names = ("inputOther", "inputCacheRead", "inputCacheCreation", "output")
        counts = [count_of(usage.get(name)) for name in names]
        self.dialogue.usage(
            # A record has no id, but a fork's copy has the same time.
            f"{at or self.dialogue.session}/{'/'.join(map(str, counts))}",
            model=self._state.models.get(alias, alias) if alias else None,
            at=at,
            input=counts[0],
            cache_read=counts[1],
            cache_write=counts[2],
            output=counts[3],
        )


def _typed(raw: str, origin: Fields, *, is_agent: bool) -> tuple[str, Author]:
    """What was typed, and by whom: a command of a person comes as the text that it stands for."""
    said = typed_in(raw) or raw
    command, arguments = None, None
    match origin.get("kind"):
        case "user" | None:
            return said, "human"
        case "skill_activation" if origin.get("trigger") == "user-slash":
            command, arguments = text_of(origin.get("skillName")), origin.get("skillArgs")
        case "plugin_command":
            command, arguments = text_of(origin.get("commandName")), origin.get("commandArgs")
        case "system_trigger" if is_agent:
            return said, "agent"
    if command:
        return f"/{command} {text_of(arguments) or ''}".rstrip(), "human"
    return said, "system"
