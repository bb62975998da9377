"""Messages in the shape of Google's Gen AI API, which several agents write down as they are.

A content is a text or a list of parts. A part is a text, a thought (a text that
is marked as one), a call of a function, what a function gave back, or data
such as a picture.

One widespread recorder makes chats of them: a message of the model holds its
thoughts, its words, its calls with what they gave back, and its tokens. It came
with one terminal agent and lives on in the forks of it, which changed little
more than the name of the type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

import msgspec
from msgspec import Struct

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.tags import inside
from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    list_of,
    moment_of,
    objects_of,
    picture,
    text_of,
)


class FunctionCall(NamedTuple):
    """A function was called; an answer to it names the same `ident`, where there is one."""

    ident: str | None
    name: str
    arguments: Any


class FunctionAnswer(NamedTuple):
    """What a function gave back; `ok` is None when that cannot be told."""

    ident: str | None
    name: str | None
    output: str | None
    ok: bool | None


class TokenCounts(TypedDict):
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
        inner = content.get("parts")
        return parts_of(inner) if isinstance(inner, (str, list)) else [content]
    texts_and_parts = [part for part in list_of(content) if isinstance(part, (str, dict))]
    return [{"text": part} if isinstance(part, str) else part for part in texts_and_parts]


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


def calls_in(parts: Iterable[Fields]) -> list[FunctionCall]:
    """The functions that a message calls."""
    calls = []
    for part in parts:
        if call := fields_of(part.get("functionCall")):
            name = text_of(call.get("name")) or "unknown"
            calls.append(FunctionCall(text_of(call.get("id")), name, call.get("args")))
    return calls


def answers_in(parts: Iterable[Fields]) -> list[FunctionAnswer]:
    """What functions gave back, as a message brings it to the model."""
    answers = []
    for part in parts:
        if answer := fields_of(part.get("functionResponse")):
            ident, name = text_of(answer.get("id")), text_of(answer.get("name"))
            answers.append(FunctionAnswer(ident, name, *_outcome(answer.get("response"))))
    return answers


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
) -> TokenCounts:
    """The figures of a model call as we count them.

    A prompt's tokens include what was cached of it. Thoughts are counted apart
    from the answer by some providers and with it by others; the total tells.
    """
    asked = count_of(prompt) + count_of(tool)
    known = count_of(cached)
    answered = count_of(candidates)
    thought = count_of(thoughts)
    apart = count_of(total) != asked + answered
    return TokenCounts(
        input=max(0, asked - known),
        cache_read=known,
        output=answered + thought if apart else answered,
        reasoning=thought if apart else min(thought, answered),
    )


# Chats, as the recorder writes them --------------------------------------------


# What the recorder writes when a person stops the agent.
CANCELLED = "Request cancelled."
# How a call ended, by its status.
ENDED = {"success": True, "error": False, "cancelled": False}

# Around what came from outside, since autumn 2026.
_WRAPPER = "untrusted_context"
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})\s*$", re.MULTILINE)


class ChatMessage(Struct):
    """One message; `parts` stands where `content` should in a few old files."""

    id: Any = None
    type: Any = None
    timestamp: Any = None
    content: Any = None
    displayContent: Any = None
    parts: Any = None
    thoughts: Any = None
    toolCalls: Any = None
    tokens: Any = None
    model: Any = None


def messages_in(value: object, session: object) -> list[ChatMessage]:
    """The messages of a list. One without an id is named by its session and its place in it."""
    found = [msgspec.convert(fields, ChatMessage) for fields in objects_of(value)]
    for place, message in enumerate(found):
        message.id = text_of(message.id) or f"{session}/message-{place}"
    return found


def parts_in(message: ChatMessage) -> list[Fields]:
    """The parts of a message."""
    return parts_of(message.content) or parts_of(message.parts)


def tell_answer(dialogue: Dialogue, message: ChatMessage) -> None:
    """What the model thought, said and did in one message, and its tokens."""
    at = moment_of(message.timestamp)
    parts = parts_in(message)
    thoughts = objects_of(message.thoughts)
    for thought in thoughts:
        dialogue.say("reasoning", _thought(thought), at=moment_of(thought.get("timestamp")) or at)
    if not thoughts:
        dialogue.say("reasoning", thought_in(parts), at=at)
    dialogue.say("reply", said_in(parts), at=at)
    calls = objects_of(message.toolCalls)
    for call in calls:
        _tell_call(dialogue, call, at)
    # Parts name the calls once more where the calls are listed.
    for ident, name, arguments in () if calls else calls_in(parts):
        dialogue.call(ident, name, arguments, at=at)
    told = fields_of(message.tokens)
    counts = tokens(
        prompt=told.get("input"),
        cached=told.get("cached"),
        candidates=told.get("output"),
        thoughts=told.get("thoughts"),
        tool=told.get("tool"),
        total=told.get("total"),
    )
    dialogue.usage(
        f"{dialogue.session}/{message.id}", model=text_of(message.model), at=at, **counts
    )


def tell_notice(dialogue: Dialogue, message: ChatMessage) -> None:
    """An error, or that a person stopped the agent.

    What else a screen shows is not part of the talk.
    """
    at, text = moment_of(message.timestamp), said_in(parts_in(message))
    if message.type == "error":
        dialogue.say("error", text, at=at)
    elif text == CANCELLED:
        dialogue.say("abort", text, at=at)


def exit_code_of(tool: str | None, output: str | None) -> int | None:
    """The exit code of a command, which stands below what it printed.

    A call may be a success for all that.
    """
    codes = _EXIT_CODE.findall(output) if tool and output and kind_of(tool) == "shell" else ()
    return int(codes[-1]) if codes else None


def _thought(thought: Fields) -> str:
    subject, description = text_of(thought.get("subject")), text_of(thought.get("description"))
    return "\n".join(filter(None, [subject and f"**{subject}**", description]))


def _tell_call(dialogue: Dialogue, call: Fields, at: int | None) -> None:
    ident = text_of(call.get("id"))
    name = text_of(call.get("name")) or text_of(call.get("displayName")) or "unknown"
    status = text_of(call.get("status"))
    output, ok = _result(call, ident), ENDED.get(status or "")
    exit_code = exit_code_of(name, output)
    if exit_code:
        ok = False
    dialogue.call(
        ident,
        name,
        call.get("args"),
        at=moment_of(call.get("timestamp")) or at,
        output=output,
        ok=ok,
        exit_code=exit_code,
    )


def _result(call: Fields, ident: str | None) -> str | None:
    """What a call gave back: what the model was told, else what was shown."""
    parts = parts_of(call.get("result"))
    answers = answers_in(parts)
    # Where a history was shortened, the answers to all calls of a message stand at each of them.
    own = [answer for answer in answers if answer.ident == ident] or answers
    told = "\n".join(answer.output for answer in own if answer.output) or said_in(parts)
    told = inside(told, _WRAPPER) or told
    shown = call.get("resultDisplay")
    return told or text_of(shown) or text_of(fields_of(shown).get("fileDiff"))
