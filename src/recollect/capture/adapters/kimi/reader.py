"""The messages that a model got: Kimi CLI keeps them in `context.jsonl`, Kimi
Code in what it took over from there.

They tell no times. What the program says in the user's name, in tags of its
own, is not part of what a person said.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.logs.dialogue import Dialogue, DialogueState
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import DialogueReader
from recollect.capture.logs.tags import without
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    json_of,
    objects_of,
    text_of,
)

_status = re.compile(r"\A<system>(.*?)</system>\n?", re.DOTALL)
_exit_code = re.compile(r"Command failed with exit code: (\d{1,9})")
_COMPACTED = "<system>Previous context has been compacted."
# Prompts without a time are told apart by how often each was said; a
# checkpoint may not grow beyond that.
_MOST_REPEATS = 200
_CONTROL = frozenset({"_system_prompt", "_usage", "_checkpoint", "system"})


class KimiMessage(Struct):
    """A line of `context.jsonl`."""

    role: Any = None
    content: Any = None
    tool_calls: Any = None
    tool_call_id: Any = None


MESSAGES: msgspec.json.Decoder[KimiMessage] = msgspec.json.Decoder(KimiMessage)


def typed_in(content: object) -> str:
    """What a person said in a message."""
    return without(content_text(content), "system-reminder", "git-context")


def key_of(said: str, at: object) -> str:
    """The key of a turn, made of words and time, which a fork's copy has too."""
    return hashlib.sha256(f"{at}\n{said}".encode("utf-8", "replace")).hexdigest()[:16]


def exit_code_in(output: str) -> int | None:
    """The exit code that the output of a failed command ends with, or begins with.

    Files may say the same.
    """
    found = _exit_code.search(output[-200:]) or _exit_code.search(output[:200])
    return int(found[1]) if found else None


class KimiMessageReader:
    """Makes items of the messages that a model was sent."""

    def __init__(
        self, dialogue: Dialogue, repeats: dict[str, int], problems: ProblemCounter
    ) -> None:
        self.dialogue, self.repeats, self.problems = dialogue, repeats, problems
        self.begun: list[str] = []

    def take(
        self,
        role: object,
        content: object,
        calls: object,
        answered: object,
        *,
        at: int | None = None,
    ) -> None:
        """One more message."""
        match role:
            case "user":
                self._take_user(content)
            case "assistant":
                self._take_answer(content, calls, at)
            case "tool":
                self._take_result(text_of(answered), content, at)
            case _ if not isinstance(role, str) or role not in _CONTROL:
                self.problems.unknown("role", role)

    def _take_user(self, content: object) -> None:
        said = without(typed_in(content), "system")
        if content_text(content).startswith(_COMPACTED):
            self.dialogue.say("compaction", said)
        elif said:
            key = self._key(said)
            self.begun.append(key)
            self.dialogue.prompt(key, said)

    def _key(self, said: str) -> str:
        # Without a time the words alone would be those of other sessions too.
        key = key_of(said, self.dialogue.session)
        times = self.repeats.pop(key, 0) + 1
        self.repeats[key] = times
        if len(self.repeats) > _MOST_REPEATS:
            del self.repeats[next(iter(self.repeats))]
        return key if times == 1 else f"{key}.{times}"

    def _take_answer(self, content: object, calls: object, at: int | None) -> None:
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in objects_of(content):
            if part.get("type") == "think":
                self.dialogue.say("reasoning", text_of(part.get("think")), at=at)
            else:
                self.dialogue.say("reply", content_text(part), at=at)
        for call in objects_of(calls):
            # In `function`, unless a later version wrote it.
            told: Fields = fields_of(call.get("function")) or call
            name = text_of(told.get("name")) or "tool"
            self.dialogue.call(text_of(call.get("id")), name, json_of(told.get("arguments")), at=at)

    def _take_result(self, call: str | None, content: object, at: int | None) -> None:
        if call is None:
            self.problems.bad("a tool result that names no call")
            return
        output = content_text(content)
        status = _status.match(output)
        failed = status is not None and status[1].startswith("ERROR")
        # Where the status is all there is, it is what the tool gave back.
        told = output[status.end() :] or status[1] if status else output
        code = exit_code_in(output) if failed else None
        self.dialogue.result(
            call, told, at=at, ok=None if status is None else not failed, exit_code=code
        )


class KimiContextState(Struct):
    """Where the reading of a context stands."""

    dialogue: DialogueState = field(default_factory=DialogueState, name="standing")
    repeats: dict[str, int] = field(default_factory=dict)


class KimiContextReader(DialogueReader):
    """Reads the context of a session that left nothing better."""

    def __init__(
        self, path: str, session: str, facts: Fields, state: KimiContextState | None
    ) -> None:
        state = state or KimiContextState()
        super().__init__(path, Dialogue(session, state.dialogue), state)
        self._messages = KimiMessageReader(self.dialogue, state.repeats, self.problems)
        self.dialogue.facts(**facts)

    def take(self, record: KimiMessage) -> None:
        """One more message."""
        self._messages.take(record.role, record.content, record.tool_calls, record.tool_call_id)
