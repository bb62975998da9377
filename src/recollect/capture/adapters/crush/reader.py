"""What was said and done in a Crush session, from the rows of its database."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from recollect.capture.logs.databases import SessionTable
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    json_of,
    moment_of,
    money_of,
    non_empty,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Item, SessionFacts

# The name of a data folder in a project, and of the database in it.
DATABASES = {".crush": "crush.db", ".opencode": "opencode.db"}
# What Crush says in the user's name, after a summary, to go on with what it was doing.
_GOES_ON = re.compile(
    r"The previous session was interrupted because it got too long, the initial user request was: `"
)
_EXIT = re.compile(r"(?:^|\n)Exit code (\d+)\s*(?:\n\n<cwd>[^\n]*</cwd>)?\s*$")


_SESSION_COLUMNS = (
    "parent_session_id", "title", "created_at", "cost", "prompt_tokens", "completion_tokens",
    "summary_message_id",
)  # fmt: skip
_MESSAGE_COLUMNS = ("id", "role", "model", "provider", "created_at", "is_summary_message")


class _PartData(Struct):
    """The fields of all sorts of parts. Contents of pictures are not among them."""

    text: Any = None
    thinking: Any = None
    id: Any = None
    name: Any = None
    input: Any = None
    tool_call_id: Any = None
    content: Any = None
    metadata: Any = None
    is_error: Any = None
    reason: Any = None
    message: Any = None
    details: Any = None
    time: Any = None
    command: Any = None
    output: Any = None
    exit_code: Any = None
    started_at: Any = None
    Path: Any = None


class _Part(Struct):
    type: Any = None
    data: _PartData | list[Any] | str | int | float | bool | None = None


class _Message(NamedTuple):
    """A message. `is_summary` says that it stands for all before it."""

    id: str
    role: Any
    model: Any
    provider: Any
    created: Any
    is_summary: bool
    parts: list[_Part]


class _Session(NamedTuple):
    """What is known of a session."""

    id: str
    parent: str | None
    # The session that a sub-agent's parent is itself a part of.
    grandparent: str | None
    title: str | None
    created: Any
    cost: float | None
    cwd: str | None
    meta: dict[str, Any]

    @property
    def native(self) -> str:
        """The session's id; a sub-agent's begins with its parent's."""
        return f"{self.parent}/{self.id}" if self.parent else self.id


_SHAPE = list[_Part | str | int | float | bool | None]
_PARTS = msgspec.json.Decoder(_SHAPE)


def _parts_of(data: bytes) -> list[_Part]:
    """A message's parts out of their JSON; `BrokenDocument` when they are none."""
    try:
        found = _PARTS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        found = parse_json(data, _SHAPE)
    return [part for part in found if isinstance(part, _Part)]


class CrushDatabase:
    """Reads one session of Crush's database after the other."""

    tables: Sequence[SessionTable] = (
        SessionTable("sessions", "id", "updated_at"),
        SessionTable("messages", "session_id", "updated_at"),
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems = ProblemCounter(path)
        self.read_bytes = 0
        folder = os.path.dirname(path)
        self.cwd = os.path.dirname(folder) if os.path.basename(folder) in DATABASES else None

    def session(self, file: SqliteFile, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile, or is still empty."""
        columns = file.selected("sessions", *_SESSION_COLUMNS)
        row = file.one(f"select {columns} from sessions where id = ?", (session,))
        if row is None:
            return []
        parent, title, created, cost, prompt, completion, summary = row
        parent = text_of(parent)
        above = None
        if parent:
            above = file.one("select parent_session_id from sessions where id = ?", (parent,))
        last = {
            "last_prompt_tokens": count_of(prompt),
            "last_completion_tokens": count_of(completion),
        }
        info = _Session(
            id=session,
            parent=parent,
            grandparent=text_of(above[0]) if above else None,
            title=text_of(title),
            created=created,
            # What a sub-agent costs is added to its parent's cost when it is done.
            cost=None if parent else money_of(cost),
            cwd=self.cwd,
            meta=non_empty(last),
        )
        return _items_of(info, self._messages(file, session, summary), self.problems)

    def _messages(self, file: SqliteFile, session: str, summary: Any) -> list[_Message]:
        columns = file.selected("messages", *_MESSAGE_COLUMNS)
        # Times are in seconds: within one, the rows are in the order they were written.
        rows = file.all(
            f"""
            select {columns}, cast(parts as blob)
              from messages
             where session_id = ?
             order by created_at, rowid
            """,
            (session,),
        )
        found = []
        for id_, role, model, provider, created, is_summary, data in rows:
            self.read_bytes += len(data or b"")
            try:
                parts = _parts_of(data or b"")
            except BrokenDocument as reason:
                self.problems.bad(f"a message: {reason}")
                continue
            summed_up = bool(is_summary) or id_ == summary
            found.append(_Message(str(id_), role, model, provider, created, summed_up, parts))
        return found


def _items_of(info: _Session, messages: list[_Message], problems: ProblemCounter) -> list[Item]:
    """A session's items; none when nobody has said anything yet."""
    if not messages:
        return []
    reader = _ConversationReader(info, problems)
    for message in messages:
        reader.take(message)
    reader.close()
    return reader.dialogue.items


class _ConversationReader:
    """One session's messages on their way to items."""

    def __init__(self, info: _Session, problems: ProblemCounter) -> None:
        self.info, self.problems = info, problems
        self.dialogue = Dialogue(info.native)
        self.author: Author = "agent" if info.parent else "human"
        self.first_turn = ""
        self.meta = info.meta
        self.stopped: dict[str, str] = {}
        self.facts = SessionFacts(
            session=info.native,
            parent=f"{info.grandparent}/{info.parent}" if info.grandparent else info.parent,
            origin="subagent" if info.parent else "interactive",
            cwd=info.cwd,
            title=info.title,
            started_at=moment_of(info.created),
        )
        self.dialogue.items.append(self.facts)

    def take(self, row: _Message) -> None:
        """One more message, in the order of the conversation."""
        at = moment_of(row.created)
        if row.role == "user":
            self._user(row, at)
        elif row.role in ("assistant", "tool"):
            if text_of(row.model):
                self.meta["model"] = row.model
            if text_of(row.provider):
                self.meta["provider"] = row.provider
            for part in row.parts:
                self._part(part, at, is_summary=row.is_summary)
        elif row.role != "system":
            self.problems.unknown("message of the role", row.role)
        self.first_turn = self.first_turn or self.dialogue.state.turn

    def close(self) -> None:
        """All messages were taken: what is known only now."""
        for turn, reason in self.stopped.items():
            self.dialogue.learn(turn=turn, telemetry={"stop_reason": reason})
        self.facts.meta = self.meta or None
        if self.info.cost is not None and self.first_turn:
            # On the first turn: the last one changes while a session goes on,
            # and what was paid must not move.
            self.dialogue.usage(
                self.info.native,
                model=self.meta.get("model"),
                at=moment_of(self.info.created),
                cost_usd=self.info.cost,
                turn=self.first_turn,
            )

    # Messages and parts

    def _user(self, row: _Message, at: int | None) -> None:
        said = [self._typed(part) for part in row.parts]
        text = "\n".join(words for words in said if words)
        commands = [part.data for part in row.parts if part.type == "shell_command"]
        shell = [data for data in commands if isinstance(data, _PartData)]
        if _GOES_ON.match(text) and self.dialogue.state.turn:
            return
        if not text and shell:
            text = "\n".join(f"!{command}" for data in shell if (command := text_of(data.command)))
        self.dialogue.prompt(row.id, text, at=at, author=self.author)
        for data in shell:
            self._ran(data, at)

    def _typed(self, part: _Part) -> str | None:
        data = part.data if isinstance(part.data, _PartData) else _PartData()
        if part.type == "text":
            return text_of(data.text)
        if part.type in ("image_url", "binary"):
            return f"[{text_of(data.Path) or 'image'}]"
        if part.type not in ("finish", "shell_command"):
            self.problems.unknown("part of the type", part.type)
        return None

    def _part(self, part: _Part, at: int | None, *, is_summary: bool) -> None:
        data = part.data if isinstance(part.data, _PartData) else _PartData()
        if part.type == "text":
            self.dialogue.say("compaction" if is_summary else "reply", text_of(data.text), at=at)
        elif part.type == "reasoning":
            started = moment_of(data.started_at) or at
            self.dialogue.say("reasoning", text_of(data.thinking), at=started)
        elif part.type == "tool_call":
            name = text_of(data.name) or "tool"
            self.dialogue.call(text_of(data.id), name, json_of(data.input), at=at)
        elif part.type == "tool_result":
            self._result(data, at)
        elif part.type == "finish":
            self._finish(data, at)
        elif part.type == "shell_command":
            self._ran(data, at)
        elif part.type not in ("image_url", "binary"):
            self.problems.unknown("part of the type", part.type)

    def _result(self, data: _PartData, at: int | None) -> None:
        call = text_of(data.tool_call_id)
        if call is None:
            self.problems.bad("a result without the id of its call")
            return
        output = text_of(data.content)
        more = fields_of(json_of(data.metadata))
        code = _exit_code(output, more)
        failed = data.is_error is True or bool(code)
        self.dialogue.result(
            call, output, at=at, ok=not failed, exit_code=code, duration_ms=_duration(more)
        )

    def _ran(self, data: _PartData, at: int | None) -> None:
        """A command that a person ran, with what it gave."""
        code = whole_of(data.exit_code)
        ok = None if code is None else code == 0
        command = {"command": text_of(data.command) or ""}
        self.dialogue.call(
            None, "bash", command, at=at, output=text_of(data.output), ok=ok, exit_code=code
        )

    def _finish(self, data: _PartData, at: int | None) -> None:
        reason = text_of(data.reason)
        at = moment_of(data.time) or at
        if reason in ("error", "content_filter"):
            words = "\n".join(filter(None, map(text_of, (data.message, data.details))))
            self.dialogue.say("error", words or reason, at=at)
        elif reason in ("canceled", "permission_denied"):
            self.dialogue.say("abort", text_of(data.message) or reason, at=at)
        if reason and self.dialogue.state.turn:
            self.stopped[self.dialogue.state.turn] = reason


def _exit_code(output: str | None, more: Fields) -> int | None:
    """How a command ended: a failed one says it at the end of its output."""
    if "start_time" not in more:
        return None
    found = _EXIT.search(output or "")
    return int(found[1]) if found else None


def _duration(more: Fields) -> int | None:
    start, end = moment_of(more.get("start_time")), moment_of(more.get("end_time"))
    return end - start if start is not None and end is not None and end >= start else None
