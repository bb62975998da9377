"""Goose's sessions: messages with their parts, kept in a database or, in
old times, in a file of lines each.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

Fields = dict[str, Any]

# A moment in seconds, as goose writes it; each message of a talk is ten seconds later.
START = 1_770_000_000
SESSION = "20260202_1"
ALL_COLUMNS = (
    "id", "name", "description", "user_set_name", "session_type", "working_dir", "created_at",
    "updated_at", "extension_data", "total_tokens", "input_tokens", "output_tokens",
    "accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens",
    "schedule_id", "recipe_json", "user_recipe_values_json", "provider_name", "model_config_json",
    "goose_mode",
)  # fmt: skip
MESSAGE_COLUMNS = (
    "message_id",
    "session_id",
    "role",
    "content_json",
    "created_timestamp",
    "metadata_json",
)


def session(id_: str = SESSION, **more: Any) -> Fields:
    """A row about a session."""
    return {
        "id": id_,
        "name": "Watering the garden",
        "description": "",
        "session_type": "user",
        "working_dir": "/home/ada/garden",
        "created_at": "2026-02-02 02:40:00",
        "updated_at": "2026-02-02 02:50:00",
        "extension_data": "{}",
        "total_tokens": 1_050,
        "input_tokens": 1_000,
        "output_tokens": 50,
        "accumulated_total_tokens": 4_200,
        "accumulated_input_tokens": 4_000,
        "accumulated_output_tokens": 200,
        "provider_name": "anthropic",
        "model_config_json": '{"model_name":"claude-sonnet-4","context_limit":200000}',
        "goose_mode": "auto",
        **more,
    }


def user(*parts: Fields | str, **more: Any) -> Fields:
    """A message in the user's name; a text is what a person typed."""
    return {"role": "user", "content": _parts(parts), **more}


def assistant(*parts: Fields | str, **more: Any) -> Fields:
    return {"role": "assistant", "content": _parts(parts), **more}


def _parts(parts: tuple[Fields | str, ...]) -> list[Fields]:
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]


def thinking(text: str) -> Fields:
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def request(name: str = "developer__shell", call: str = "call_1", **arguments: Any) -> Fields:
    value = {"name": name, "arguments": arguments or {"command": "ls beds"}}
    return {"type": "toolRequest", "id": call, "toolCall": {"status": "success", "value": value}}


def response(text: str = "roses\n", call: str = "call_1", **more: Any) -> Fields:
    value = {"content": [{"type": "text", "text": text}], "isError": False, **more}
    return {"type": "toolResponse", "id": call, "toolResult": {"status": "success", "value": value}}


def shown(*, user: bool = True, agent: bool = True) -> Fields:
    """Who sees a message."""
    return {"userVisible": user, "agentVisible": agent}


def talk() -> list[Fields]:
    """A prompt, a thought, a call, its result and an answer."""
    return [
        user("water the roses"),
        assistant(thinking("Where are they?"), "Let me look.", request()),
        user(response()),
        assistant("They are wet."),
    ]


def database(
    path: Path,
    *sessions: tuple[Fields, list[Fields]],
    columns: tuple[str, ...] = ALL_COLUMNS,
    message_columns: tuple[str, ...] = MESSAGE_COLUMNS,
) -> Path:
    """A database with these sessions in it, added to if it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists()
    with closing(sqlite3.connect(path)) as connection, connection:
        if fresh:
            connection.executescript(schema(columns, message_columns))
        for row, messages in sessions:
            add_session(connection, row, columns)
            for number, message in enumerate(messages):
                add_message(connection, row["id"], message, START + 10 * number, message_columns)
    return path


def schema(
    columns: tuple[str, ...] = ALL_COLUMNS, message_columns: tuple[str, ...] = MESSAGE_COLUMNS
) -> str:
    rest = ", ".join(columns[1:])
    return (
        "create table schema_version (version integer primary key, applied_at text);\n"
        f"create table sessions (id text primary key, {rest});\n"
        "create table messages (id integer primary key autoincrement, "
        f"{', '.join(message_columns)});\n"
        "create index idx_messages_session on messages (session_id);\n"
    )


def add_session(
    connection: sqlite3.Connection, row: Fields, columns: tuple[str, ...] = ALL_COLUMNS
) -> None:
    values = [row.get(name) for name in columns]
    connection.execute(
        f"insert or replace into sessions ({', '.join(columns)}) values "
        f"({', '.join('?' * len(values))})",
        values,
    )


def add_message(
    connection: sqlite3.Connection,
    session_id: str,
    message: Fields,
    at: int,
    columns: tuple[str, ...] = MESSAGE_COLUMNS,
) -> None:
    """A row for a message; what it says about its own row wins."""
    row = {
        "message_id": f"msg_{session_id}_{at}",
        "session_id": session_id,
        "role": message["role"],
        "content_json": json.dumps(message["content"]),
        "created_timestamp": at,
        "metadata_json": json.dumps(message.get("metadata", shown())),
        **message.get("row", {}),
    }
    values = [row[name] for name in columns]
    connection.execute(
        f"insert into messages ({', '.join(columns)}) values ({', '.join('?' * len(values))})",
        values,
    )


def legacy(path: Path, messages: list[Fields], **about: Any) -> Path:
    """A file of the time before the database."""
    first = {
        "working_dir": "/home/ada/garden",
        "description": "Old roses",
        "message_count": len(messages),
        **about,
    }
    lines = [
        first,
        *({"created": START + 10 * number, **message} for number, message in enumerate(messages)),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
