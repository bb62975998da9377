"""What was said and done in a Crush session, from the rows of its messages."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import parsed
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import Fields, decoded, fields_of, moment_of, text_of, whole_of
from recollect.model.logs import Author, Item, SessionFacts

# What Crush says in the user's name, after a summary, to go on with what it was doing.
_GOES_ON = re.compile(
    r"The previous session was interrupted because it got too long, the initial user request was: `"
)
_EXIT = re.compile(r"(?:^|\n)Exit code (\d+)\s*(?:\n\n<cwd>[^\n]*</cwd>)?\s*$")


class Data(Struct):
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


class Part(Struct):
    type: Any = None
    data: Data | list[Any] | str | int | float | bool | None = None


class Row(NamedTuple):
    """A message. `is_summary` says that it stands for all before it."""

    id: str
    role: Any
    model: Any
    provider: Any
    created: Any
    is_summary: bool
    parts: list[Part]


class Info(NamedTuple):
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


_SHAPE = list[Part | str | int | float | bool | None]
_PARTS = msgspec.json.Decoder(_SHAPE)


def parts_of(data: bytes) -> list[Part]:
    """A message's parts out of their JSON; `Broken` when they are none."""
    try:
        found = _PARTS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        found = parsed(data, _SHAPE)
    return [part for part in found if isinstance(part, Part)]


def items_of(info: Info, rows: list[Row], oddities: Oddities) -> list[Item]:
    """A session's items; none when nobody has said anything yet."""
    if not rows:
        return []
    talk = Talk(info, oddities)
    for row in rows:
        talk.take(row)
    talk.close()
    return talk.dialogue.items


class Talk:
    """One session's messages on their way to items."""

    def __init__(self, info: Info, oddities: Oddities) -> None:
        self.info, self.oddities = info, oddities
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

    def take(self, row: Row) -> None:
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
            self.oddities.unknown("message of the role", row.role)
        self.first_turn = self.first_turn or self.dialogue.standing.turn

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

    def _user(self, row: Row, at: int | None) -> None:
        said = [self._typed(part, at) for part in row.parts]
        text = "\n".join(words for words in said if words)
        shell = [
            part.data
            for part in row.parts
            if part.type == "shell_command" and isinstance(part.data, Data)
        ]
        if _GOES_ON.match(text) and self.dialogue.standing.turn:
            return
        if not text and shell:
            text = "\n".join(f"!{command}" for data in shell if (command := text_of(data.command)))
        self.dialogue.prompt(row.id, text, at=at, author=self.author)
        for data in shell:
            self._ran(data, at)

    def _typed(self, part: Part, at: int | None) -> str | None:
        data = part.data if isinstance(part.data, Data) else Data()
        if part.type == "text":
            return text_of(data.text)
        if part.type in ("image_url", "binary"):
            return f"[{text_of(data.Path) or 'image'}]"
        if part.type not in ("finish", "shell_command"):
            self.oddities.unknown("part of the type", part.type)
        return None

    def _part(self, part: Part, at: int | None, *, is_summary: bool) -> None:
        data = part.data if isinstance(part.data, Data) else Data()
        if part.type == "text":
            self.dialogue.say("compaction" if is_summary else "reply", text_of(data.text), at=at)
        elif part.type == "reasoning":
            self.dialogue.say(
                "reasoning", text_of(data.thinking), at=moment_of(data.started_at) or at
            )
        elif part.type == "tool_call":
            self.dialogue.call(
                text_of(data.id), text_of(data.name) or "tool", decoded(data.input), at=at
            )
        elif part.type == "tool_result":
            self._result(data, at)
        elif part.type == "finish":
            self._finish(data, at)
        elif part.type == "shell_command":
            self._ran(data, at)
        elif part.type not in ("image_url", "binary"):
            self.oddities.unknown("part of the type", part.type)

    def _result(self, data: Data, at: int | None) -> None:
        call = text_of(data.tool_call_id)
        if call is None:
            self.oddities.bad("a result without the id of its call")
            return
        output = text_of(data.content)
        more = fields_of(decoded(data.metadata))
        code = _exit_code(output, more)
        failed = data.is_error is True or bool(code)
        self.dialogue.result(
            call, output, at=at, ok=not failed, exit_code=code, duration_ms=_duration(more)
        )

    def _ran(self, data: Data, at: int | None) -> None:
        """A command that a person ran, with what it gave."""
        code = whole_of(data.exit_code)
        ok = None if code is None else code == 0
        command = {"command": text_of(data.command) or ""}
        self.dialogue.call(
            None, "bash", command, at=at, output=text_of(data.output), ok=ok, exit_code=code
        )

    def _finish(self, data: Data, at: int | None) -> None:
        reason = text_of(data.reason)
        at = moment_of(data.time) or at
        if reason in ("error", "content_filter"):
            self.dialogue.say(
                "error",
                "\n".join(filter(None, map(text_of, (data.message, data.details)))) or reason,
                at=at,
            )
        elif reason in ("canceled", "permission_denied"):
            self.dialogue.say("abort", text_of(data.message) or reason, at=at)
        if reason and self.dialogue.standing.turn:
            self.stopped[self.dialogue.standing.turn] = reason


def _exit_code(output: str | None, more: Fields) -> int | None:
    """How a command ended: told at the end of its output when it failed,
    and by its times that it was one.
    """
    if "start_time" not in more:
        return None
    found = _EXIT.search(output or "")
    return int(found[1]) if found else None


def _duration(more: Fields) -> int | None:
    start, end = moment_of(more.get("start_time")), moment_of(more.get("end_time"))
    return end - start if start is not None and end is not None and end >= start else None
