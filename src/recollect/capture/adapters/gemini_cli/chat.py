"""One chat of Gemini CLI on its way from records to items."""

from __future__ import annotations

import ntpath
import os
import posixpath
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.gemini_cli.prompts import is_snapshot, typed
from recollect.capture.adapters.gemini_cli.replay import Replay
from recollect.capture.logs.chats import Message, messages_in, parts_in, tell_answer, tell_notice
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import written
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.genai import answers_in
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import fields_of, list_of, moment_of, objects_of, text_of
from recollect.model.logs import Item, SessionFacts, Source

CHATS = "chats"

_ANSWERS = ("gemini", "model")
_NOTICES = ("info", "warning", "error")
_DESCRIPTION = ("sessionId", "projectHash", "startTime", "summary", "directories", "kind")
_PATH_BYTES = 1 << 16
# Paths that are tried, when a project is known by the hash of its folder alone.
_MOST_TRIED = 2_000


class Record(Message):
    """A line of the log: the header, a message, or a change.

    A document is a header with messages.
    """

    sessionId: Any = None
    projectHash: Any = None
    startTime: Any = None
    lastUpdated: Any = None
    summary: Any = None
    directories: Any = None
    kind: Any = None
    messages: Any = None
    set: Any = field(default=None, name="$set")
    rewind_to: Any = field(default=None, name="$rewindTo")


class Described(Struct):
    """What a file says about its session; later words count, except for when it began."""

    sessionId: Any = None
    projectHash: Any = None
    startTime: Any = None
    summary: Any = None
    directories: Any = None
    kind: Any = None

    def learn(self, told: Mapping[str, Any]) -> None:
        """Take what is said anew."""
        for name in _DESCRIPTION:
            if told.get(name) is not None and (name != "startTime" or self.startTime is None):
                setattr(self, name, told[name])


class Chat:
    """One file on its way from records to items."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.described = Described()
        self.replay = Replay()
        self.odd = Oddities()

    def take(self, record: Record) -> None:
        """One line, or the document."""
        change = fields_of(record.set)
        if text_of(record.rewind_to):
            self.replay.rewind(record.rewind_to)
        elif text_of(record.id):
            self.replay.take(record)
        elif change:
            self.described.learn(change)
            if isinstance(change.get("messages"), list):
                self.replay.exchange(messages_in(change["messages"], self.described.sessionId))
        elif text_of(record.sessionId):
            self.described.learn({name: getattr(record, name) for name in _DESCRIPTION})
            self.replay.restart()
            for message in messages_in(record.messages, record.sessionId):
                self.replay.take(message)
        else:
            self.odd.unknown("record", text_of(record.type) or "without id, session or change")

    def items(self) -> list[Item]:
        """Everything the file tells, turn by turn."""
        own = text_of(self.described.sessionId)
        if own is None:
            if self.replay.messages:
                self.odd.bad("a chat that does not name its session")
            return [*self.odd.problems(self.source.path)]
        parent = parent_of(self.source.path)
        self.dialogue = Dialogue(f"{parent}/{own}" if parent else own)
        self.is_sub_agent = parent is not None or self.described.kind == "subagent"
        self._tell_session(parent)
        for message in self.replay.messages.values():
            if message.id not in self.replay.copies:
                self._tell(message)
            elif message.type == "user":
                # It was taken for news as long as the file did not say otherwise.
                self.dialogue.undo(message.id)
        items = self.dialogue.drain()
        if all(isinstance(item, SessionFacts) for item in items):
            # Every start leaves a file, and a session that is continued goes on in its old one.
            items = []
        return [*items, *self.odd.problems(self.source.path)]

    def _tell_session(self, parent: str | None) -> None:
        told = self.described
        directories = [folder for folder in list_of(told.directories) if text_of(folder)]
        self.dialogue.facts(
            parent=parent,
            origin="subagent" if self.is_sub_agent else None,
            cwd=self._folder(directories),
            title=text_of(told.summary),
            started_at=moment_of(told.startTime),
            meta={"directories": directories} if directories else None,
        )

    def _tell(self, message: Message) -> None:
        if message.type == "user":
            self._tell_prompt(message)
        elif message.type in _ANSWERS:
            tell_answer(self.dialogue, message)
        elif message.type in _NOTICES:
            tell_notice(self.dialogue, message)
        else:
            self.odd.unknown("message", message.type)

    def _tell_prompt(self, message: Message) -> None:
        at, text = moment_of(message.timestamp), typed(message)
        for answer in answers_in(parts_in(message)):
            # Said with the call as well; it is news where only the parts of a call are left.
            if answer.ident in self.dialogue.standing.waiting:
                self.dialogue.result(answer.ident, answer.output, at=at, ok=answer.ok)
        if is_snapshot(text):
            self.dialogue.say("compaction", text, at=at)
        elif text:
            self.dialogue.prompt(
                message.id, text, at=at, author="agent" if self.is_sub_agent else "human"
            )
            if message.id in self.replay.undone:
                self.dialogue.undo(message.id)

    def _folder(self, directories: list[str]) -> str | None:
        """Where the session took place: noted beside the chats, told in
        them, or found out by its hash.
        """
        for companion in self.source.companions:
            try:
                noted = written(companion, _PATH_BYTES).strip()
            except Unreadable:
                continue
            if noted:
                return noted
        return _hashed(text_of(self.described.projectHash), self._paths(directories)) or next(
            iter(directories), None
        )

    def _paths(self, directories: list[str]) -> Iterator[str]:
        yield from directories
        for message in self.replay.messages.values():
            for call in objects_of(message.toolCalls):
                for value in fields_of(call.get("args")).values():
                    if isinstance(value, str) and (posixpath.isabs(value) or ntpath.isabs(value)):
                        yield value


def parent_of(path: str) -> str | None:
    """The session that a file's sub-agent worked for, which is the name of the folder it is in."""
    folder = os.path.dirname(path)
    return name_in_text(folder) if os.path.basename(os.path.dirname(folder)) == CHATS else None


def _hashed(digest: str | None, paths: Iterator[str]) -> str | None:
    """The folder, at or above some of these paths, that has this hash."""
    tried: set[str] = set()
    for path in paths if digest else ():
        while path not in tried and len(tried) < _MOST_TRIED:
            tried.add(path)
            if sha256(path.encode("utf-8", "replace")).hexdigest() == digest:
                return path
            # A home may be a copy from another system.
            path = (posixpath if path.startswith("/") else ntpath).dirname(path)
    return None
