"""Transcripts that the agent leaves for other programs: lines of JSON, and text before that.

They tell the least of the three places: no results, no tokens, no ids, and the
time only inside the prompts of newer versions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import msgspec

from recollect.capture.adapters.cursor.prompts import CursorPromptKeys
from recollect.capture.adapters.cursor.reader import CursorReader
from recollect.capture.adapters.cursor.session import CursorChatOwner, is_slug_of
from recollect.capture.adapters.cursor.tools import CursorResult
from recollect.capture.logs.dialogue import Dialogue, DialogueState
from recollect.capture.logs.documents import read_bytes
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import read_appended, resume
from recollect.capture.logs.values import fields_of, first_text, json_of, text_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

FOLDER = "agent-transcripts"
SUBAGENTS = "subagents"
_ROLE = re.compile(r"^(user|assistant):[ \t]*$", re.MULTILINE)
_MARK = re.compile(r"^\[(Thinking|Tool call|Tool result)\][ \t]*(.*)$")
_ARGUMENT = re.compile(r"^\s*([A-Za-z_][\w-]*)\s*[=:]\s*(.*)$")


class _Line(msgspec.Struct):
    """One line: a message, or how a turn ended."""

    role: Any = None
    message: Any = None
    type: Any = None
    status: Any = None
    error: Any = None


LINES = msgspec.json.Decoder(_Line)


class _TranscriptState(msgspec.Struct):
    """What must be remembered of a transcript to go on with it."""

    standing: DialogueState
    prompts: dict[str, int]
    calls: int = 0
    folder: str | None = None


def owner_of_transcript(path: str) -> CursorChatOwner:
    """The session of a transcript: its name, below that of the chat it works for."""
    name = os.path.splitext(name_in_text(path))[0]
    folder = os.path.dirname(path)
    if os.path.basename(folder) != SUBAGENTS:
        return CursorChatOwner(name)
    parent = name_in_text(os.path.dirname(folder))
    return CursorChatOwner(f"{parent}/{name}", parent)


def slug_of(path: str) -> str:
    """The name that the project's folder has among the transcripts.

    Empty when the file is elsewhere.
    """
    before, found, _ = path.replace("\\", "/").partition(f"/{FOLDER}/")
    return before.rpartition("/")[2] if found else ""


def read_lines(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    """What was added to a transcript of lines."""
    position, state = resume(since, _TranscriptState)
    yield from read_appended(source, position, LINES, _LinesReader(source.path, state))


class _LinesReader:
    """Makes items of a transcript's lines."""

    def __init__(self, path: str, state: _TranscriptState | None) -> None:
        self.path, self.problems = path, ProblemCounter(path)
        state = state or _TranscriptState(DialogueState(), {})
        self.reader, self.begun = _reader(path, state, self.problems), bool(state.standing.turn)

    def take(self, line: _Line) -> None:
        """One more line."""
        dialogue = self.reader.dialogue
        if not self.begun:
            self.begun = True
            _introduce(dialogue, owner_of_transcript(self.path))
        if line.role is not None:
            self.reader.message({**fields_of(line.message), "role": line.role})
        elif line.type == "turn_ended":
            self._ended(line)
        elif line.type == "error" or line.error:
            reason = first_text(line.error, fields_of(line.error).get("message"))
            dialogue.say("error", reason)
        else:
            self.problems.unknown("a line of the type", line.type)

    def _ended(self, line: _Line) -> None:
        reason = text_of(line.error)
        if reason and "abort" in reason.lower():
            self.reader.dialogue.say("abort", reason)
        elif line.status != "success":
            self.reader.dialogue.say("error", reason)
        if status := text_of(line.status):
            self.reader.dialogue.learn(telemetry={"status": status})

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        return self.reader.dialogue.drain()

    def save(self) -> bytes:
        """What must be remembered to go on."""
        reader = self.reader
        return msgspec.msgpack.encode(
            _TranscriptState(reader.dialogue.state, reader.keys.met, reader.calls, reader.folder)
        )


def _reader(path: str, state: _TranscriptState, problems: ProblemCounter) -> CursorReader:
    owner_of = owner_of_transcript(path)
    return CursorReader(
        Dialogue(owner_of.session, state.standing, own_keys=True),
        CursorPromptKeys(state.prompts),
        problems,
        author=owner_of.author,
        is_folder=is_slug_of(slug_of(path)),
        calls=state.calls,
        folder=state.folder,
    )


def _introduce(dialogue: Dialogue, owner_of: CursorChatOwner) -> None:
    dialogue.facts(parent=owner_of.parent, origin="subagent" if owner_of.parent else None)


# The text of before ----------------------------------------------------------------


def read_text(source: Source) -> Iterator[Item]:
    """A transcript of plain text, whole."""
    try:
        data = read_bytes(source.path)
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield Checkpoint(0)
        return
    if b"\0" in data:
        yield Problem(path=source.path, kind="bad_record", reason="not a text")
        yield Checkpoint(len(data))
        return
    problems = ProblemCounter(source.path)
    reader = _reader(source.path, _TranscriptState(DialogueState(), {}), problems)
    parts = _ROLE.split(data.decode("utf-8", "replace"))
    if len(parts) > 1:
        _introduce(reader.dialogue, owner_of_transcript(source.path))
    for role, text in zip(parts[1::2], parts[2::2], strict=True):
        if role == "user":
            reader.message({"role": "user", "content": text})
        else:
            _answer(reader, text)
    yield from reader.dialogue.drain()
    yield from problems.drain()
    yield Checkpoint(len(data))


def _answer(reader: CursorReader, text: str) -> None:
    """An assistant's block: prose, and marked parts with what is theirs indented below."""
    mark, name, body = "", "", list[str]()
    for line in text.split("\n"):
        found = _MARK.match(line)
        if found or (mark and line[:1].strip()):
            _marked(reader, mark, name.strip(), "\n".join(body))
            mark, name = found.groups() if found else ("", "")
            body = [] if found else [line]
        else:
            body.append(line)
    _marked(reader, mark, name.strip(), "\n".join(body))


def _marked(reader: CursorReader, mark: str, name: str, body: str) -> None:
    if mark == "Thinking":
        thought = f"{name}\n{dedent(body)}".strip()
        part = {"type": "thinking", "thinking": thought}
        reader.message({"role": "assistant", "content": [part]})
    elif mark == "Tool call":
        part = {"type": "tool_use", "name": name, "input": _arguments(body)}
        reader.message({"role": "assistant", "content": [part]})
    elif mark == "Tool result":
        if body.strip():
            reader.give(None, CursorResult(dedent(body).strip("\n"), None, None))
    else:
        reader.message({"role": "assistant", "content": body.strip()})


def _arguments(body: str) -> Any:
    """What a call was given: JSON, a patch, or lines of `name=value`."""
    text = dedent(body).strip()
    value = json_of(text)
    if not isinstance(value, str):
        return value
    if text.startswith(("*** Begin Patch", "@@")):
        return {"patch": text}
    found = [_ARGUMENT.match(line) for line in text.split("\n")]
    if all(found):
        return {pair[1]: pair[2] for pair in found if pair}
    return text or None
