"""A conversation of OpenHands version 0: actions, and observations
that name the action they are from.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.adapters.openhands.folder import EventFile
from recollect.capture.adapters.openhands.records import OldEvent
from recollect.capture.adapters.openhands.tokens import Meter, figures_of, response_of
from recollect.capture.adapters.openhands.tools import exit_of, is_ok, tool_kind
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.tools import target_of
from recollect.capture.logs.values import Fields, fields_of, moment_of, text_of, whole_of
from recollect.model.logs import Item

_CALLS = frozenset({
    "run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "call_tool_mcp",
    "delegate", "task_tracking",
    "push", "send_pr",
})  # fmt: skip
_RESULTS = frozenset({
    "run", "run_ipython", "read", "write", "edit", "browse", "mcp", "delegate", "task_tracking",
    "user_rejected", "error",
    "success", "download", "chat",
})  # fmt: skip
# Said elsewhere, or nothing that lasts. A recall repeats the prompt, and its
# result the instructions of a repository.
_SKIPPED_ACTIONS = frozenset({
    "recall", "change_agent_state", "start", "pause", "resume", "stop", "null",
    "condensation_request", "loop_recovery",
    "initialize",
})  # fmt: skip
_SKIPPED_OBSERVATIONS = frozenset(
    {"null", "think", "condense", "message", "loop_detection", "agent_delegate"}
)
# What is about the call and not part of it.
_ASIDE = frozenset({
    "thought", "security_risk", "confirmation_state", "hidden", "blocking", "is_input", "is_static",
    "impl_source", "keep_prompt",
})  # fmt: skip
# What a benchmark answers when an agent asks.
_AUTOMATIC = (
    "Please continue working on the task",
    "Please continue on whatever approach you think is suitable",
)
_FAILED = ("ERROR:", "[Error", "Error:")


class Memory(Struct):
    """What must be known of the events before a turn."""

    meter: Meter = field(default_factory=Meter)
    cwd: str = ""


class OldTalk:
    """One conversation. `model` is used where its events name none."""

    def __init__(
        self,
        session: str,
        path: str,
        memory: bytes = b"",
        *,
        model: str | None = None,
        read_again: bool = False,
    ) -> None:
        self.path, self.model, self.read_again = path, model, read_again
        self.dialogue = Dialogue(session, own_keys=True)
        self.oddities = Oddities()
        self.memory = _remembered(memory)
        self.calls: set[str] = set()
        self.prompted = bool(memory)
        # An event before could not be read: what the totals rose by is in part its own.
        self.is_missing_one = False

    def begins_turn(self, event: OldEvent | None) -> bool:
        """A message of the user begins a turn."""
        return event is not None and event.action == "message" and event.source == "user"

    def follows(self, events: list[tuple[EventFile, OldEvent | None]]) -> bool:
        """Always: this version knows no branches."""
        return True

    def take(self, event: OldEvent | None, file: EventFile) -> None:
        """One more event."""
        if event is None:
            self.is_missing_one = True
            return
        number = whole_of(event.id)
        self.say(event, file.number if number is None else number)

    def say(self, event: OldEvent, number: int) -> None:
        """One more event, by its number."""
        at = moment_of(event.timestamp)
        if isinstance(event.action, str):
            self._act(event, event.action, number, at)
            self._account(event, number, at)
        elif isinstance(event.observation, str):
            self._observe(event, event.observation, at)
        else:
            self.oddities.unknown("event without", "action or observation")

    # Actions

    def _act(self, event: OldEvent, action: str, number: int, at: int | None) -> None:
        args = fields_of(event.args)
        talk = self.dialogue
        if action == "message":
            self._message(event, args, number, at)
        elif action in _CALLS:
            talk.say("reply", text_of(args.get("thought")), at=at)
            self._call(event, action, args, number, at)
        elif action == "think":
            talk.say("reasoning", text_of(args.get("thought")), at=at)
        elif action in ("finish", "reject"):
            talk.say(
                "reply",
                text_of(args.get("final_thought"))
                or text_of(args.get("thought"))
                or text_of(event.message),
                at=at,
            )
        elif action == "condensation":
            talk.say("compaction", text_of(args.get("summary")), at=at)
        elif action == "system":
            talk.facts(agent_version=text_of(args.get("openhands_version")))
        elif action not in _SKIPPED_ACTIONS:
            self.oddities.unknown("action", action)

    def _message(self, event: OldEvent, args: Fields, number: int, at: int | None) -> None:
        text = text_of(args.get("content")) or text_of(event.message) or ""
        if event.source != "user":
            self.dialogue.say("reply", text, at=at)
            return
        automatic = self.prompted and text.startswith(_AUTOMATIC)
        self.dialogue.prompt(str(number), text, at=at, author="system" if automatic else "human")
        self.prompted = True

    def _call(
        self, event: OldEvent, action: str, args: Fields, number: int, at: int | None
    ) -> None:
        tool = text_of(fields_of(event.tool_call_metadata).get("function_name"))
        name = (text_of(args.get("name")) if action == "call_tool_mcp" else None) or tool or action
        given: Any = {
            key: value
            for key, value in args.items()
            if key not in _ASIDE and value not in (None, "")
        }
        if action == "call_tool_mcp":
            given = fields_of(args.get("arguments")) or given
        kind = tool_kind(name if action == "task_tracking" else action, action, given)
        # An editor's own word, such as `create`, is not what it was about.
        target = (
            target_of("task", fields_of(args.get("inputs")))
            if action == "delegate"
            else target_of(kind, given)
        )
        self.dialogue.call(str(number), name, given, at=at, kind=kind, target=target)
        self.calls.add(str(number))

    # Observations

    def _observe(self, event: OldEvent, observation: str, at: int | None) -> None:
        extras = fields_of(event.extras)
        if observation in _RESULTS:
            self._result(event, observation, extras, at)
        elif observation == "agent_state_changed":
            if extras.get("agent_state") == "error":
                self.dialogue.say(
                    "error", text_of(extras.get("reason")) or text_of(event.content), at=at
                )
        elif observation == "recall":
            self._place(text_of(extras.get("repo_directory")))
        elif observation not in _SKIPPED_OBSERVATIONS:
            self.oddities.unknown("observation", observation)

    def _result(self, event: OldEvent, observation: str, extras: Fields, at: int | None) -> None:
        output = text_of(event.content) or ""
        metadata = fields_of(extras.get("metadata"))
        self._place(text_of(metadata.get("working_dir")))
        number = whole_of(event.cause)
        if str(number) not in self.calls:
            if observation == "error":
                self.dialogue.say("error", output, at=at)
            return
        code = exit_of(metadata, extras)
        failed = observation in ("error", "user_rejected") or (
            observation != "run" and output.startswith(_FAILED)
        )
        ok = is_ok(failed or (None if observation == "run" else False), code)
        self.dialogue.result(str(number), output, at=at, ok=ok, exit_code=code)

    def _place(self, folder: str | None) -> None:
        """The first folder that is told is where the conversation takes place."""
        if folder and not self.memory.cwd:
            self.memory.cwd = folder
            self.dialogue.facts(cwd=folder)

    # Tokens

    def _account(self, event: OldEvent, number: int, at: int | None) -> None:
        """What a call took: by the rise of the totals, or, before there
        were totals, by the response itself.
        """
        response, model, usage = response_of(event.tool_call_metadata)
        risen = self.memory.meter.rise(event.llm_metrics)
        key, cost = str(number), None
        if risen is not None:
            figures, cost = risen
            if self.is_missing_one:
                self.is_missing_one = False
                return
        elif response and not any(self.memory.meter.figures.all()):
            # Calls that were asked for together repeat their response.
            key, figures = response, figures_of(usage)
        else:
            return
        told = fields_of(fields_of(event.llm_metrics).get("accumulated_token_usage"))
        model = model or text_of(told.get("model")) or self.model
        self.dialogue.usage(
            f"{self.dialogue.session}/{key}", model=model, at=at, cost_usd=cost, **figures.tokens()
        )

    def drain(self) -> list[Item]:
        """What was made since the last time."""
        return self.dialogue.drain()

    def settle(self) -> list[Item]:
        """Every turn is told in full as it comes."""
        return self.dialogue.drain()

    def close(self) -> list[Item]:
        """What was odd."""
        return [*self.dialogue.drain(), *self.oddities.problems(self.path)]

    def save(self) -> bytes:
        """The totals so far, and where the conversation takes place."""
        return b"" if self.read_again else msgspec.msgpack.encode(self.memory)


def _remembered(memory: bytes) -> Memory:
    try:
        return msgspec.msgpack.decode(memory, type=Memory) if memory else Memory()
    except (msgspec.MsgspecError, UnicodeError):
        return Memory()
