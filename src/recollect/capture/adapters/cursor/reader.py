"""Messages of the role user, assistant and tool, as both the chats of the
command line and the transcripts have them.

The two differ in what they leave out: transcripts have no results and no ids,
chats have both. The parts of a message are named in more than one way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recollect.capture.adapters.cursor.prompts import CursorPromptKeys, said, typed
from recollect.capture.adapters.cursor.session import folder_in
from recollect.capture.adapters.cursor.tools import CursorResult, result_in, sort_of
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    fields_of,
    first_text,
    json_of,
    list_of,
    objects_of,
    text_of,
)
from recollect.model.logs import Author

_TEXT = ("text", "output_text", "input_text")
_THOUGHTS = ("thinking", "reasoning")
_CALLS = ("tool_use", "tool-call", "tool_call")
_RESULTS = ("tool_result", "tool-result")
# Nothing that could be shown: a reasoning that only its model can read, and pictures.
_MUTE = ("redacted", "redacted-reasoning", "redacted_thinking", "image", "file", "image_url")


class CursorReader:
    """Makes items of one chat's messages."""

    def __init__(
        self,
        dialogue: Dialogue,
        keys: CursorPromptKeys,
        problems: ProblemCounter,
        *,
        author: Author,
        is_folder: Callable[[str], bool],
        calls: int = 0,
        folder: str | None = None,
    ) -> None:
        self.dialogue, self.keys, self.problems, self.author = dialogue, keys, problems, author
        self.is_folder, self.folder = is_folder, folder
        # Counted to name the calls that have no id.
        self.calls = calls

    def message(self, message: Fields) -> None:
        """One message, of whatever role."""
        role, content = message.get("role"), message.get("content")
        if role == "user":
            self._asked(content, message)
        elif role == "assistant":
            self._answered(content, message)
        elif role == "tool":
            self._returned(content, message)
        elif role != "system":
            self.problems.unknown("a message of the role", role)

    def _asked(self, content: Any, message: Fields) -> None:
        for part in objects_of(content):
            if part.get("type") in _RESULTS:
                self._result(part, message)
        words = typed(content)
        if words.folder:
            self._place(words.folder)
        if words.text:
            self.dialogue.prompt(
                self.keys.key(words.text),
                words.text,
                at=words.at,
                author=self.author,
                cwd=self.folder,
            )

    def _answered(self, content: Any, message: Fields) -> None:
        if isinstance(content, str):
            self.dialogue.say("reply", said(content))
        for part in list_of(content):
            self._part(part if isinstance(part, dict) else {"type": "text", "text": part}, message)
        for call in objects_of(message.get("tool_calls")):
            function = fields_of(call.get("function"))
            self._call(
                text_of(call.get("id")), text_of(function.get("name")), function.get("arguments")
            )

    def _part(self, part: Fields, message: Fields) -> None:
        kind, text = part.get("type"), text_of(part.get("text")) or ""
        if kind in _TEXT:
            self.dialogue.say("reply", said(text))
        elif kind in _THOUGHTS:
            self.dialogue.say("reasoning", text_of(part.get("thinking")) or text)
        elif kind in _CALLS:
            given = next(
                (part[name] for name in ("args", "input", "arguments") if name in part), None
            )
            name = text_of(part.get("toolName")) or text_of(part.get("name"))
            self._call(text_of(part.get("toolCallId")) or text_of(part.get("id")), name, given)
        elif kind in _RESULTS:
            self._result(part, message)
        elif kind not in _MUTE:
            self.problems.unknown("a part of the type", kind)
            self.dialogue.say("reply", said(text))

    def _call(self, call: str | None, name: str | None, given: Any) -> None:
        arguments = json_of(given)
        if self.folder is None:
            self._place(folder_in(arguments, self.is_folder))
        self.calls += 1
        name = name or "tool"
        self.dialogue.call(call or f"call-{self.calls}", name, arguments, kind=sort_of(name))

    def _returned(self, content: Any, message: Fields) -> None:
        parts = [part for part in objects_of(content) if part.get("type") in _RESULTS]
        if not parts and text_of(message.get("tool_call_id")):
            parts = [{"toolCallId": message["tool_call_id"], "result": content}]
        for part in parts:
            self._result(part, message)

    def _result(self, part: Fields, message: Fields) -> None:
        names = (part.get("toolCallId"), part.get("tool_call_id"), part.get("tool_use_id"))
        self.give(first_text(*names), result_in(part, message))

    def give(self, call: str | None, given: CursorResult) -> None:
        """What a call gave back.

        Where no id leads to it, it answers the first call of the turn that waits.
        """
        waiting = self.dialogue.state.waiting
        if call not in waiting:
            turn = self.dialogue.state.turn
            call = next((one for one, asked_in in waiting.items() if asked_in == turn), None)
        if call is None:
            self.problems.bad("a result of a call that is not there")
            return
        self.dialogue.result(call, given.output, ok=given.ok, exit_code=given.exit_code)

    def _place(self, folder: str | None) -> None:
        """Where the chat works, as soon as something tells."""
        if folder and self.folder is None:
            self.folder = folder
            self.dialogue.facts(cwd=folder)
            if turn := self.dialogue.state.turn:
                self.dialogue.learn(cwd=folder, turn=turn)
