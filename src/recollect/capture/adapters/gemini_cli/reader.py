"""One chat of Gemini CLI on its way from records to items.

A log of changes is replayed: what a person saw in the end, and what was undone
on the way. A message that comes again replaces the one with its id, and stays in
its place. `$rewindTo` takes a message and all after it away. `$set` changes what
is known of the session; with `messages` in it, the whole list is exchanged.

The list is exchanged for several reasons. A request was stopped: then its end
is missing. The conversation was summarised, or long outputs were cut to save
room: then old messages are missing, or stand there again under new ids. A
person still sees them, so they stay as they were, and copies are passed over.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.gemini_cli.prompts import is_snapshot, typed
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import read_text
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.genai import (
    ChatMessage,
    answers_in,
    messages_in,
    parts_in,
    tell_answer,
    tell_notice,
)
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import fields_of, list_of, moment_of, objects_of, text_of
from recollect.model.logs import Author, Item, SessionFacts, Source

CHATS = "chats"

_ANSWERS = ("gemini", "model")
_NOTICES = ("info", "warning", "error")
_DESCRIPTION = ("sessionId", "projectHash", "startTime", "summary", "directories", "kind")
_PATH_BYTES = 1 << 16
# Paths that are tried, when a project is known by the hash of its folder alone.
_MOST_TRIED = 2_000


class GeminiRecord(ChatMessage):
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


class _ChatFacts(Struct):
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


class GeminiReader:
    """Makes items of one file, a log of changes or a document."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.known = _ChatFacts()
        self.log = _MessageLog()
        self.problems = ProblemCounter(source.path)

    def take(self, record: GeminiRecord) -> None:
        """One line, or the document."""
        change = fields_of(record.set)
        if text_of(record.rewind_to):
            self.log.rewind(record.rewind_to)
        elif text_of(record.id):
            self.log.take(record)
        elif change:
            self.known.learn(change)
            if isinstance(change.get("messages"), list):
                self.log.exchange(messages_in(change["messages"], self.known.sessionId))
        elif text_of(record.sessionId):
            self.known.learn({name: getattr(record, name) for name in _DESCRIPTION})
            self.log.restart()
            for message in messages_in(record.messages, record.sessionId):
                self.log.take(message)
        else:
            self.problems.unknown("record", text_of(record.type) or "without id, session or change")

    def items(self) -> list[Item]:
        """Everything the file tells, turn by turn."""
        own = text_of(self.known.sessionId)
        if own is None:
            if self.log.messages:
                self.problems.bad("a chat that does not name its session")
            return [*self.problems.drain()]
        parent = parent_of(self.source.path)
        self.dialogue = Dialogue(f"{parent}/{own}" if parent else own)
        self.is_sub_agent = parent is not None or self.known.kind == "subagent"
        self._tell_session(parent)
        for message in self.log.messages.values():
            if message.id not in self.log.copies:
                self._tell(message)
            elif message.type == "user":
                # It was taken for news as long as the file did not say otherwise.
                self.dialogue.undo(message.id)
        items = self.dialogue.drain()
        if all(isinstance(item, SessionFacts) for item in items):
            # Every start leaves a file, and a session that is continued goes on in its old one.
            items = []
        return [*items, *self.problems.drain()]

    def _tell_session(self, parent: str | None) -> None:
        told = self.known
        directories = [folder for folder in list_of(told.directories) if text_of(folder)]
        self.dialogue.facts(
            parent=parent,
            origin="subagent" if self.is_sub_agent else None,
            cwd=self._folder(directories),
            title=text_of(told.summary),
            started_at=moment_of(told.startTime),
            meta={"directories": directories} if directories else None,
        )

    def _tell(self, message: ChatMessage) -> None:
        if message.type == "user":
            self._tell_prompt(message)
        elif message.type in _ANSWERS:
            tell_answer(self.dialogue, message)
        elif message.type in _NOTICES:
            tell_notice(self.dialogue, message)
        else:
            self.problems.unknown("message", message.type)

    def _tell_prompt(self, message: ChatMessage) -> None:
        at, text = moment_of(message.timestamp), typed(message)
        for answer in answers_in(parts_in(message)):
            # Said with the call as well; it is news where only the parts of a call are left.
            if answer.ident in self.dialogue.state.waiting:
                self.dialogue.result(answer.ident, answer.output, at=at, ok=answer.ok)
        if is_snapshot(text):
            self.dialogue.say("compaction", text, at=at)
        elif text:
            author: Author = "agent" if self.is_sub_agent else "human"
            self.dialogue.prompt(message.id, text, at=at, author=author)
            if message.id in self.log.undone:
                self.dialogue.undo(message.id)

    def _folder(self, directories: list[str]) -> str | None:
        """Where the session took place: noted beside the chats, told in them, or by its hash."""
        for companion in self.source.companions:
            try:
                noted = read_text(companion, _PATH_BYTES).strip()
            except UnreadableSource:
                continue
            if noted:
                return noted
        hashed = _hashed(text_of(self.known.projectHash), self._paths(directories))
        return hashed or next(iter(directories), None)

    def _paths(self, directories: list[str]) -> Iterator[str]:
        yield from directories
        for message in self.log.messages.values():
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


# The messages, replayed --------------------------------------------------------


class _MessageLog:
    """The messages of one file, in the order of their first appearance."""

    def __init__(self) -> None:
        self.messages: dict[str, ChatMessage] = {}
        self.undone: set[str] = set()
        # Messages under new ids, each with the id of what it repeats, where that is known.
        self.copies: dict[str, str | None] = {}
        # The list as the agent has it now, in its order.
        self._list: dict[str, None] = {}

    def take(self, message: ChatMessage) -> None:
        """One more message, or a later version of one."""
        self.messages[message.id] = message
        self.undone.discard(message.id)
        self._list[message.id] = None

    def restart(self) -> None:
        """The agent was started anew and begins with an empty list; nothing is undone by that."""
        self._list = {}

    def rewind(self, ident: str) -> None:
        """Undo a message and all after it.

        All there are when it is not known, as the agent does.
        """
        last = None
        while self._list and last != ident:
            last, _ = self._list.popitem()
            self.undone.add(self.copies.get(last) or last)

    def exchange(self, messages: list[ChatMessage]) -> None:
        """Take the list that the model is given from here on."""
        given = {message.id for message in messages}
        dropped = [ident for ident in self._list if ident not in given]
        for message in messages:
            # What is known already is fuller: long outputs are cut here.
            self.messages.setdefault(message.id, message)
        kept = given
        # The model's own messages name it; those that were written down again do not.
        if dropped and not any(message.model for message in messages):
            kept = (given | self._pass_over(messages, dropped)) - self.copies.keys()
        self._undo_after(kept)
        self._list = dict.fromkeys(message.id for message in messages)

    def _pass_over(self, messages: list[ChatMessage], dropped: list[str]) -> set[str]:
        """Find out which messages are copies; returns what they are copies of."""
        originals: dict[str, list[str]] = {}
        for ident in dropped:
            old = self.messages[ident]
            if old.type == "user" and (text := typed(old)):
                # A copy of a copy goes back to the first.
                originals.setdefault(text, []).append(self.copies.get(ident) or ident)
        for message in messages:
            repeated = originals.get(typed(message)) if message.type == "user" else None
            if repeated:
                self.copies[message.id] = repeated.pop(0)
            elif message.type != "user":
                self.copies[message.id] = None
        return {original for message in messages if (original := self.copies.get(message.id))}

    def _undo_after(self, kept: set[str]) -> None:
        """What was dropped from the end is undone; what was dropped before that only makes room."""
        after: list[str] = []
        for ident in reversed(self._list):
            if (self.copies.get(ident) or ident) in kept:
                self.undone.update(after)
                return
            after.append(self.copies.get(ident) or ident)
