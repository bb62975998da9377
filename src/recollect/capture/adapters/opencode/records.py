"""The fields of OpenCode's messages and parts that we read.

What is not declared is skipped without being built: the contents of files in
summaries and metadata, and pictures, are most of what a store holds. A field
may be of another type one day; that costs the field, not the record.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, convert

from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.values import Fields, fields_of, list_of

Other = list[Any] | str | int | float | bool | None


class OpenCodeTimes(Struct):
    """When something was; messages use the first two, parts and tools the others."""

    created: Any = None
    completed: Any = None
    start: Any = None
    end: Any = None


class OpenCodeCache(Struct):
    """What came from the model's cache, and what was written to it."""

    read: Any = None
    write: Any = None


class OpenCodeTokens(Struct):
    """What a message or one of its steps used; `total` is there since February 2026."""

    input: Any = None
    output: Any = None
    reasoning: Any = None
    cache: OpenCodeCache | Other = None
    total: Any = None


class OpenCodeFailure(Struct):
    """What went wrong: a name, and fields that depend on it."""

    name: Any = None
    data: Any = None


class OpenCodePath(Struct):
    """Where a message came about."""

    cwd: Any = None


class _ChosenModel(Struct):
    """The model that a person chose for a prompt."""

    variant: Any = None


class _Summary(Struct):
    """A summary of what a prompt changed, which only has to be told from `true`."""


class OpenCodeMessage(Struct):
    """One message, without its parts where these are records of their own."""

    id: Any = None
    role: Any = None
    time: OpenCodeTimes | Other = None
    parentID: Any = None
    modelID: Any = None
    providerID: Any = None
    mode: Any = None
    agent: Any = None
    model: _ChosenModel | Other = None
    variant: Any = None
    path: OpenCodePath | Other = None
    cost: Any = None
    tokens: OpenCodeTokens | Other = None
    finish: Any = None
    error: OpenCodeFailure | Other = None
    summary: _Summary | Other = None
    # Until 13 July 2025 the parts stood in the message; until the 7th
    # the rest of it was `metadata`.
    parts: Any = None
    metadata: Any = None


class OpenCodeToolDetails(Struct):
    """What a tool told beside its output."""

    exit: Any = None


class OpenCodeToolState(Struct):
    """How far a tool call is, with what it was given and gave back."""

    status: Any = None
    input: Any = None
    output: Any = None
    error: Any = None
    metadata: OpenCodeToolDetails | Other = None
    time: OpenCodeTimes | Other = None


class OpenCodePart(Struct):
    """A piece of a message: words, a thought, a tool call with its result, the end of a step."""

    id: Any = None
    type: Any = None
    text: Any = None
    synthetic: Any = None
    ignored: Any = None
    time: OpenCodeTimes | Other = None
    callID: Any = None
    tool: Any = None
    state: OpenCodeToolState | Other = None
    tokens: OpenCodeTokens | Other = None
    cost: Any = None
    filename: Any = None
    mime: Any = None
    source: Any = None
    prompt: Any = None
    overflow: Any = None
    error: OpenCodeFailure | Other = None


_MESSAGES = msgspec.json.Decoder(OpenCodeMessage)
_PARTS = msgspec.json.Decoder(OpenCodePart)


def message_of(data: bytes) -> OpenCodeMessage:
    """A message out of its JSON; `BrokenDocument` when it is none."""
    try:
        message = _MESSAGES.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        message = parse_json(data, OpenCodeMessage)
    if isinstance(message.metadata, dict) and message.time is None:
        return _first_shape(message)
    return message


def part_of(data: bytes) -> OpenCodePart:
    """A part out of its JSON; `BrokenDocument` when it is none."""
    try:
        return _PARTS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return parse_json(data, OpenCodePart)


def parts_within(message: OpenCodeMessage) -> list[OpenCodePart]:
    """The parts that stand in the message itself."""
    found = []
    for part in list_of(message.parts):
        try:
            found.append(convert(part, OpenCodePart))
        except msgspec.ValidationError as error:
            raise BrokenDocument(f"a part does not have the expected form: {error}"[:200]) from None
    return found


def _first_shape(message: OpenCodeMessage) -> OpenCodeMessage:
    """A message of June 2025, told in the words of the later ones."""
    metadata = fields_of(message.metadata)
    assistant = fields_of(metadata.get("assistant"))
    told = {
        "id": message.id,
        "role": message.role,
        "time": metadata.get("time"),
        "error": metadata.get("error"),
        **assistant,
    }
    tools = fields_of(metadata.get("tool"))
    told["parts"] = [_first_part(fields_of(part), tools) for part in list_of(message.parts)]
    try:
        return convert(told, OpenCodeMessage)
    except msgspec.ValidationError as error:
        raise BrokenDocument(f"not what we know: {error}"[:200]) from None


def _first_part(part: Fields, tools: Fields) -> Fields:
    called = fields_of(part.get("toolInvocation"))
    if part.get("type") != "tool-invocation":
        return part
    known = fields_of(tools.get(str(called.get("toolCallId"))))
    failed = known.get("error") is True
    status = "running" if called.get("state") != "result" else "error" if failed else "completed"
    state = {
        "status": status,
        "input": called.get("args"),
        "metadata": known,
        "time": known.get("time"),
    }
    state["error" if failed else "output"] = called.get("result")
    return {
        "type": "tool",
        "callID": called.get("toolCallId"),
        "tool": called.get("toolName"),
        "state": state,
    }
