"""Conversations of OpenHands version 0: actions, and observations that name their action.

They are in the agent's own folders, and exported: as trajectories, and in the
output of benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.adapters.openhands.folder import OpenHandsEventFile
from recollect.capture.adapters.openhands.records import OpenHandsBenchmarkRun, OpenHandsOldEvent
from recollect.capture.adapters.openhands.tokens import OpenHandsTotals, figures_of, response_of
from recollect.capture.adapters.openhands.tools import exit_of, is_ok, tool_kind
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import read_appended, resume
from recollect.capture.logs.tools import target_of
from recollect.capture.logs.values import (
    Fields,
    fields_of,
    first_text,
    list_of,
    moment_of,
    non_empty,
    text_of,
    whole_of,
)
from recollect.model.logs import Checkpoint, Item, Problem, SessionFacts, Source

_CALLS = frozenset({
    "run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "call_tool_mcp",
    "delegate", "task_tracking", "push", "send_pr",
})  # fmt: skip
_RESULTS = frozenset({
    "run", "run_ipython", "read", "write", "edit", "browse", "mcp", "delegate", "task_tracking",
    "user_rejected", "error", "success", "download", "chat",
})  # fmt: skip
# Said elsewhere, or nothing that lasts. A recall repeats the prompt, and its
# result the instructions of a repository.
_SKIPPED_ACTIONS = frozenset({
    "recall", "change_agent_state", "start", "pause", "resume", "stop", "null",
    "condensation_request", "loop_recovery", "initialize",
})  # fmt: skip
_SKIPPED_OBSERVATIONS = frozenset(
    {"null", "think", "condense", "message", "loop_detection", "agent_delegate"}
)
# What is about the call and not part of it.
_ASIDE = frozenset({
    "thought", "security_risk", "confirmation_state", "hidden", "blocking", "is_input",
    "is_static", "impl_source", "keep_prompt",
})  # fmt: skip
# What a benchmark answers when an agent asks.
_AUTOMATIC = (
    "Please continue working on the task",
    "Please continue on whatever approach you think is suitable",
)
_FAILED = ("ERROR:", "[Error", "Error:")
_RUNS = msgspec.json.Decoder(OpenHandsBenchmarkRun)
_ACTION = re.compile(rb'"(?:action|observation)"\s*:\s*"')
_SOURCE = re.compile(rb'"source"\s*:\s*"(?:agent|user|environment)"')


class _Version0State(Struct):
    """What must be known of the events before a turn."""

    meter: OpenHandsTotals = field(default_factory=OpenHandsTotals)
    cwd: str = ""


class OpenHandsOldReader:
    """Makes items of a conversation's events; `model` is used where they name none."""

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
        self.problems = ProblemCounter(path)
        self.memory = _remembered(memory)
        self.calls: set[str] = set()
        self.prompted = bool(memory)
        # An event before could not be read: what the totals rose by is in part its own.
        self.is_missing_one = False

    def begins_turn(self, event: OpenHandsOldEvent | None) -> bool:
        """A message of the user begins a turn."""
        return event is not None and event.action == "message" and event.source == "user"

    def follows(self, events: list[tuple[OpenHandsEventFile, OpenHandsOldEvent | None]]) -> bool:
        """Always: this version knows no branches."""
        return True

    def take(self, event: OpenHandsOldEvent | None, file: OpenHandsEventFile) -> None:
        """One more event."""
        if event is None:
            self.is_missing_one = True
            return
        number = whole_of(event.id)
        self.take_numbered(event, file.number if number is None else number)

    def take_numbered(self, event: OpenHandsOldEvent, number: int) -> None:
        """One more event, by its number."""
        at = moment_of(event.timestamp)
        if isinstance(event.action, str):
            self._act(event, event.action, number, at)
            self._account(event, number, at)
        elif isinstance(event.observation, str):
            self._observe(event, event.observation, at)
        else:
            self.problems.unknown("event without", "action or observation")

    # Actions

    def _act(self, event: OpenHandsOldEvent, action: str, number: int, at: int | None) -> None:
        args = fields_of(event.args)
        if action == "message":
            self._message(event, args, number, at)
        elif action in _CALLS:
            self.dialogue.say("reply", text_of(args.get("thought")), at=at)
            self._call(event, action, args, number, at)
        elif action == "think":
            self.dialogue.say("reasoning", text_of(args.get("thought")), at=at)
        elif action in ("finish", "reject"):
            words = first_text(args.get("final_thought"), args.get("thought"), event.message)
            self.dialogue.say("reply", words, at=at)
        elif action == "condensation":
            self.dialogue.say("compaction", text_of(args.get("summary")), at=at)
        elif action == "system":
            self.dialogue.facts(agent_version=text_of(args.get("openhands_version")))
        elif action not in _SKIPPED_ACTIONS:
            self.problems.unknown("action", action)

    def _message(self, event: OpenHandsOldEvent, args: Fields, number: int, at: int | None) -> None:
        text = text_of(args.get("content")) or text_of(event.message) or ""
        if event.source != "user":
            self.dialogue.say("reply", text, at=at)
            return
        automatic = self.prompted and text.startswith(_AUTOMATIC)
        self.dialogue.prompt(str(number), text, at=at, author="system" if automatic else "human")
        self.prompted = True

    def _call(
        self, event: OpenHandsOldEvent, action: str, args: Fields, number: int, at: int | None
    ) -> None:
        tool = text_of(fields_of(event.tool_call_metadata).get("function_name"))
        name = (text_of(args.get("name")) if action == "call_tool_mcp" else None) or tool or action
        arguments = {key: value for key, value in args.items() if key not in _ASIDE}
        given: Any = {key: value for key, value in arguments.items() if value not in (None, "")}
        if action == "call_tool_mcp":
            given = fields_of(args.get("arguments")) or given
        kind = tool_kind(name if action == "task_tracking" else action, action, given)
        # An editor's own word, such as `create`, is not what it was about.
        target = target_of(kind, given)
        if action == "delegate":
            target = target_of("task", fields_of(args.get("inputs")))
        self.dialogue.call(str(number), name, given, at=at, kind=kind, target=target)
        self.calls.add(str(number))

    # Observations

    def _observe(self, event: OpenHandsOldEvent, observation: str, at: int | None) -> None:
        extras = fields_of(event.extras)
        if observation in _RESULTS:
            self._result(event, observation, extras, at)
        elif observation == "agent_state_changed":
            if extras.get("agent_state") == "error":
                reason = first_text(extras.get("reason"), event.content)
                self.dialogue.say("error", reason, at=at)
        elif observation == "recall":
            self._place(text_of(extras.get("repo_directory")))
        elif observation not in _SKIPPED_OBSERVATIONS:
            self.problems.unknown("observation", observation)

    def _result(
        self, event: OpenHandsOldEvent, observation: str, extras: Fields, at: int | None
    ) -> None:
        output = text_of(event.content) or ""
        metadata = fields_of(extras.get("metadata"))
        self._place(text_of(metadata.get("working_dir")))
        number = whole_of(event.cause)
        if str(number) not in self.calls:
            if observation == "error":
                self.dialogue.say("error", output, at=at)
            return
        code = exit_of(metadata, extras)
        # A command tells how it went by its exit code alone.
        failed: bool | None = None if observation == "run" else output.startswith(_FAILED)
        if observation in ("error", "user_rejected"):
            failed = True
        ok = is_ok(failed, code)
        self.dialogue.result(str(number), output, at=at, ok=ok, exit_code=code)

    def _place(self, folder: str | None) -> None:
        """The first folder that is told is where the conversation takes place."""
        if folder and not self.memory.cwd:
            self.memory.cwd = folder
            self.dialogue.facts(cwd=folder)

    # Tokens

    def _account(self, event: OpenHandsOldEvent, number: int, at: int | None) -> None:
        """What a call took: the rise of the totals, or, in the first versions, its response."""
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
        return [*self.dialogue.drain(), *self.problems.drain()]

    def save(self) -> bytes:
        """The totals so far, and where the conversation takes place."""
        return b"" if self.read_again else msgspec.msgpack.encode(self.memory)


def _remembered(memory: bytes) -> _Version0State:
    try:
        return msgspec.msgpack.decode(memory, type=_Version0State) if memory else _Version0State()
    except (msgspec.MsgspecError, UnicodeError):
        return _Version0State()


# Exports -----------------------------------------------------------------------


def is_trajectory(head: bytes) -> bool:
    """Whether a document begins like a list of events."""
    start = head.lstrip()[:1]
    return (
        start == b"["
        and bool(_ACTION.search(head) and _SOURCE.search(head))
        and b'"args"' in head
        and b'"timestamp"' in head
    )


def is_run(head: bytes) -> bool:
    """Whether a line begins like a benchmark's; its events may be far behind."""
    return (
        head.startswith(b"{")
        and b'"instance_id"' in head[:4096]
        and (b'"history"' in head or b'"test_result"' in head[:65536])
    )


def read_trajectory(source: Source, session: str) -> Iterator[Item]:
    """A list of events."""
    try:
        data = read_bytes(source.path)
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield Checkpoint(0)
        return
    try:
        events = list_of(parse_json(data))
    except BrokenDocument as reason:
        yield Problem(path=source.path, kind="bad_record", reason=str(reason))
        events = []
    if events:
        yield SessionFacts(session=session, started_at=_first_time(events))
        yield from _told(OpenHandsOldReader(session, source.path), events)
    yield Checkpoint(len(data))


class _BenchmarkReader:
    """The conversations of a benchmark, one a line."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.items: list[Item] = []
        self.problems = ProblemCounter(source.path)

    def take(self, record: OpenHandsBenchmarkRun) -> None:
        """One conversation, whole."""
        name = text_of(record.instance_id)
        # The oldest ones list pairs of an action and its observation.
        events: list[Any] = []
        for entry in list_of(record.history):
            events += entry if isinstance(entry, list) else [entry]
        if name is None or not events:
            self.problems.bad("a run without a name or a history")
            return
        metadata = fields_of(record.metadata)
        started = _first_time(events)
        # The same task is run again and again; the time tells which run this is.
        session = f"{name}-{started}" if started else name
        meta = {
            "instance": name, "benchmark": text_of(metadata.get("dataset")),
            "agent_class": text_of(metadata.get("agent_class")),
        }  # fmt: skip
        facts = SessionFacts(
            session=session,
            origin="headless",
            started_at=started,
            meta=non_empty(meta),
        )
        model = text_of(fields_of(metadata.get("llm_config")).get("model"))
        reader = OpenHandsOldReader(session, self.path, model=model)
        self.items += [facts, *_told(reader, events)]
        if error := text_of(record.error):
            reader.dialogue.say("error", error)
            self.items += reader.drain()

    def drain(self) -> list[Item]:
        """What was made since the last time."""
        items, self.items = self.items, []
        return items

    def save(self) -> bytes:
        """Lines do not depend on each other."""
        return b"\0"


def read_runs(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    """The conversations that were added to a benchmark's output."""
    position, _ = resume(since, int)
    yield from read_appended(source, position, _RUNS, _BenchmarkReader(source))


def _told(reader: OpenHandsOldReader, events: list[Any]) -> Iterator[Item]:
    for number, event in enumerate(events):
        if isinstance(event, dict):
            told = OpenHandsOldEvent(
                **{name: event.get(name) for name in OpenHandsOldEvent.__struct_fields__}
            )
            own = whole_of(told.id)
            reader.take_numbered(told, number if own is None else own)
        else:
            reader.problems.bad("an event is not an object")
    yield from reader.close()


def _first_time(events: list[Any]) -> int | None:
    times = (moment_of(fields_of(event).get("timestamp")) for event in events)
    return next(filter(None, times), None)
