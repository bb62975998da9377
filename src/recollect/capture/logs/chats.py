"""Chats as one widespread recorder writes them: a list of messages,
each with all that belongs to it.

A message of the model holds its thoughts, its words, its calls with what they
gave back, and its tokens. The recorder came with one terminal agent and lives
on in the forks of it, which changed little more than the name of the type.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.genai import answers_in, calls_in, parts_of, said_in, thought_in, tokens
from recollect.capture.logs.tags import inside
from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import Fields, fields_of, moment_of, objects_of, text_of

# What the recorder writes when a person stops the agent.
CANCELLED = "Request cancelled."
# How a call ended, by its status.
ENDED = {"success": True, "error": False, "cancelled": False}

# Around what came from outside, since autumn 2026.
_WRAPPER = "untrusted_context"
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})\s*$", re.MULTILINE)


class Message(Struct):
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


def messages_in(value: object, session: object) -> list[Message]:
    """The messages of a list. One without an id is named by its session and its place in it."""
    found = [msgspec.convert(fields, Message) for fields in objects_of(value)]
    for place, message in enumerate(found):
        message.id = text_of(message.id) or f"{session}/message-{place}"
    return found


def parts_in(message: Message) -> list[Fields]:
    """The parts of a message."""
    return parts_of(message.content) or parts_of(message.parts)


def tell_answer(dialogue: Dialogue, message: Message) -> None:
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
        prompt=told.get("input"), cached=told.get("cached"), candidates=told.get("output"),
        thoughts=told.get("thoughts"),
        tool=told.get("tool"), total=told.get("total"),
    )  # fmt: skip
    dialogue.usage(
        f"{dialogue.session}/{message.id}", model=text_of(message.model), at=at, **counts
    )


def tell_notice(dialogue: Dialogue, message: Message) -> None:
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
    ident, name = (
        text_of(call.get("id")),
        text_of(call.get("name")) or text_of(call.get("displayName")) or "unknown",
    )
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
