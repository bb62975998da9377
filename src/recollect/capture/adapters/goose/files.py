"""Goose's files of the time before its database: JSON lines.

The first line is about the session, each other one is a message.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.capture.adapters.goose.reader import GooseReader
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import moment_of, text_of
from recollect.model.logs import Item


class _Line(msgspec.Struct):
    """A line: the first is about the session, each other one is a message."""

    working_dir: Any = None
    description: Any = None
    created_at: Any = None
    schedule_id: Any = None
    input_tokens: Any = None
    output_tokens: Any = None
    accumulated_input_tokens: Any = None
    accumulated_output_tokens: Any = None
    role: Any = None
    created: Any = None
    content: msgspec.Raw = msgspec.Raw(b"")
    metadata: msgspec.Raw = msgspec.Raw(b"")


LINES = msgspec.json.Decoder(_Line)


class GooseFileReader:
    """Makes items of a session's file, line by line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems = ProblemCounter(path)
        self.reader = GooseReader(name_in_text(path).removesuffix(".jsonl"), "human", self.problems)
        self.about: _Line | None = None

    def take(self, line: _Line) -> None:
        """One more line."""
        if line.role is not None:
            self.reader.take(line.role, bytes(line.content), line.created, bytes(line.metadata))
        elif self.about is None:
            self.about = line
            self.reader.dialogue.facts(
                origin="headless" if line.schedule_id else "interactive",
                cwd=text_of(line.working_dir),
                title=text_of(line.description),
                started_at=moment_of(line.created_at),
            )
        else:
            self.problems.unknown("line", "that is no message")

    def items(self) -> list[Item]:
        """Everything that the file tells, and what is odd in it."""
        if self.about is not None:
            self.reader.count(msgspec.structs.asdict(self.about), None)
        return [*self.reader.dialogue.drain(), *self.problems.drain()]


def is_session_file(head: bytes) -> bool:
    """Whether a file begins with a line about a session and one that is a message of goose's."""
    first, _, rest = head.partition(b"\n")
    try:
        about, message = LINES.decode(first), LINES.decode(rest.partition(b"\n")[0])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    known = b'"working_dir"' in first or b'"message_count"' in first
    return (
        known
        and about.role is None
        and isinstance(about.description, str)
        and message.role in ("user", "assistant")
        and isinstance(message.created, int)
        and bytes(message.content).startswith(b"[")
    )
