"""Conversations of Antigravity: steps, and rows with messages in
the wire format of protocol buffers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

Record = dict[str, Any]
Message = list[tuple[int, Any]]

SESSION = "3c9e7f40-0000-4000-8000-000000000001"
FOLDER = "/home/ada/shop"


def clock(second: int) -> str:
    return f"2026-07-02T09:{second // 60:02}:{second % 60:02}Z"


def step(
    index: int,
    kind: str,
    content: Any = None,
    *,
    source: str = "MODEL",
    status: str = "DONE",
    **more: Any,
) -> Record:
    told = {"content": content} if content is not None else {}
    return {
        "step_index": index,
        "source": source,
        "type": kind,
        "status": status,
        "created_at": clock(index),
        **told,
        **more,
    }


def asks(index: int, text: str, settings: str = "") -> Record:
    changed = f"\n<USER_SETTINGS_CHANGE>\n{settings}\n</USER_SETTINGS_CHANGE>" if settings else ""
    return step(
        index,
        "USER_INPUT",
        f"<USER_REQUEST>\n{text}\n</USER_REQUEST>{changed}",
        source="USER_EXPLICIT",
    )


def answers(index: int, content: str | None = None, *calls: Record, **more: Any) -> Record:
    return step(index, "PLANNER_RESPONSE", content, tool_calls=list(calls), **more)


def call(name: str, **arguments: Any) -> Record:
    return {"name": name, "args": {key: json.dumps(value) for key, value in arguments.items()}}


def lines(*steps: Record) -> str:
    return "".join(json.dumps(one) + "\n" for one in steps)


def transcript(
    root: Path, *steps: Record, name: str = "transcript.jsonl", session: str = SESSION
) -> Path:
    """A transcript in the place where the agent keeps it."""
    path = root / "brain" / session / ".system_generated" / "logs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(*steps))
    return path


def database(root: Path, *calls: bytes, place: bytes | None = None, session: str = SESSION) -> Path:
    """A conversation's database with one row for each model call."""
    path = root / "conversations" / f"{session}.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    connection.execute(
        "create table steps (idx integer primary key, step_type integer, step_payload blob)"
    )
    connection.execute("create table gen_metadata (idx integer primary key, data blob)")
    connection.execute("create table trajectory_metadata_blob (id text primary key, data blob)")
    connection.executemany("insert into gen_metadata values (?, ?)", list(enumerate(calls)))
    if place is not None:
        connection.execute("insert into trajectory_metadata_blob values ('main', ?)", (place,))
    connection.close()
    return path


def generation(
    given: int,
    output: int,
    *,
    cached: int = 0,
    answer: str | None = None,
    steps: tuple[int, ...] = (),
) -> bytes:
    """The row of one model call."""
    used: Message = [(1, 1020), (2, given), (3, output), (5, cached)]
    used += [(11, answer)] if answer else []
    called: Message = [(4, used), (9, [(4, [(1, 1_782_982_800)])]), (19, "gemini-3-flash-a")]
    return wire([(1, called), *((2, index) for index in steps)])


def workspace(uri: str, branch: str) -> bytes:
    """The row that says where a conversation took place."""
    return wire([(1, [(1, uri), (4, branch)])])


def wire(message: Message) -> bytes:
    """A message, of numbers, texts and messages."""
    written = b""
    for field, value in message:
        if isinstance(value, int):
            written += varint(field << 3) + varint(value)
        else:
            inner = value.encode() if isinstance(value, str) else wire(value)
            written += varint(field << 3 | 2) + varint(len(inner)) + inner
    return written


def varint(number: int) -> bytes:
    more, low = number >> 7, number & 127
    return bytes([low | 128]) + varint(more) if more else bytes([low])
