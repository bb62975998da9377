"""The database of the community's grok-cli, an unrelated program that keeps it in the same folder.

Messages are those of the AI SDK, as JSON. Two of its tables repeat the tool
calls and results that are in them, and are not read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.rows import Rows, opened, tables_in
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    moment_of,
    money_of,
    objects_of,
    text_of,
)
from recollect.model import Checkpoint, Item, Problem, Source

MICROS_PER_USD = 1e6
# A checkpoint after so much, so that an import that is stopped goes on there.
STRETCH_BYTES = 8 << 20

_COLUMNS = {
    "sessions": ("id", "title", "recap_text", "model", "mode", "cwd_at_start", "cwd_last", "status", "created_at", "updated_at"),
    "messages": ("seq", "role", "message_json", "created_at"),
    "usage_events": ("id", "message_seq", "source", "model", "input_tokens", "output_tokens", "cost_micros", "created_at"),
    "compactions": ("summary", "tokens_before", "created_at"),
}
# Tables whose new rows do not always move on the time of their session.
_GROWING = ("messages", "usage_events", "compactions")
_OURS = {
    "workspaces": {"scope_key", "canonical_path"},
    "sessions": {"workspace_id", "cwd_at_start", "mode"},
    "messages": {"session_id", "seq", "message_json"},
}


def is_ours(path: str) -> bool:
    """Whether a database is that of grok-cli, by its tables."""
    tables = tables_in(path)
    return all(columns <= tables.get(table, frozenset()) for table, columns in _OURS.items())


class Marks(Struct):
    """How far a database was read: the last row of each table, and the newest change of a session."""

    rows: dict[str, int] = field(default_factory=dict)
    newest: str = ""


class DatabaseReader:
    """Reads the sessions that changed, each of them whole."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self._oddities = Oddities()
        self._read_bytes = 0

    def read(self, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint."""
        last = since or Checkpoint(0)
        try:
            with opened(self.path) as rows:
                for item in self._changed(rows, last):
                    last = item if isinstance(item, Checkpoint) else last
                    yield item
        except Unreadable as reason:
            yield Problem(path=self.path, kind="unreadable", reason=str(reason))
            yield last

    def _changed(self, rows: Rows, since: Checkpoint) -> Iterator[Item]:
        table = Tables(rows)
        old, now = _resumed(since), table.marks()
        if old.newest > now.newest or any(now.rows[name] < old.rows.get(name, 0) for name in now.rows):
            old = Marks()
        late, newer = table.changed_since(old)
        # Until all of these are told, their rows must count as new.
        for session in late:
            yield from self._session(table, session)
        marked = self._read_bytes
        for session in newer:
            yield from self._session(table, session)
            if self._read_bytes - marked >= STRETCH_BYTES:
                marked = self._read_bytes
                yield Checkpoint(since.position + marked, _state(Marks(now.rows, _changed_at(session))))
        yield from self._oddities.problems(self.path)
        yield Checkpoint(since.position + self._read_bytes, _state(now))

    def _session(self, table: Tables, told: Fields) -> Iterator[Item]:
        conversation = Conversation(told, self._oddities)
        for row in table.of_session("messages", told["id"], "seq"):
            self._read_bytes += len(row["message_json"] or "")
            conversation.messages.append(row)
        conversation.compactions += table.of_session("compactions", told["id"], "rowid")
        conversation.bills += table.of_session("usage_events", told["id"], "rowid")
        yield from conversation.items()


class Tables:
    """The tables of one database, in whatever version they are."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._columns = {name: rows.columns(name) for name in _COLUMNS}

    def marks(self) -> Marks:
        """How far the tables go now."""
        rows = {name: self._last(name) for name in _GROWING}
        newest = self._rows.one("select max(updated_at) from sessions")
        return Marks(rows, str(newest[0] or "") if newest else "")

    def _last(self, name: str) -> int:
        found = self._rows.one(f"select max(rowid) from {name}") if self._columns[name] else None
        return count_of(found[0]) if found else 0

    def changed_since(self, old: Marks) -> tuple[list[Fields], list[Fields]]:
        """The sessions that changed without saying when, and those that say it, the oldest change first."""
        ids = {
            row[0]
            for name in _GROWING
            if self._columns[name]
            for row in self._rows.all(f"select distinct session_id from {name} where rowid > ?", (old.rows.get(name, 0),))
        }
        sessions = [row for row in self._select("sessions", "order by updated_at, id") if text_of(row["id"])]
        newer = [row for row in sessions if _changed_at(row) >= old.newest]
        return [row for row in sessions if row["id"] in ids and _changed_at(row) < old.newest], newer

    def of_session(self, name: str, session: str, order: str) -> list[Fields]:
        """A session's rows of a table."""
        return self._select(name, f"where session_id = ? order by {order}", (session,)) if self._columns[name] else []

    def _select(self, name: str, rest: str, values: Iterable[Any] = ()) -> list[Fields]:
        wanted = _COLUMNS[name]
        columns = ", ".join(column if column in self._columns[name] else f"null as {column}" for column in wanted)
        return [dict(zip(wanted, row, strict=True)) for row in self._rows.all(f"select {columns} from {name} {rest}", values)]


class Conversation:
    """One session out of its rows."""

    def __init__(self, told: Fields, oddities: Oddities) -> None:
        self._told, self._oddities = told, oddities
        self._dialogue = Dialogue(told["id"])
        self._prompts: list[tuple[int, str]] = []
        self.messages: list[Fields] = []
        self.compactions: list[Fields] = []
        self.bills: list[Fields] = []

    def items(self) -> list[Item]:
        """The whole conversation."""
        told, dialogue = self._told, self._dialogue
        meta = {name: text_of(told[name]) for name in ("model", "mode", "status", "cwd_last")}
        dialogue.facts(
            cwd=text_of(told["cwd_at_start"]),
            title=text_of(told["title"]) or text_of(told["recap_text"]),
            started_at=moment_of(told["created_at"]),
            meta={**{name: value for name, value in meta.items() if value}, "program": "grok-cli"},
        )
        compactions = self.compactions[::-1]
        for row in self.messages:
            at = moment_of(row["created_at"])
            while compactions and at is not None and (moment_of(compactions[-1]["created_at"]) or 0) <= at:
                self._compacted(compactions.pop())
            self._message(row, at)
        for row in reversed(compactions):
            self._compacted(row)
        self._prompts.sort()
        for row in self.bills:
            self._spent(row)
        return dialogue.drain()

    def _compacted(self, row: Fields) -> None:
        self._dialogue.say("compaction", text_of(row["summary"]), at=moment_of(row["created_at"]))
        if tokens := count_of(row["tokens_before"]):
            self._dialogue.learn(telemetry={"context_tokens_before_compaction": tokens})

    def _message(self, row: Fields, at: int | None) -> None:
        try:
            message = fields_of(msgspec.json.decode(row["message_json"] or ""))
        except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError):
            self._oddities.bad("a message that is no JSON")
            return
        role, content = row["role"], message.get("content")
        if role == "user":
            key = f"{self._told['id']}/{row['seq']}"
            self._prompts.append((at or 0, key))
            self._dialogue.prompt(key, content_text(content).strip(), at=at)
        elif role == "assistant":
            self._answer(content, at)
        elif role == "tool":
            self._results(content, at)
        elif role != "system":
            self._oddities.unknown("message", role)

    def _answer(self, content: object, at: int | None) -> None:
        if isinstance(content, str):
            self._dialogue.say("reply", content, at=at)
        for part in objects_of(content):
            kind = part.get("type")
            if kind == "text":
                self._dialogue.say("reply", text_of(part.get("text")), at=at)
            elif kind == "reasoning":
                self._dialogue.say("reasoning", text_of(part.get("text")), at=at)
            elif kind == "tool-call":
                name = text_of(part.get("toolName")) or "tool"
                self._dialogue.call(text_of(part.get("toolCallId")), name, part.get("input"), at=at)
            elif kind not in ("tool-result", "file", "tool-approval-request", "source"):
                self._oddities.unknown("part of a message", kind)

    def _results(self, content: object, at: int | None) -> None:
        for part in objects_of(content):
            call = text_of(part.get("toolCallId"))
            if part.get("type") == "tool-result" and call:
                output, ok = _outcome(part.get("output"))
                self._dialogue.result(call, output, at=at, ok=ok)

    def _spent(self, row: Fields) -> None:
        """The tokens of a run, which does not say for which prompt it was.

        A turn is written down when it has ended, after what it cost; only a
        recap is made of turns that were written before.
        """
        at = moment_of(row["created_at"])
        place = bisect_left(self._prompts, at or 0, key=lambda prompt: prompt[0])
        before, after = self._prompts[max(0, place - 1) : place], self._prompts[place : place + 1]
        likely = before if row["source"] == "recap" else after
        self._dialogue.usage(
            f"{self._told['id']}/usage/{row['id']}", model=text_of(row["model"]), at=at, input=count_of(row["input_tokens"]),
            output=count_of(row["output_tokens"]), cost_usd=money_of(count_of(row["cost_micros"]) / MICROS_PER_USD),
            turn=next((key for _, key in (*likely, *before, *after)), None),
        )  # fmt: skip


def _outcome(output: object) -> tuple[str, bool | None]:
    """What a tool gave back, and whether it worked: a value in a typed shell, or grok-cli's own result."""
    told = fields_of(output)
    kind, value = told.get("type"), told.get("value")
    if kind in ("text", "error-text", "execution-denied"):
        return text_of(value) or text_of(told.get("reason")) or "", kind == "text"
    inner = fields_of(value) if kind in ("json", "error-json") else told
    if "success" in inner:
        worked = inner["success"] is True
        said = inner.get("output") if worked else inner.get("error") or inner.get("output")
        return text_of(said) or "", worked
    if kind == "content":
        return content_text(value), True
    return msgspec.json.encode(output).decode() if output is not None else "", None if kind is None else kind != "error-json"


def _changed_at(session: Fields) -> str:
    """When a session changed last: ISO times, which sort as they are."""
    return str(session["updated_at"] or "")


def _resumed(since: Checkpoint) -> Marks:
    try:
        return msgspec.msgpack.decode(since.state, type=Marks) if since.state else Marks()
    except (msgspec.MsgspecError, UnicodeError):
        return Marks()


def _state(marks: Marks) -> bytes:
    return msgspec.msgpack.encode(marks)
