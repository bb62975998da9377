"""One goose conversation: its messages, in a row or on a line each, become turns and events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.problems import ProblemCounter
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
    whole_of,
)
from recollect.model.logs import Author, ToolKind, TurnFacts


class _Part(msgspec.Struct):
    """One piece of a message: words, a call, its result, or a notice of the program."""

    type: Any = None
    text: Any = None
    id: Any = None
    tool_call: Any = msgspec.field(default=None, name="toolCall")
    tool_result: Any = msgspec.field(default=None, name="toolResult")
    thinking: Any = None
    notification: Any = msgspec.field(default=None, name="notificationType")
    msg: Any = None


class _Visibility(msgspec.Struct):
    """Who gets to see a message; both do, if nothing is said."""

    user: Any = msgspec.field(default=True, name="userVisible")
    agent: Any = msgspec.field(default=True, name="agentVisible")


_PARTS = msgspec.json.Decoder(list[_Part])
_VISIBILITY = msgspec.json.Decoder(_Visibility)
_EVERYBODY = _Visibility()

# Between program and person, or opaque: nothing that lasts.
_PASSED_OVER = {
    "redactedThinking", "toolConfirmationRequest", "actionRequired", "summarizationRequested",
}  # fmt: skip
# What goose says in the user's name when a recipe wants a structured answer and got none.
_NUDGE = re.compile(r"You MUST call the `\w*final_output` tool NOW")
# Extensions that come with goose: their tools are what their own names say, not somebody's server.
_BUILT_IN = {
    "developer", "computercontroller", "platform", "summon", "todo", "skills", "analyze",
    "subagent", "autovisualiser",
}  # fmt: skip


class GooseReader:
    """Makes items of the messages of one session."""

    def __init__(self, session: str, author: Author, problems: ProblemCounter) -> None:
        self.dialogue = Dialogue(session)
        self.author = author
        self.problems = problems
        self.prompts: dict[str, int] = {}
        self.prompt = ""
        self.compacted = False
        # A text for the agent alone is a summary when goose then tells
        # it, just as quietly, to go on.
        self.unseen: tuple[str, int | None] | None = None

    def take(self, role: object, content: str | bytes, created: object, metadata: object) -> None:
        """One message; content and metadata are JSON."""
        try:
            parts = _parts(content)
        except BrokenDocument as reason:
            self.problems.bad(f"a message whose content is {reason}")
            return
        at, visibility = moment_of(created), _visibility(metadata)
        if visibility.user is False and visibility.agent is True:
            self._for_the_agent(role, parts, at)
        elif role == "user":
            self._from_user(parts, at)
        elif role == "assistant":
            self._from_agent(parts, at)
        else:
            self.problems.unknown("message of role", role)

    def count(self, totals: Mapping[str, Any], model: str | None) -> None:
        """The tokens of the whole session, which is all that goose keeps.

        Those of its last call where that is all there is.

        They stand with the first turn: the last one changes while a session goes on.
        """
        given = count_of(totals["accumulated_input_tokens"])
        answered = count_of(totals["accumulated_output_tokens"])
        if not given and not answered:
            given, answered = count_of(totals["input_tokens"]), count_of(totals["output_tokens"])
        began = next((item for item in self.dialogue.items if isinstance(item, TurnFacts)), None)
        if began is not None:
            session = self.dialogue.session
            self.dialogue.usage(
                session, model=model, at=began.at, input=given, output=answered, turn=began.turn
            )

    def _for_the_agent(self, role: object, parts: list[_Part], at: int | None) -> None:
        if role == "user":
            self.unseen = (_said(parts), at)
        elif self.unseen is not None:
            text, began = self.unseen
            self.dialogue.say("compaction", text, at=began)
            self.unseen, self.compacted = None, True

    def _from_user(self, parts: list[_Part], at: int | None) -> None:
        text = _said(parts)
        answered = False
        for part in parts:
            if part.type == "toolResponse":
                self._result(part, at)
                answered = True
            else:
                self._aside(part, at)
        # What stands beside a result is the program's, not the person's.
        if answered or not text or _NUDGE.match(text):
            return
        # Compacting repeats the prompt that was being worked on.
        repeated, self.compacted = self.compacted and text == self.prompt, False
        if not repeated:
            self.prompt = text
            self.dialogue.prompt(self._key(text, at), text, at=at, author=self.author)

    def _key(self, text: str, at: int | None) -> str:
        """A turn's key, made of when and what.

        Ids of messages came late, and older rows were given theirs afterwards.
        """
        mark = blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
        key = f"{at or self.dialogue.session}-{mark}"
        before = self.prompts.get(key, 0)
        self.prompts[key] = before + 1
        return f"{key}.{before + 1}" if before else key

    def _from_agent(self, parts: list[_Part], at: int | None) -> None:
        self.compacted = False
        for part in parts:
            kind = part.type
            if kind == "text":
                self.dialogue.say("reply", text_of(part.text), at=at)
            elif kind in ("toolRequest", "frontendToolRequest"):
                self._call(part, at)
            elif kind in ("thinking", "reasoning"):
                self.dialogue.say("reasoning", text_of(part.thinking) or text_of(part.text), at=at)
            elif kind == "toolResponse":
                self._result(part, at)
            else:
                self._aside(part, at)

    def _aside(self, part: _Part, at: int | None) -> None:
        """What is neither said nor done."""
        kind = str(part.type)
        is_notice = kind == "systemNotification"
        is_broke = is_notice and part.notification == "creditsExhausted"
        if kind == "contextLengthExceeded" or is_broke:
            self.dialogue.say("error", text_of(part.msg), at=at)
        elif kind == "conversationCompacted":
            self.dialogue.say("compaction", text_of(part.msg), at=at)
        elif not is_notice and kind not in _PASSED_OVER and kind not in ("text", "image"):
            self.problems.unknown("content of type", kind)

    # Tools

    def _call(self, part: _Part, at: int | None) -> None:
        asked = fields_of(part.tool_call)
        value = fields_of(asked.get("value"))
        name = text_of(value.get("name"))
        if name is None:
            # The model asked for something that is no call.
            error = text_of(asked.get("error")) or ""
            self.dialogue.call(
                text_of(part.id), "invalid", at=at, kind="other", output=error, ok=False
            )
            return
        given = value.get("arguments")
        target = text_of(fields_of(given).get("instructions"))
        self.dialogue.call(
            text_of(part.id), name, given, at=at, kind=_kind(name, given), target=target
        )

    def _result(self, part: _Part, at: int | None) -> None:
        call = text_of(part.id)
        if call is None:
            self.problems.bad("a tool response without an id")
            return
        result = fields_of(part.tool_result)
        error = text_of(result.get("error"))
        if error is not None or result.get("status") == "error":
            self.dialogue.result(call, error, at=at, ok=False)
            return
        value = result.get("value")
        # To 2025 the value was the content itself.
        told = fields_of(value)
        content = told.get("content") if told else value
        exit_code = whole_of(fields_of(told.get("structuredContent")).get("exit_code"))
        failed = told.get("isError") is True or exit_code not in (None, 0)
        self.dialogue.result(call, _output(content), at=at, ok=not failed, exit_code=exit_code)


def _parts(content: str | bytes) -> list[_Part]:
    try:
        return _PARTS.decode(content)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        return parse_json(data, list[_Part])


def _visibility(metadata: object) -> _Visibility:
    if isinstance(metadata, (str, bytes)) and metadata:
        return _decoded_visibility(metadata)
    return _EVERYBODY


# Nearly every message says one of three things.
@lru_cache(64)
def _decoded_visibility(metadata: str | bytes) -> _Visibility:
    try:
        return _VISIBILITY.decode(metadata)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _EVERYBODY


def _said(parts: list[_Part]) -> str:
    """The words of a message, with a mark for each picture."""
    texts = []
    for part in parts:
        if part.type == "image":
            texts.append(picture({}))
        elif part.type == "text" and (text := text_of(part.text)):
            texts.append(text)
    return "\n".join(texts)


def _output(content: object) -> str:
    """What a tool gave back to the model; some tools say it again for the person."""
    items = objects_of(content)
    meant = [item for item in items if _is_for_the_agent(item)]
    return content_text(meant or items) if items else content_text(content)


def _is_for_the_agent(item: Fields) -> bool:
    annotated = fields_of(item.get("annotations")).get("audience")
    audience = list_of(annotated) or list_of(item.get("audience"))
    return not audience or "assistant" in audience


def _kind(name: str, given: object) -> ToolKind | None:
    extension, _, tool = name.rpartition("__")
    plain = tool if extension in _BUILT_IN else name
    if plain == "text_editor":
        return "read" if fields_of(given).get("command") == "view" else "edit"
    return kind_of(plain)
