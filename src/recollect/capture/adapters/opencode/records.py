"""The fields of OpenCode's messages and parts that we read.

What is not declared is skipped without being built: the contents of files in
summaries and metadata, and pictures, are most of what a store holds. A field
may be of another type one day; that costs the field, not the record.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, convert

from recollect.capture.logs.documents import Broken, parsed
from recollect.capture.logs.values import Fields, fields_of, list_of

Other = list[Any] | str | int | float | bool | None


class Times(Struct):
    """When something was; messages use the first two, parts and tools the others."""

    created: Any = None
    completed: Any = None
    start: Any = None
    end: Any = None


class Cache(Struct):
    read: Any = None
    write: Any = None


class Tokens(Struct):
    """What a message or one of its steps used; `total` is there since February 2026."""

    input: Any = None
    output: Any = None
    reasoning: Any = None
    cache: Cache | Other = None
    total: Any = None


class Fault(Struct):
    """What went wrong: a name, and fields that depend on it."""

    name: Any = None
    data: Any = None


class Place(Struct):
    cwd: Any = None


class Chosen(Struct):
    """The model that a person chose for a prompt."""

    variant: Any = None


class Written(Struct):
    """A summary of what a prompt changed, which only has to be told from `true`."""


class Message(Struct):
    """One message, without its parts where these are records of their own."""

    id: Any = None
    role: Any = None
    time: Times | Other = None
    parentID: Any = None
    modelID: Any = None
    providerID: Any = None
    mode: Any = None
    agent: Any = None
    model: Chosen | Other = None
    variant: Any = None
    path: Place | Other = None
    cost: Any = None
    tokens: Tokens | Other = None
    finish: Any = None
    error: Fault | Other = None
    summary: Written | Other = None
    # Until 13 July 2025 the parts stood in the message; until the 7th
    # the rest of it was `metadata`.
    parts: Any = None
    metadata: Any = None


class Details(Struct):
    """What a tool told beside its output."""

    exit: Any = None


class State(Struct):
    status: Any = None
    input: Any = None
    output: Any = None
    error: Any = None
    metadata: Details | Other = None
    time: Times | Other = None


class Part(Struct):
    """A piece of a message: words, a thought, a tool call with its result, the end of a step."""

    id: Any = None
    type: Any = None
    text: Any = None
    synthetic: Any = None
    ignored: Any = None
    time: Times | Other = None
    callID: Any = None
    tool: Any = None
    state: State | Other = None
    tokens: Tokens | Other = None
    cost: Any = None
    filename: Any = None
    mime: Any = None
    source: Any = None
    prompt: Any = None
    overflow: Any = None
    error: Fault | Other = None


_MESSAGES = msgspec.json.Decoder(Message)
_PARTS = msgspec.json.Decoder(Part)


def message_of(data: bytes) -> Message:
    """A message out of its JSON; `Broken` when it is none."""
    try:
        message = _MESSAGES.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        message = parsed(data, Message)
    return (
        _first_shape(message)
        if isinstance(message.metadata, dict) and message.time is None
        else message
    )


def part_of(data: bytes) -> Part:
    """A part out of its JSON; `Broken` when it is none."""
    try:
        return _PARTS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return parsed(data, Part)


def parts_within(message: Message) -> list[Part]:
    """The parts that stand in the message itself."""
    found = []
    for part in list_of(message.parts):
        try:
            found.append(convert(part, Part))
        except msgspec.ValidationError as error:
            raise Broken(f"a part is not what we know: {error}"[:200]) from None
    return found


def _first_shape(message: Message) -> Message:
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
    told["parts"] = [
        _first_part(fields_of(part), fields_of(metadata.get("tool")))
        for part in list_of(message.parts)
    ]
    try:
        return convert(told, Message)
    except msgspec.ValidationError as error:
        raise Broken(f"not what we know: {error}"[:200]) from None


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
