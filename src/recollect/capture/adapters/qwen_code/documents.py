"""Chats of Qwen Code from 2025: documents, in the shape of the agent it was forked from."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.genai import (
    ChatMessage,
    messages_in,
    parts_in,
    said_in,
    tell_answer,
    tell_notice,
)
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import moment_of, text_of
from recollect.model.logs import Item, Source

_ANSWERS = ("qwen", "gemini")
_NOTICES = ("info", "warning", "error")


class QwenDocument(Struct):
    """A chat as one document."""

    sessionId: Any = None
    startTime: Any = None
    summary: Any = None
    messages: Any = None


class QwenDocumentReader:
    """Makes items of a chat's document."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.file = QwenDocument()
        self.problems = ProblemCounter(source.path)

    def take(self, file: QwenDocument) -> None:
        """All there is."""
        self.file = file

    def items(self) -> list[Item]:
        """Everything the document tells."""
        session = text_of(self.file.sessionId)
        if session is None:
            return []
        dialogue = Dialogue(session)
        dialogue.facts(title=text_of(self.file.summary), started_at=moment_of(self.file.startTime))
        for message in messages_in(self.file.messages, session):
            self._tell(dialogue, message)
        return [*dialogue.drain(), *self.problems.drain()]

    def _tell(self, dialogue: Dialogue, message: ChatMessage) -> None:
        if message.type == "user":
            if text := said_in(parts_in(message), "\n").strip():
                dialogue.prompt(message.id, text, at=moment_of(message.timestamp))
        elif message.type in _ANSWERS:
            tell_answer(dialogue, message)
        elif message.type in _NOTICES:
            tell_notice(dialogue, message)
        else:
            self.problems.unknown("message", message.type)
