"""The database of the community's grok-cli, an unrelated program that keeps it in the same folder.

Messages are those of the AI SDK, as JSON. Two of its tables repeat the tool
calls and results that are in them, and are not read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from recollect.capture.logs.databases import SessionTable
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile, tables_in
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    moment_of,
    money_of,
    non_empty,
    objects_of,
    text_of,
)
from recollect.model.logs import Item

MICROS_PER_USD = 1e6

_COLUMNS = {
    "sessions": (
        "id", "title", "recap_text", "model", "mode", "cwd_at_start", "cwd_last", "status",
        "created_at", "updated_at",
    ),
    "messages": ("seq", "role", "message_json", "created_at"),
    "usage_events": (
        "id", "message_seq", "source", "model", "input_tokens", "output_tokens", "cost_micros",
        "created_at",
    ),
    "compactions": ("summary", "tokens_before", "created_at"),
}  # fmt: skip
_OURS = {
    "workspaces": {"scope_key", "canonical_path"},
    "sessions": {"workspace_id", "cwd_at_start", "mode"},
    "messages": {"session_id", "seq", "message_json"},
}


def is_ours(path: str) -> bool:
    """Whether a database is that of grok-cli, by its tables."""
    tables = tables_in(path)
    return all(columns <= tables.get(table, frozenset()) for table, columns in _OURS.items())


class GrokCliDatabase:
    """Reads one session of grok-cli's database after the other."""

    # A new message, bill or compaction does not always move on the time of its session.
    tables: Sequence[SessionTable] = (
        SessionTable("sessions", "id", "updated_at"),
        *(SessionTable(name, "session_id") for name in ("messages", "usage_events", "compactions")),
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.read_bytes = 0
        self.problems = ProblemCounter(path)

    def session(self, file: SqliteFile, session: str) -> list[Item]:
        """The whole conversation; nothing when it was deleted meanwhile."""
        told = _selected(file, "sessions", "where id = ?", session)
        if not told:
            return []
        messages = _selected(file, "messages", "where session_id = ? order by seq", session)
        self.read_bytes += sum(len(row["message_json"] or "") for row in messages)
        of_session = "where session_id = ? order by rowid"
        conversation = _CliConversation(told[0], self.problems)
        return conversation.items(
            messages,
            _selected(file, "compactions", of_session, session),
            _selected(file, "usage_events", of_session, session),
        )


def _selected(file: SqliteFile, table: str, rest: str, session: str) -> list[Fields]:
    """Rows of a table, in whatever version it is; none when it is not there yet."""
    if not file.columns(table):
        return []
    wanted = _COLUMNS[table]
    found = file.all(f"select {file.selected(table, *wanted)} from {table} {rest}", (session,))
    return [dict(zip(wanted, row, strict=True)) for row in found]


class _CliConversation:
    """One session out of its rows."""

    def __init__(self, told: Fields, problems: ProblemCounter) -> None:
        self._told, self.problems = told, problems
        self._dialogue = Dialogue(told["id"])
        self._prompts: list[tuple[int, str]] = []

    def items(
        self, messages: list[Fields], compactions: list[Fields], bills: list[Fields]
    ) -> list[Item]:
        """The whole conversation."""
        told, dialogue = self._told, self._dialogue
        meta = {name: text_of(told[name]) for name in ("model", "mode", "status", "cwd_last")}
        dialogue.facts(
            cwd=text_of(told["cwd_at_start"]),
            title=text_of(told["title"]) or text_of(told["recap_text"]),
            started_at=moment_of(told["created_at"]),
            meta={**non_empty(meta), "program": "grok-cli"},
        )
        waiting = compactions[::-1]
        for row in messages:
            at = moment_of(row["created_at"])
            while waiting and at is not None and (moment_of(waiting[-1]["created_at"]) or 0) <= at:
                self._compacted(waiting.pop())
            self._message(row, at)
        for row in reversed(waiting):
            self._compacted(row)
        self._prompts.sort()
        for row in bills:
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
            self.problems.bad("a message is not JSON")
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
            self.problems.unknown("message", role)

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
                self.problems.unknown("part of a message", kind)

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
            f"{self._told['id']}/usage/{row['id']}",
            model=text_of(row["model"]),
            at=at,
            input=count_of(row["input_tokens"]),
            output=count_of(row["output_tokens"]),
            cost_usd=money_of(count_of(row["cost_micros"]) / MICROS_PER_USD),
            turn=next((key for _, key in (*likely, *before, *after)), None),
        )


def _outcome(output: object) -> tuple[str, bool | None]:
    """What a tool gave back and whether it worked, in the AI SDK's words or grok-cli's own."""
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
    whole = "" if output is None else msgspec.json.encode(output).decode()
    return whole, None if kind is None else kind != "error-json"
