"""The lines of a Grok Build session as they are on disk.

Only what we read is declared. What can be large and is mostly passed over (a
command's output is repeated ten times a second while it runs) stays undecoded
until somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.lines import UnreadableSource, blocks, records
from recollect.capture.logs.values import Fields, fields_of, moment_of
from recollect.model.logs import Problem

Record = TypeVar("Record")

# The files of a session's folder.
SUMMARY_FILE, SIGNALS_FILE = "summary.json", "signals.json"
UPDATES_FILE, CHAT_FILE, EVENTS_FILE = "updates.jsonl", "chat_history.jsonl", "events.jsonl"
PROMPTS_FOLDER = "prompts"
_NOTHING = Raw(b"")


class GrokUpdate(Struct, gc=False):
    """What happened: one of the Agent Client Protocol's updates, or one of the vendor's own."""

    kind: Any = field(default=None, name="sessionUpdate")
    meta: Any = field(default=None, name="_meta")
    content: Raw = _NOTHING
    # Tool calls
    call: Any = field(default=None, name="toolCallId")
    title: Any = None
    status: Any = None
    tool_kind: Any = field(default=None, name="kind")
    given: Raw = field(default=_NOTHING, name="rawInput")
    gave: Raw = field(default=_NOTHING, name="rawOutput")
    # The vendor's
    prompt_id: Any = None
    stop_reason: Any = None
    agent_result: Any = None
    usage: Any = None
    target_prompt_index: Any = None
    child_session_id: Any = None
    parent_prompt_id: Any = None
    session_summary: Any = None
    summary_preview: Any = None
    tokens_before: Any = None
    tokens_after: Any = None
    type: Any = None
    error: Any = None
    message: Any = None
    reason: Any = None


class GrokNotification(Struct, gc=False):
    """An update of one session, with when it happened and for which prompt."""

    session: Any = field(default=None, name="sessionId")
    update: GrokUpdate = field(default_factory=GrokUpdate)
    meta: Any = field(default=None, name="_meta")


class GrokUpdateLine(Struct, gc=False):
    """A line of updates.jsonl; the oldest have no envelope and are the notification itself."""

    timestamp: Any = None
    params: GrokNotification | None = None
    session: Any = field(default=None, name="sessionId")
    update: GrokUpdate | None = None
    meta: Any = field(default=None, name="_meta")

    @property
    def notification(self) -> GrokNotification:
        """What the envelope holds."""
        return self.params or GrokNotification(self.session, self.update or GrokUpdate(), self.meta)

    def at(self, meta: Fields) -> int | None:
        """When it happened; the envelope tells when it was written, which in a fork is later."""
        return moment_of(meta.get("agentTimestampMs")) or moment_of(self.timestamp)


class GrokChatLine(Struct, gc=False):
    """A line of chat_history.jsonl: an item with a `type`, in version 0 one with a `role`."""

    type: Any = None
    role: Any = None
    content: Any = None
    synthetic_reason: Any = None
    prompt_index: Any = None
    tool_calls: Any = None
    tool_call_id: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    summary: Any = None
    kind: Any = None
    model_id: Any = None

    @property
    def item(self) -> object:
        """What sort of item it is, in the words of version 1."""
        if self.type is not None:
            return self.type
        if self.role == "tool":
            return "tool_result"
        return self.role


class GrokEventLine(Struct, gc=False):
    """A line of events.jsonl."""

    ts: Any = None
    type: Any = None
    turn_number: Any = None
    model_id: Any = None
    yolo_mode: Any = None
    tool_call_id: Any = None
    duration_ms: Any = None
    outcome: Any = None
    source: Any = None
    wait_ms: Any = None
    cancellation_category: Any = None


UPDATES: msgspec.json.Decoder[GrokUpdateLine] = msgspec.json.Decoder(GrokUpdateLine)
CHAT: msgspec.json.Decoder[GrokChatLine] = msgspec.json.Decoder(GrokChatLine)
EVENTS: msgspec.json.Decoder[GrokEventLine] = msgspec.json.Decoder(GrokEventLine)


class GrokLines:
    """The lines of one file, and how many bytes they were. What is wrong is kept in `problems`."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.read_bytes = 0

    def of(self, path: str, decoder: msgspec.json.Decoder[Record]) -> Iterator[Record]:
        """The records of a file in order; none when it cannot be read."""
        try:
            for block in blocks(path):
                if isinstance(block, Problem):
                    self.problems.append(block)
                    continue
                self.read_bytes += len(block.data)
                for record in records(path, block, decoder):
                    if isinstance(record, Problem):
                        self.problems.append(record)
                    else:
                        yield record
        except UnreadableSource as reason:
            self.problems.append(Problem(path=path, kind="unreadable", reason=str(reason)))


def decode_raw(raw: Raw) -> Any:
    """What was left undecoded; None when there is nothing, or nothing sound."""
    data = bytes(raw)
    try:
        return parse_json(data) if data else None
    except BrokenDocument:
        return None


def decode_raw_fields(raw: Raw) -> Fields:
    """The same where it should be an object."""
    return fields_of(decode_raw(raw))
