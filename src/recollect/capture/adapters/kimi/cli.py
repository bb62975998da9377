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

from recollect.capture.adapters.kimi.beside import CONTEXT, SUBAGENTS, WIRE
from recollect.capture.adapters.kimi.messages import (
    MESSAGES,
    Message,
    Messages,
    exit_code_in,
    key_of,
    typed_in,
)
from recollect.capture.logs.appended import TalkReader
from recollect.capture.logs.dialogue import LONGEST_ID, Dialogue, Standing
from recollect.capture.logs.lines import Unreadable, blocks, records
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    decoded,
    fields_of,
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
    "ToolCall",
    "ContentPart",
    "StatusUpdate",
    "StepBegin",
    "StepInterrupted",
    "StepRetry",
    "TurnBegin",
    "TurnEnd",
)
# What is shown while something goes on, and is told by its end, or
# asks for what is told by the answer.
_KNOWN = """
    StepBegin TurnEnd CompactionEnd HookTriggered HookResolved HookRequest HookResponse
    MCPLoadingBegin MCPLoadingEnd
    Notification PlanDisplay BtwBegin BtwEnd ApprovalRequest ApprovalResponse
    ApprovalRequestResolved QuestionRequest
    QuestionResponse ToolCallRequest
"""
_PASSED_OVER = frozenset(_KNOWN.split())


class Record(Struct):
    """A line of the wire log: its header, or a message with its time."""

    type: Any = None
    timestamp: Any = None
    message: Any = None


RECORDS: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class Held(Struct):
    """A call whose arguments are not complete yet."""

    call: str | None
    name: str
    arguments: str
    at: int | None
    pieces: int = 0


class Conversation(Struct):
    """Where one conversation stands: that of the session, or of
    a sub-agent told in the same file.
    """

    standing: Standing = field(default_factory=Standing)
    held: Held | None = None


class State(Struct):
    """What is remembered of a wire log.

    `early` are the turns that its context told before it had any itself.
    """

    asked: bool = False
    early: list[str] = field(default_factory=list)
    own: Conversation = field(default_factory=Conversation)
    agents: dict[str, Conversation] = field(default_factory=dict)


class Wire(TalkReader):
    """Reads the wire log of a session, or of a sub-agent that has its own.

    `companions` are what else may be looked at.
    """

    def __init__(
        self,
        path: str,
        session: str,
        facts: Fields,
        state: State | None,
        companions: Sequence[str] = (),
        model: str | None = None,
    ) -> None:
        self._state = state or State()
        super().__init__(path, Dialogue(session, self._state.own.standing), self._state)
        self._context = next(
            (other for other in companions if os.path.basename(other) == CONTEXT), None
        )
        self._agents = next(
            (other for other in companions if os.path.basename(other) == SUBAGENTS), None
        )
        self._met: list[Problem] = []
        self._own = _Teller(self.talk, self._state.own, self.odd, model)
        self._own.is_agent = facts.get("origin") == "subagent"
        self.talk.facts(**facts)
        self._told: dict[str, _Teller | None] = {}

    def take(self, record: Record) -> None:
        """One more line."""
        message = fields_of(record.message)
        kind, payload = message.get("type"), fields_of(message.get("payload"))
        if record.type == "metadata":
            return
        if kind == "TurnBegin":
            self._come_after_context(typed_in(payload.get("user_input")))
        if kind == "SubagentEvent":
            teller = self._agent(payload)
            event = fields_of(payload.get("event"))
            if teller is not None:
                teller.take(event.get("type"), fields_of(event.get("payload")), record.timestamp)
        else:
            self._own.take(kind, payload, record.timestamp)

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        if not self._state.asked:
            self._state.early = self._tell_earlier(None)[-_MOST_EARLY:]
        tellers = [self._own, *filter(None, self._told.values())]
        return [item for teller in tellers for item in teller.drain()]

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""
        return [*self._met, *super().problems()]

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
        key = key_of(prompt, self.talk.session)
        for turn in early[early.index(key) :] if key in early else ():
            self.talk.undo(turn)

    def _tell_earlier(self, prompt: str | None) -> list[str]:
        """What the context has from before the first prompt of the wire, all of it
        while there is none; gives the turns.
        """
        self._state.asked = True
        earlier: list[Message] = []
        is_found = prompt is None
        for message in self._in_context():
            is_found = is_found or (message.role == "user" and typed_in(message.content) == prompt)
            if is_found and prompt is not None:
                break
            earlier.append(message)
        messages = Messages(self.talk, {}, self.odd)
        # A first prompt that is not in the context was lost from it, with what came before.
        for message in earlier if is_found else ():
            messages.take(message.role, message.content, message.tool_calls, message.tool_call_id)
        return messages.begun

    def _in_context(self) -> Iterator[Message]:
        if self._context is None:
            return
        try:
            for block in blocks(self._context):
                if isinstance(block, Problem):
                    self._met.append(block)
                    continue
                for message in records(self._context, block, MESSAGES):
                    if isinstance(message, Problem):
                        self._met.append(message)
                    else:
                        yield message
        except Unreadable:
            # It need not be there.
            return

    def _agent(self, payload: Fields) -> _Teller | None:
        """Who tells of a sub-agent; nobody does when it has a file of its own."""
        given = text_of(payload.get("agent_id"))
        agent = (
            given
            or text_of(payload.get("parent_tool_call_id"))
            or text_of(payload.get("task_tool_call_id"))
        )
        # A name that is a path, or has no end, is none.
        if agent is None or agent != os.path.basename(agent) or len(agent) > LONGEST_ID:
            self.odd.bad("an event of a sub-agent that is not named")
            return None
        if agent not in self._told:
            self._told[agent] = (
                None if given and self._has_file(given) else self._begin_agent(agent, payload)
            )
        return self._told[agent]

    def _has_file(self, agent: str) -> bool:
        return self._agents is not None and os.path.isfile(os.path.join(self._agents, agent, WIRE))

    def _begin_agent(self, agent: str, payload: Fields) -> _Teller:
        agents = self._state.agents
        conversation = agents[agent] = agents.pop(agent) if agent in agents else Conversation()
        if len(agents) > _MOST_AGENTS:
            del agents[next(iter(agents))]
        session = self.talk.session
        teller = _Teller(
            Dialogue(f"{session}/{agent}", conversation.standing), conversation, self.odd, None
        )
        teller.is_agent = True
        kind = text_of(payload.get("subagent_type"))
        teller.talk.facts(
            parent=session, origin="subagent", meta={"subagent_type": kind} if kind else None
        )
        return teller


class _Teller:
    """Makes items of the events of one conversation."""

    def __init__(
        self, talk: Dialogue, state: Conversation, odd: Oddities, model: str | None
    ) -> None:
        self.talk = talk
        self.is_agent = False
        self._state, self._odd, self._model = state, odd, model

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        held = self._state.held
        if held and len(held.arguments) + len(held.name) + len(held.call or "") > _MOST_HELD:
            self._release()
        return self.talk.drain()

    def take(self, kind: object, payload: Fields, timestamp: object) -> None:
        """One more event."""
        at = moment_of(timestamp)
        if kind == "ToolCallPart":
            self._take_part(payload)
            return
        # While the arguments of a call still come, the calls before it are
        # already asked for, run and answered.
        is_answered = self._state.held is not None and self._state.held.call == payload.get(
            "tool_call_id"
        )
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
                self.talk.say("abort", None, at=at)
            case "StepRetry":
                self.talk.say("error", _failure(payload), at=at)
            case "CompactionBegin":
                self.talk.say("compaction", None, at=at)
            case _ if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self._odd.unknown("message", kind)

    def _begin(self, payload: Fields, timestamp: object, at: int | None) -> None:
        said = typed_in(payload.get("user_input"))
        raw = said or content_text(payload.get("user_input"))
        # Nothing but a tag: the program woke itself, when a task in the background was done.
        author: Author = "agent" if self.is_agent else "human" if said else "system"
        self.talk.prompt(key_of(raw, timestamp), raw, at=at, author=author)

    def _take_content(self, payload: Fields, at: int | None) -> None:
        if payload.get("type") == "think":
            self.talk.say("reasoning", text_of(payload.get("think")), at=at)
        else:
            self.talk.say("reply", content_text(payload), at=at)

    def _take_call(self, payload: Fields, at: int | None) -> None:
        told = fields_of(payload.get("function"))
        arguments = text_of(told.get("arguments")) or ""
        self._state.held = Held(
            text_of(payload.get("id")), text_of(told.get("name")) or "tool", arguments, at
        )
        self._release_when_whole()

    def _take_part(self, payload: Fields) -> None:
        held, part = self._state.held, text_of(payload.get("arguments_part"))
        if held is not None and part:
            held.arguments += part
            held.pieces += 1
            self._release_when_whole()

    def _release_when_whole(self) -> None:
        held = self._state.held
        if held and (held.pieces > _MOST_PIECES or isinstance(decoded(held.arguments), dict)):
            self._release()

    def _release(self) -> None:
        held, self._state.held = self._state.held, None
        if held is not None:
            self.talk.call(held.call, held.name, decoded(held.arguments) or None, at=held.at)

    def _take_result(self, payload: Fields, at: int | None) -> None:
        call, value = text_of(payload.get("tool_call_id")), fields_of(payload.get("return_value"))
        if call is None:
            self._odd.bad("a tool result that names no call")
            return
        output, message = content_text(value.get("output")), text_of(value.get("message")) or ""
        failed = value.get("is_error")
        self.talk.result(
            call,
            "\n".join(filter(None, (message, output))) if failed is True else output or message,
            at=at,
            ok=not failed if isinstance(failed, bool) else None,
            exit_code=exit_code_in(message),
        )

    def _count(self, payload: Fields, at: int | None) -> None:
        usage = fields_of(payload.get("token_usage"))
        if usage:
            self.talk.usage(
                # Ids of messages are short with some providers, and a
                # fork's copy has the same time.
                f"{at}/{text_of(payload.get('message_id')) or self.talk.session}",
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
