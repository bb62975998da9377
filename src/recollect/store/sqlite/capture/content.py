"""What a turn holds, as the rows that are stored and the words that are indexed."""

from __future__ import annotations

from typing import Any

from recollect.errors import TurnDamaged
from recollect.model.calls import TARGET_CHARACTERS
from recollect.model.logs import Event, ToolResult
from recollect.store import bodies
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.parts import turn_rows
from recollect.store.text import COLUMNS, ends, packed_lengths, prepare

LEAD_CHARACTERS = 240

INSERT_BODY = (
    "insert into bodies (id, turn, part, events, checksum, lengths) values (?, ?, ?, ?, ?, ?)"
)
INSERT_TEXT = (
    f"insert into turns_text (rowid, {', '.join(COLUMNS)}) values (?, ?, ?, ?, ?, ?, ?, ?)"
)


class TurnSummary:
    """What a turn's own row says about its events."""

    __slots__ = ("errors", "first_at", "last_at", "prompt", "reply")

    def __init__(self, events: list[Event]) -> None:
        self.prompt = self.reply = ""
        self.errors = 0
        self.first_at: int | None = None
        self.last_at: int | None = None
        for event in events:
            at, kind = event.at, event.kind
            # `/exit` a day later is no part of what was done.
            if at is not None and kind != "command":
                if self.last_at is None or at > self.last_at:
                    self.last_at = at
                if self.first_at is None or at < self.first_at:
                    self.first_at = at
            if kind == "tool_call":
                self.errors += event.ok is False
            elif kind == "reply":
                if event.text:
                    self.reply = event.text[:LEAD_CHARACTERS]
            elif kind == "prompt":
                if not self.prompt:
                    self.prompt = event.text[:LEAD_CHARACTERS]
            elif kind == "error":
                self.errors += 1


def row(event: Event) -> tuple[Any, ...]:
    """An event as a row of a body."""
    if event.kind != "tool_call":
        return (event.kind, event.at, event.text)
    return (
        event.kind, event.at, event.text, event.call, event.name, event.tool_kind, event.target,
        event.input, event.output, event.ok, event.exit_code, event.duration_ms, event.folder,
    )  # fmt: skip


def late_row(late: ToolResult) -> tuple[Any, ...]:
    """A result whose call is in an earlier part."""
    return (
        bodies.RESULT, late.at, "", late.call, None, None, None, None,
        late.output, late.ok, late.exit_code, late.duration_ms, None,
    )  # fmt: skip


def call_row(turn: int, ordinal: int, event: Event) -> tuple[Any, ...]:
    """A tool call as a row of its own table."""
    pending = event.call if event.ok is None and event.output is None else None
    target = event.target[:TARGET_CHARACTERS] if event.target else None
    return (
        turn, ordinal, event.name or "", event.tool_kind or "other", target,
        event.ok, event.exit_code, event.duration_ms, event.folder, pending,
    )  # fmt: skip


def text_row(
    body_id: int, rows: list[tuple[Any, ...]] | list[bodies.Row], prompt: str = ""
) -> tuple[Any, ...]:
    """What the text index sees of a body's events."""
    prompts = [prompt] if prompt else []
    replies: list[str] = []
    digests: list[str] = []
    commands: list[str] = []
    files: list[str] = []
    errors: list[str] = []
    outputs: list[str] = []
    for row in rows:
        kind = row[0]
        if kind == "tool_call" or kind == bodies.RESULT:
            target, output = row[bodies.TARGET], row[bodies.OUTPUT]
            if row[bodies.NAME]:
                commands.append(row[bodies.NAME])
            if target:
                (commands if row[bodies.TOOL_KIND] == "shell" else files).append(target)
            if row[bodies.INPUT]:
                outputs += _bulk(row[bodies.INPUT], target)
            if output:
                (errors if row[bodies.OK] is False else outputs).append(ends(output))
        elif kind == "prompt":
            prompts.append(row[bodies.TEXT])
        elif kind == "reply":
            replies.append(row[bodies.TEXT])
        elif kind == bodies.DIGEST:
            digests.append(row[bodies.TEXT])
        elif kind == "reasoning":
            outputs.append(ends(row[bodies.TEXT]))
        elif kind == "error":
            errors.append(row[bodies.TEXT])
    found = (prompts, replies[-1:], replies[:-1] + digests, commands, files, errors, outputs)
    return (body_id, *(prepare("\n".join(texts)) if texts else "" for texts in found))


def body_row(
    body_id: int, turn: int, part: int, rows: list[Any], text: tuple[Any, ...]
) -> tuple[Any, ...]:
    """A body as its table has it; `text` is its row of the text index."""
    body = bodies.pack(rows)
    return body_id, turn, part, body, bodies.checksum(body), packed_lengths(text[1:])


def _bulk(value: Any, target: str | None) -> list[str]:
    """The texts inside a call's arguments that its target does not already say."""
    if isinstance(value, str):
        return [ends(value)] if value != target else []
    if isinstance(value, dict):
        return [ends(text) for text in value.values() if isinstance(text, str) and text != target]
    return []


def clear_turn(db: Database, turn: int) -> None:
    """Take a turn's content away, keeping the turn, its number and what it cost."""
    drop_bodies(db, turn)
    db.execute("delete from tool_calls where turn = ?", (turn,))
    db.execute("delete from evictions where turn = ?", (turn,))
    db.execute(
        "update turns set errors = 0, prompt = '', reply = '', live = 1 where id = ?", (turn,)
    )


def merge_turn(db: Database, turn: int) -> None:
    """Make one body, and one row in the text index, of a turn's parts.

    Damaged ones stay as they are, for `repair` to judge.
    """
    try:
        rows = turn_rows(db, turn)
    except TurnDamaged:
        return
    first = db.value("select min(id) from bodies where turn = ?", (turn,))
    text = text_row(first, rows)
    drop_bodies(db, turn)
    db.execute(INSERT_BODY, body_row(first, turn, 0, rows, text))
    db.execute(INSERT_TEXT, text)


def drop_bodies(db: Database, turn: int) -> None:
    """Take a turn's bodies away, and what the text index has of them."""
    db.execute(
        "delete from turns_text where rowid in (select id from bodies where turn = ?)", (turn,)
    )
    db.execute("delete from bodies where turn = ?", (turn,))
