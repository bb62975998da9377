"""Messages in the shape of Google's Gen AI API, which several agents write down as they are.

A content is a text or a list of parts. A part is a text, a thought (a text that
is marked as one), a call of a function, what a function gave back, or data
such as a picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

import msgspec

from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    list_of,
    picture,
    text_of,
)


class Call(NamedTuple):
    """A function was called; an answer to it names the same `ident`, where there is one."""

    ident: str | None
    name: str
    arguments: Any


class Answer(NamedTuple):
    """What a function gave back; `ok` is None when that cannot be told."""

    ident: str | None
    name: str | None
    output: str | None
    ok: bool | None


class Counts(TypedDict):
    """Tokens by the names that `Dialogue.usage` has for them."""

    input: int
    cache_read: int
    output: int
    reasoning: int


def parts_of(content: object) -> list[Fields]:
    """The parts of a content, however it is written."""
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, dict):
        return (
            parts_of(content["parts"])
            if isinstance(content.get("parts"), (str, list))
            else [content]
        )
    return [
        part if isinstance(part, dict) else {"text": part}
        for part in list_of(content)
        if isinstance(part, (str, dict))
    ]


def said_in(parts: Iterable[Fields], joint: str = "") -> str:
    """The words of a message, without thoughts; a mark stands for each picture."""
    return joint.join(filter(None, (_said(part) for part in parts)))


def _said(part: Fields) -> str:
    if part.get("thought"):
        return ""
    return picture(part) if "inlineData" in part else text_of(part.get("text")) or ""


def thought_in(parts: Iterable[Fields]) -> str:
    """What is marked as thought."""
    return "".join(text_of(part.get("text")) or "" for part in parts if part.get("thought"))


def calls_in(parts: Iterable[Fields]) -> list[Call]:
    """The functions that a message calls."""
    calls = [fields_of(part.get("functionCall")) for part in parts]
    return [
        Call(text_of(call.get("id")), text_of(call.get("name")) or "unknown", call.get("args"))
        for call in calls
        if call
    ]


def answers_in(parts: Iterable[Fields]) -> list[Answer]:
    """What functions gave back, as a message brings it to the model."""
    answers = [fields_of(part.get("functionResponse")) for part in parts]
    return [
        Answer(
            text_of(answer.get("id")),
            text_of(answer.get("name")),
            *_outcome(answer.get("response")),
        )
        for answer in answers
        if answer
    ]


def _outcome(response: object) -> tuple[str | None, bool | None]:
    given = fields_of(response)
    if "error" in given:
        return _written(given["error"]), False
    for name in ("output", "result", "content"):
        if name in given:
            return _written(given[name]), None
    return (_written(response) if response else None), None


def _written(value: object) -> str:
    if isinstance(value, (str, list)):
        text = content_text(value)
        if text or not value:
            return text
    return msgspec.json.encode(value).decode()


def tokens(
    *,
    prompt: object,
    cached: object,
    candidates: object,
    thoughts: object,
    tool: object = 0,
    total: object = 0,
) -> Counts:
    """The figures of a model call as we count them.

    A prompt's tokens include what was cached of it. Thoughts are counted apart
    from the answer by some providers and with it by others; the total tells.
    """
    asked, known, answered, thought = (
        count_of(prompt),
        count_of(cached),
        count_of(candidates),
        count_of(thoughts),
    )
    asked += count_of(tool)
    apart = count_of(total) != asked + answered
    return Counts(
        input=max(0, asked - known),
        cache_read=known,
        output=answered + thought if apart else answered,
        reasoning=thought if apart else min(thought, answered),
    )
