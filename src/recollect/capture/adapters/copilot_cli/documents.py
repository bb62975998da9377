"""Sessions of Copilot CLI's first weeks: one document each, written anew after every step.

What was on the screen is in `timeline`, what went to the model in
`chatMessages`. The first has ids and times, so it is read; the second tells
what tools gave back, and everything where there is no timeline.
"""

from __future__ import annotations

from typing import Any

from recollect.capture.adapters.copilot_cli.prompts import typed
from recollect.capture.adapters.copilot_cli.records import id_of
from recollect.capture.adapters.copilot_cli.tools import called
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    list_of,
    moment_of,
    objects_of,
    text_of,
)
from recollect.model.logs import Item

_OUTCOMES = {"success": True, "failure": False, "rejected": False, "denied": False, "error": False}


class CopilotDocumentReader:
    """Makes items of a document; `session` is what it is called if it does not say."""

    def __init__(self, path: str, session: str) -> None:
        self.path, self.session = path, session
        self.document: Fields = {}

    def take(self, document: Fields) -> None:
        """All there is."""
        self.document = document

    def items(self) -> list[Item]:
        """The whole session; one in which nothing was said is none."""
        dialogue = Dialogue(id_of(self.document.get("sessionId")) or self.session)
        problems = ProblemCounter(self.path)
        tell_document(dialogue, self.document, problems)
        return [*(dialogue.items if dialogue.state.turn else ()), *problems.drain()]


def tell_document(dialogue: Dialogue, document: Fields, problems: ProblemCounter) -> None:
    """The items of a whole session."""
    dialogue.facts(started_at=moment_of(document.get("startTime")))
    messages = objects_of(document.get("chatMessages"))
    if list_of(document.get("timeline")):
        _take_timeline(
            dialogue, objects_of(document.get("timeline")), _given_back(messages), problems
        )
    else:
        _take_messages(dialogue, messages, problems)


def _given_back(messages: list[Fields]) -> dict[str, str]:
    outputs = {}
    for message in messages:
        call = id_of(message.get("tool_call_id"))
        if call and message.get("role") == "tool":
            outputs[call] = content_text(message.get("content"))
    return outputs


def _take_timeline(
    dialogue: Dialogue, timeline: list[Fields], outputs: dict[str, str], problems: ProblemCounter
) -> None:
    for number, event in enumerate(timeline):
        at, text = moment_of(event.get("timestamp")), text_of(event.get("text")) or ""
        kind, call = event.get("type"), id_of(event.get("callId"))
        if kind == "user":
            if prompt := typed(text):
                key = id_of(event.get("id")) or f"{dialogue.session}/timeline-{number}"
                dialogue.prompt(key, prompt, at=at)
        elif kind == "copilot":
            dialogue.say("reply", text, at=at)
        elif kind == "error":
            dialogue.say("error", text, at=at)
        elif kind in ("tool_call_requested", "tool_call_completed"):
            name = text_of(event.get("name")) or text_of(event.get("toolTitle"))
            if name and (call is None or call not in dialogue.state.waiting):
                _call(dialogue, call, name, event.get("arguments"), at)
            if call and kind == "tool_call_completed":
                result = fields_of(event.get("result"))
                output = outputs.get(call) or text_of(result.get("log"))
                dialogue.result(call, output, at=at, ok=_OUTCOMES.get(str(result.get("type"))))
        elif kind != "info":
            problems.unknown("timeline entry", kind)


def _take_messages(dialogue: Dialogue, messages: list[Fields], problems: ProblemCounter) -> None:
    for number, message in enumerate(messages):
        role, text = message.get("role"), content_text(message.get("content"))
        if role == "user":
            if prompt := typed(text):
                dialogue.prompt(f"{dialogue.session}/message-{number}", prompt)
        elif role == "assistant":
            dialogue.say("reply", text)
            for request in objects_of(message.get("tool_calls")):
                function = fields_of(request.get("function"))
                if name := text_of(function.get("name")):
                    _call(dialogue, id_of(request.get("id")), name, function.get("arguments"), None)
        elif role == "tool":
            if call := id_of(message.get("tool_call_id")):
                dialogue.result(call, text)
        elif role != "system":
            problems.unknown("message role", role)


def _call(dialogue: Dialogue, call: str | None, name: str, arguments: Any, at: int | None) -> None:
    made = called(name, arguments, None)
    dialogue.call(call, made.name, made.given, at=at, kind=made.kind, target=made.target)
