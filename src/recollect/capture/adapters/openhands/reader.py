"""A conversation of the OpenHands SDK, from version 1 on, as its events come in.

Events form a tree: going back to an earlier one and on from there leaves a
branch behind. An event without a parent follows the one before it.
"""

from __future__ import annotations

from typing import Any

from recollect.capture.adapters.openhands.folder import OpenHandsEventFile
from recollect.capture.adapters.openhands.records import (
    OpenHandsAgent,
    OpenHandsEvent,
    OpenHandsModel,
    OpenHandsState,
    OpenHandsWorkspace,
    part,
)
from recollect.capture.adapters.openhands.tokens import calls_in
from recollect.capture.adapters.openhands.tools import exit_of, is_ok, tool_kind
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    content_text,
    fields_of,
    first_text,
    json_of,
    list_of,
    moment_of,
    non_empty,
    objects_of,
    text_of,
)
from recollect.model.logs import Author, Item

# The parent of an event that begins a conversation anew.
_ROOT = "__root__"
# Kinds that say nothing that lasts, or that another event says.
_SKIPPED = frozenset({
    "SystemPromptEvent", "CondensationRequest", "CondensationSummaryEvent", "TokenEvent",
    "StreamingDeltaEvent", "LLMCompletionLogEvent", "HookExecutionEvent",
})  # fmt: skip
# Not a node of the tree: nothing follows it.
_STATE_UPDATE = "ConversationStateUpdateEvent"
# A sub-agent's calls are in the figures of the conversation that started
# it, under these names, and in its own.
_DELEGATED = ("task:", "delegate:")


class OpenHandsReader:
    """Makes items of a conversation's events, from version 1 on."""

    def __init__(
        self, session: str, state: OpenHandsState | None, parent: str | None, path: str
    ) -> None:
        self.state, self.parent, self.path = state or OpenHandsState(), parent, path
        self.dialogue = Dialogue(session)
        self.problems = ProblemCounter(path)
        self.turn_of_event: dict[str, str] = {}
        self.parent_of_event: dict[str, str] = {}
        self.responses: dict[str, tuple[str, int | None]] = {}
        self.prompts: list[str] = []
        self.calls: set[str] = set()
        self.last = ""
        self.stats: Any = None
        self.branched = False
        self.is_resumed = False
        # Without the state beside it, a turn lacks what only the first look at it would give.
        self.read_again = state is None
        self._facts()

    # The tree

    def begins_turn(self, event: OpenHandsEvent | None) -> bool:
        """A message that the agent did not write begins a turn."""
        return event is not None and event.kind == "MessageEvent" and event.source != "agent"

    def follows(self, events: list[tuple[OpenHandsEventFile, OpenHandsEvent | None]]) -> bool:
        """Whether the new events are one line, at whose end the conversation stands."""
        self.is_resumed = True
        line = [""]
        for file, event in events:
            if event is None:
                line.append(file.id)
            elif event.kind != _STATE_UPDATE:
                if line[-1] and text_of(event.parent_id) not in (None, line[-1]):
                    return False
                line.append(text_of(event.id) or file.id)
        # The state is written after the event, and may be one behind.
        leaf = text_of(self.state.leaf_event_id)
        return self.state.head_is_empty is not True and leaf in (None, *line[-2:])

    def take(self, event: OpenHandsEvent | None, file: OpenHandsEventFile) -> None:
        """One more event."""
        name = (text_of(event.id) if event else None) or file.id
        is_node = event is None or event.kind != _STATE_UPDATE
        parent = (text_of(event.parent_id) if event else None) or self.last
        if is_node and self.last and parent != self.last:
            self.branched = True
            self.dialogue.state.turn = self.turn_of_event.get(parent, "")
        if event is not None:
            self._say(event, name)
        if is_node:
            self.turn_of_event[name] = self.dialogue.state.turn
            self.parent_of_event[name] = "" if parent == _ROOT else parent
            self.last = name

    def _branches(self) -> None:
        """Mark which turns are part of the conversation, when some are not."""
        leaf = text_of(self.state.leaf_event_id) or self.last
        is_behind = leaf == self.parent_of_event.get(self.last)
        if self.state.head_is_empty is True:
            leaf = ""
        elif leaf and (is_behind or leaf not in self.parent_of_event):
            leaf = self.last
        if not self.branched and leaf == self.last:
            return
        self.branched = True
        live: set[str] = set()
        while leaf and leaf not in live:
            live.add(leaf)
            leaf = self.parent_of_event.get(leaf, "")
        for prompt in self.prompts:
            self.dialogue.undo(prompt, live=prompt in live)

    # What was said and done

    def _say(self, event: OpenHandsEvent, name: str) -> None:
        at = moment_of(event.timestamp)
        kind = text_of(event.kind)
        if kind == "MessageEvent":
            self._message(event, name, at)
        elif kind == "ActionEvent":
            self._action(event, at)
        elif kind == "ObservationEvent":
            self._observation(event, at)
        elif kind == "ACPToolCallEvent":
            self._passed_on(event, at)
        elif kind in ("AgentErrorEvent", "UserRejectObservation"):
            self._result(event, first_text(event.error, event.rejection_reason), at, ok=False)
        elif kind in ("ConversationErrorEvent", "ServerErrorEvent"):
            words = filter(None, map(text_of, (event.code, event.detail)))
            self.dialogue.say("error", ": ".join(words), at=at)
        elif kind == "Condensation":
            self._responded(event, at)
            self.dialogue.say("compaction", text_of(event.summary), at=at)
        elif kind in ("PauseEvent", "InterruptEvent"):
            self.dialogue.say("abort", "", at=at)
        elif kind == _STATE_UPDATE:
            self._updated(event)
        elif kind not in _SKIPPED:
            self.problems.unknown("event", kind)

    def _message(self, event: OpenHandsEvent, name: str, at: int | None) -> None:
        message = fields_of(event.llm_message)
        text = content_text(message.get("content"))
        if event.source == "agent":
            self._responded(event, at)
            self.dialogue.say("reasoning", _thoughts(message), at=at)
            self.dialogue.say("reply", text, at=at)
            return
        author: Author = "human" if event.source == "user" else "system"
        if event.source == "user" and (self.parent or text_of(event.sender)):
            author = "agent"
        self.dialogue.prompt(name, text, at=at, author=author)
        self.prompts.append(name)

    def _action(self, event: OpenHandsEvent, at: int | None) -> None:
        self._responded(event, at)
        thoughts = {
            "reasoning_content": event.reasoning_content,
            "thinking_blocks": event.thinking_blocks,
            "responses_reasoning_item": event.responses_reasoning_item,
        }
        self.dialogue.say("reasoning", _thoughts(thoughts), at=at)
        self.dialogue.say("reply", content_text(event.thought), at=at)
        action = fields_of(event.action)
        kind = text_of(action.get("kind")) or ""
        if kind == "FinishAction":
            self.dialogue.say("reply", text_of(action.get("message")), at=at)
        elif kind == "ThinkAction":
            self.dialogue.say("reasoning", text_of(action.get("thought")), at=at)
        else:
            call = text_of(event.tool_call_id)
            name = text_of(event.tool_name) or "tool"
            arguments = {key: value for key, value in action.items() if key != "kind"}
            given: Any = {key: value for key, value in arguments.items() if value is not None}
            # What the agent asked for and could not be done is told by the model's own words alone.
            given = given or json_of(fields_of(event.tool_call).get("arguments"))
            if kind == "MCPToolAction":
                given = fields_of(action.get("data")) or given
            self.dialogue.call(call, name, given, at=at, kind=tool_kind(name, kind, given))
            self.calls |= {call} if call else set()

    def _observation(self, event: OpenHandsEvent, at: int | None) -> None:
        seen = fields_of(event.observation)
        code = exit_of(seen, fields_of(seen.get("metadata")))
        # A command tells how it ended by its code alone, once it has ended.
        failed = seen.get("is_error") if seen.get("is_error") or "exit_code" not in seen else None
        output = content_text(seen.get("content"))
        self._result(event, output, at, ok=is_ok(failed, code), code=code)

    def _result(
        self,
        event: OpenHandsEvent,
        output: str | None,
        at: int | None,
        *,
        ok: bool | None,
        code: int | None = None,
    ) -> None:
        call = text_of(event.tool_call_id)
        # Others are of calls that an earlier pass told for good, or
        # that were words and no call to us.
        if call in self.calls and call:
            self.dialogue.result(call, output, at=at, ok=ok, exit_code=code)

    def _passed_on(self, event: OpenHandsEvent, at: int | None) -> None:
        """A call that an agent behind this one made.

        It is told again each time something is known of it.
        """
        call = text_of(event.tool_call_id)
        if call is None:
            return
        if call not in self.calls:
            self.calls.add(call)
            name = text_of(event.tool_kind) or "tool"
            self.dialogue.call(call, name, event.raw_input, at=at, target=text_of(event.title))
        if event.status in ("completed", "failed"):
            shown = [fields_of(block).get("content") or block for block in list_of(event.content)]
            output = event.raw_output if isinstance(event.raw_output, str) else content_text(shown)
            ok = event.is_error is not True and event.status == "completed"
            self.dialogue.result(call, output or None, at=at, ok=ok)

    def _updated(self, event: OpenHandsEvent) -> None:
        """A change of the state; only its figures matter, where the state itself has none."""
        if event.key == "stats":
            self.stats = event.value
        elif event.key == "full_state":
            self.stats = fields_of(event.value).get("stats") or self.stats

    # Facts and figures

    def _facts(self) -> None:
        agent = part(self.state.agent, OpenHandsAgent)
        model = part(agent.llm, OpenHandsModel)
        meta = {
            "model": text_of(model.model),
            "reasoning_effort": text_of(model.reasoning_effort),
            "confirmation_policy": text_of(fields_of(self.state.confirmation_policy).get("kind")),
            "execution_status": text_of(self.state.execution_status),
        }
        self.dialogue.facts(
            parent=self.parent,
            origin="subagent" if self.parent else "interactive",
            cwd=text_of(part(self.state.workspace, OpenHandsWorkspace).working_dir),
            title=text_of(fields_of(self.state.tags).get("title")),
            meta=non_empty(meta) or None,
        )

    def _responded(self, event: OpenHandsEvent, at: int | None) -> None:
        """Remember which turn a model's response belongs to: its tokens do not tell."""
        response = text_of(event.llm_response_id)
        if response:
            self.responses.setdefault(response, (self.dialogue.turn, at))

    def _account(self, *, last: bool) -> None:
        """The tokens of the turns so far.

        Of all calls, also those that no event tells of, when this is the last time.

        Before anybody has said something there is no turn that they could belong to.
        """
        told_by_state = fields_of(fields_of(self.state.stats).get("usage_to_metrics"))
        calls = list(calls_in(self.state.stats if told_by_state else self.stats))
        # Calls are listed in their order: those before the first that we
        # met were told by an earlier pass.
        told: set[str] = set()
        if self.is_resumed:
            told = {purpose for purpose, call in calls if call.response in self.responses}
        for purpose, call in calls:
            turn, at = self.responses.get(call.response, (None, None))
            told -= {purpose} if turn else set()
            is_early = turn is None and not (last and self.dialogue.state.turn)
            is_elsewhere = not call.response and purpose.startswith(_DELEGATED)
            if purpose in told or is_early or is_elsewhere:
                continue
            self.dialogue.usage(
                call.response or f"{self.dialogue.session}/{purpose}",
                model=call.model,
                at=at,
                cost_usd=call.cost_usd,
                turn=turn,
                **call.figures.tokens(),
            )

    def drain(self) -> list[Item]:
        """What was made since the last time."""
        return self.dialogue.drain()

    def settle(self) -> list[Item]:
        """The tokens of the turns so far."""
        self._account(last=False)
        return self.dialogue.drain()

    def close(self) -> list[Item]:
        """Tokens, branches and problems."""
        self._account(last=True)
        self._branches()
        return [*self.dialogue.drain(), *self.problems.drain()]

    def save(self) -> bytes:
        """Nothing has to be remembered of a conversation that is one line.

        One with branches is read whole.
        """
        return b"" if self.branched or self.read_again else b"\0"


def _thoughts(message: dict[str, Any]) -> str | None:
    """What a model thought, wherever its provider puts that."""
    told = text_of(message.get("reasoning_content"))
    thoughts = objects_of(message.get("thinking_blocks"))
    blocks = [text_of(block.get("thinking")) for block in thoughts]
    item = fields_of(message.get("responses_reasoning_item"))
    summary = [text for text in list_of(item.get("summary")) if isinstance(text, str)]
    return told or "\n".join(filter(None, blocks)) or "\n".join(summary) or None
