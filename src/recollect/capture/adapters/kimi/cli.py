"""Kimi CLI: a wire log with everything that was shown, and the context beside it.

The wire has times and tokens. The context is asked only for what was said
before there was a wire: the first versions kept none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.adapters.kimi.reader import (
    MESSAGES,
    KimiMessage,
    KimiMessageReader,
    exit_code_in,
    key_of,
    typed_in,
)
from recollect.capture.adapters.kimi.session import CONTEXT, SUBAGENTS, WIRE
from recollect.capture.logs.dialogue import LONGEST_ID, Dialogue, DialogueState
from recollect.capture.logs.lines import UnreadableSource, blocks, records
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import DialogueReader
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    first_text,
    json_of,
    moment_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Item, Problem

# Arguments come in pieces. A call waits for the rest of them, even until the
# next import, but not with any amount.
_MOST_HELD = 1_000
# Whether they are whole is asked at each piece, of which there are one or two.
_MOST_PIECES = 200
_MOST_AGENTS = 32
_MOST_EARLY = 300
_MOST_SAVED_BYTES = 60_000
_AFTER_CALLS = (
    "ToolCall", "ContentPart", "StatusUpdate", "StepBegin", "StepInterrupted", "StepRetry",
    "TurnBegin", "TurnEnd",
)  # fmt: skip
# What is shown while something goes on, and is told by its end, or
# asks for what is told by the answer.
_PASSED_OVER = frozenset({
    "StepBegin", "TurnEnd", "CompactionEnd", "HookTriggered", "HookResolved", "HookRequest",
    "HookResponse", "MCPLoadingBegin", "MCPLoadingEnd", "Notification", "PlanDisplay", "BtwBegin",
    "BtwEnd", "ApprovalRequest", "ApprovalResponse", "ApprovalRequestResolved", "QuestionRequest",
    "QuestionResponse", "ToolCallRequest",
})  # fmt: skip


class _Record(Struct):
    """A line of the wire log: its header, or a message with its time."""

    type: Any = None
    timestamp: Any = None
    message: Any = None


CLI_RECORDS: msgspec.json.Decoder[_Record] = msgspec.json.Decoder(_Record)


class _OpenCall(Struct):
    """A call whose arguments are not complete yet."""

    id: str | None = field(name="call")
    name: str
    arguments: str
    at: int | None
    pieces: int = 0


class _Conversation(Struct):
    """Where one conversation stands: the session's, or a sub-agent's in the same file."""

    dialogue: DialogueState = field(default_factory=DialogueState, name="standing")
    call: _OpenCall | None = field(default=None, name="held")


class KimiCliState(Struct):
    """What is remembered of a wire log.

    `early` are the turns that its context told before it had any itself.
    """

    asked: bool = False
    early: list[str] = field(default_factory=list)
    own: _Conversation = field(default_factory=_Conversation)
    agents: dict[str, _Conversation] = field(default_factory=dict)


class KimiCliReader(DialogueReader):
    """Reads the wire log of a session, or of a sub-agent that has its own.

    `companions` are what else may be looked at.
    """

    def __init__(
        self,
        path: str,
        session: str,
        facts: Fields,
        state: KimiCliState | None,
        companions: Sequence[str] = (),
        model: str | None = None,
    ) -> None:
        self._state = state or KimiCliState()
        super().__init__(path, Dialogue(session, self._state.own.dialogue), self._state)
        beside = {os.path.basename(other): other for other in reversed(companions)}
        self._context, self._agents = beside.get(CONTEXT), beside.get(SUBAGENTS)
        self._own = _ConversationReader(self.dialogue, self._state.own, self.problems, model)
        self._own.is_agent = facts.get("origin") == "subagent"
        self.dialogue.facts(**facts)
        self._readers: dict[str, _ConversationReader | None] = {}

    def take(self, record: _Record) -> None:
        """One more line."""
        message = fields_of(record.message)
        kind, payload = message.get("type"), fields_of(message.get("payload"))
        if record.type == "metadata":
            return
        if kind == "TurnBegin":
            self._come_after_context(typed_in(payload.get("user_input")))
        if kind == "SubagentEvent":
            reader = self._agent(payload)
            event = fields_of(payload.get("event"))
            if reader is not None:
                reader.take(event.get("type"), fields_of(event.get("payload")), record.timestamp)
        else:
            self._own.take(kind, payload, record.timestamp)

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        if not self._state.asked:
            self._state.early = self._tell_earlier(None)[-_MOST_EARLY:]
        readers = [self._own, *filter(None, self._readers.values())]
        return [item for reader in readers for item in reader.drain()]

    def save(self) -> bytes:
        """What must be remembered to go on from here.

        If that is too much, without the sub-agents.
        """
        saved = super().save()
        if len(saved) > _MOST_SAVED_BYTES:
            self._state.agents.clear()
            saved = super().save()
        return saved

    def _come_after_context(self, prompt: str) -> None:
        """The wire begins to tell turns.

        What the context told of these before is not told twice.
        """
        if not self._state.asked:
            self._tell_earlier(prompt)
        early, self._state.early = self._state.early, []
        key = key_of(prompt, self.dialogue.session)
        for turn in early[early.index(key) :] if key in early else ():
            self.dialogue.undo(turn)

    def _tell_earlier(self, prompt: str | None) -> list[str]:
        """Tell what the context has from before the first prompt of the wire; gives the turns.

        All of it, while there is no prompt.
        """
        self._state.asked = True
        earlier: list[KimiMessage] = []
        is_found = prompt is None
        for message in self._in_context():
            is_found = is_found or (message.role == "user" and typed_in(message.content) == prompt)
            if is_found and prompt is not None:
                break
            earlier.append(message)
        messages = KimiMessageReader(self.dialogue, {}, self.problems)
        # A first prompt that is not in the context was lost from it, with what came before.
        for message in earlier if is_found else ():
            messages.take(message.role, message.content, message.tool_calls, message.tool_call_id)
        return messages.begun

    def _in_context(self) -> Iterator[KimiMessage]:
        if self._context is None:
            return
        try:
            for block in blocks(self._context):
                if isinstance(block, Problem):
                    self.problems.keep(block)
                    continue
                for message in records(self._context, block, MESSAGES):
                    if isinstance(message, Problem):
                        self.problems.keep(message)
                    else:
                        yield message
        except UnreadableSource:
            # It need not be there.
            return

    def _agent(self, payload: Fields) -> _ConversationReader | None:
        """Who tells of a sub-agent; nobody does when it has a file of its own."""
        given = text_of(payload.get("agent_id"))
        calls = (payload.get("parent_tool_call_id"), payload.get("task_tool_call_id"))
        agent = given or first_text(*calls)
        # A name that is a path, or has no end, is none.
        if agent is None or agent != os.path.basename(agent) or len(agent) > LONGEST_ID:
            self.problems.bad("an event of a sub-agent that is not named")
            return None
        if agent not in self._readers:
            elsewhere = given is not None and self._has_file(given)
            self._readers[agent] = None if elsewhere else self._begin_agent(agent, payload)
        return self._readers[agent]

    def _has_file(self, agent: str) -> bool:
        return self._agents is not None and os.path.isfile(os.path.join(self._agents, agent, WIRE))

    def _begin_agent(self, agent: str, payload: Fields) -> _ConversationReader:
        agents = self._state.agents
        conversation = agents[agent] = agents.pop(agent) if agent in agents else _Conversation()
        if len(agents) > _MOST_AGENTS:
            del agents[next(iter(agents))]
        session = self.dialogue.session
        dialogue = Dialogue(f"{session}/{agent}", conversation.dialogue)
        reader = _ConversationReader(dialogue, conversation, self.problems, None)
        reader.is_agent = True
        kind = text_of(payload.get("subagent_type"))
        meta = {"subagent_type": kind} if kind else None
        dialogue.facts(parent=session, origin="subagent", meta=meta)
        return reader


class _ConversationReader:
    """Makes items of the events of one conversation."""

    def __init__(
        self, dialogue: Dialogue, state: _Conversation, problems: ProblemCounter, model: str | None
    ) -> None:
        self.dialogue = dialogue
        self.is_agent = False
        self._state, self.problems, self._model = state, problems, model

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        call = self._state.call
        if call and len(call.arguments) + len(call.name) + len(call.id or "") > _MOST_HELD:
            self._release()
        return self.dialogue.drain()

    def take(self, kind: object, payload: Fields, timestamp: object) -> None:
        """One more event."""
        at = moment_of(timestamp)
        if kind == "ToolCallPart":
            self._take_part(payload)
            return
        # While the arguments of a call still come, the calls before it are
        # already asked for, run and answered.
        call = self._state.call
        is_answered = call is not None and call.id == payload.get("tool_call_id")
        if kind in _AFTER_CALLS or (kind == "ToolResult" and is_answered):
            self._release()
        match kind:
            case "TurnBegin" | "SteerInput":
                self._begin(payload, timestamp, at)
            case "ContentPart":
                self._take_content(payload, at)
            case "ToolCall":
                self._take_call(payload, at)
            case "ToolResult":
                self._take_result(payload, at)
            case "StatusUpdate":
                self._count(payload, at)
            case "StepInterrupted":
                self.dialogue.say("abort", None, at=at)
            case "StepRetry":
                self.dialogue.say("error", _failure(payload), at=at)
            case "CompactionBegin":
                self.dialogue.say("compaction", None, at=at)
            case _ if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.problems.unknown("message", kind)

    def _begin(self, payload: Fields, timestamp: object, at: int | None) -> None:
        said = typed_in(payload.get("user_input"))
        raw = said or content_text(payload.get("user_input"))
        # Nothing but a tag: the program woke itself, when a task in the background was done.
        author: Author = "agent" if self.is_agent else "human" if said else "system"
        self.dialogue.prompt(key_of(raw, timestamp), raw, at=at, author=author)

    def _take_content(self, payload: Fields, at: int | None) -> None:
        if payload.get("type") == "think":
            self.dialogue.say("reasoning", text_of(payload.get("think")), at=at)
        else:
            self.dialogue.say("reply", content_text(payload), at=at)

    def _take_call(self, payload: Fields, at: int | None) -> None:
        told = fields_of(payload.get("function"))
        arguments = text_of(told.get("arguments")) or ""
        name = text_of(told.get("name")) or "tool"
        self._state.call = _OpenCall(text_of(payload.get("id")), name, arguments, at)
        self._release_when_whole()

    def _take_part(self, payload: Fields) -> None:
        call, part = self._state.call, text_of(payload.get("arguments_part"))
        if call is not None and part:
            call.arguments += part
            call.pieces += 1
            self._release_when_whole()

    def _release_when_whole(self) -> None:
        call = self._state.call
        if call and (call.pieces > _MOST_PIECES or isinstance(json_of(call.arguments), dict)):
            self._release()

    def _release(self) -> None:
        call, self._state.call = self._state.call, None
        if call is not None:
            self.dialogue.call(call.id, call.name, json_of(call.arguments) or None, at=call.at)

    def _take_result(self, payload: Fields, at: int | None) -> None:
        call, value = text_of(payload.get("tool_call_id")), fields_of(payload.get("return_value"))
        if call is None:
            self.problems.bad("a tool result that names no call")
            return
        output, message = content_text(value.get("output")), text_of(value.get("message")) or ""
        failed = value.get("is_error")
        told = output or message
        if failed is True:
            told = "\n".join(filter(None, (message, output)))
        self.dialogue.result(
            call,
            told,
            at=at,
            ok=not failed if isinstance(failed, bool) else None,
            exit_code=exit_code_in(message),
        )

    def _count(self, payload: Fields, at: int | None) -> None:
        usage = fields_of(payload.get("token_usage"))
        if usage:
            self.dialogue.usage(
                # Ids are short with some providers, and a fork's copy has the same time.
                f"{at}/{text_of(payload.get('message_id')) or self.dialogue.session}",
                model=self._model,
                at=at,
                input=count_of(usage.get("input_other")),
                cache_read=count_of(usage.get("input_cache_read")),
                cache_write=count_of(usage.get("input_cache_creation")),
                output=count_of(usage.get("output")),
            )


def _failure(payload: Fields) -> str:
    status = whole_of(payload.get("status_code"))
    reason = text_of(payload.get("error_type")) or "an error"
    return f"tried again after {reason}" + (f" ({status})" if status is not None else "")
