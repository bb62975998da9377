"""Crush's sessions, written into a database as Crush writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

START = 1_770_000_000
SESSION = "0f6d3f4c-7c0e-4f0a-9d53-000000000001"
SCHEMA = """
create table sessions (
  id text primary key, parent_session_id text, title text not null,
  message_count integer not null default 0,
  prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
  cost real not null default 0.0,
  updated_at integer not null, created_at integer not null, summary_message_id text, todos text);
create table messages (
  id text primary key, session_id text not null, role text not null,
  parts text not null default '[]', model text,
  created_at integer not null, updated_at integer not null, finished_at integer, provider text,
  is_summary_message integer default 0 not null);
create index idx_messages_session_id on messages (session_id);
create table files (
  id text primary key, session_id text not null, path text not null, content text not null,
  version integer not null default 0, created_at integer not null, updated_at integer not null);
create table goose_db_version (id integer primary key, version_id integer, is_applied integer);
"""

Fields = dict[str, Any]


def session(id_: str = SESSION, **more: Any) -> Fields:
    """A row of `sessions`."""
    return {
        "id": id_,
        "title": "Watering the garden",
        "created_at": START,
        "updated_at": START + 60,
        **more,
    }


def message(id_: str, role: str, second: int, *parts: Fields | str, **more: Any) -> Fields:
    """A row of `messages`; a text is a part with words."""
    made = [part("text", text=one) if isinstance(one, str) else one for one in parts]
    model = {"model": "claude-sonnet-4", "provider": "anthropic"} if role == "assistant" else {}
    at = START + second
    return {
        "id": id_,
        "role": role,
        "parts": json.dumps(made),
        "created_at": at,
        "updated_at": at,
        **model,
        **more,
    }


def user(id_: str, second: int, *parts: Fields | str, **more: Any) -> Fields:
    return message(id_, "user", second, *parts, part("finish", reason="stop", time=0), **more)


def assistant(
    id_: str, second: int, *parts: Fields | str, reason: str = "end_turn", **more: Any
) -> Fields:
    return message(
        id_,
        "assistant",
        second,
        *parts,
        part("finish", reason=reason, time=START + second + 1),
        **more,
    )


def part(kind: str, **data: Any) -> Fields:
    return {"type": kind, "data": data}


def call(id_: str, name: str, **given: Any) -> Fields:
    return part(
        "tool_call",
        id=id_,
        name=name,
        input=json.dumps(given),
        provider_executed=False,
        finished=True,
    )


def result(id_: str, content: str, /, *, failed: bool = False, **metadata: Any) -> Fields:
    told = json.dumps(metadata) if metadata else ""
    return part(
        "tool_result", tool_call_id=id_, name="", content=content, metadata=told, is_error=failed
    )


def write_database(path: Path, *sessions: tuple[Fields, list[Fields]]) -> Path:
    """Sessions in a database, added to what is in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    if not list(connection.execute("select 1 from sqlite_schema")):
        connection.execute(SCHEMA)
    for info, messages in sessions:
        _insert(connection, "sessions", {"message_count": len(messages), **info})
        for row in messages:
            _insert(connection, "messages", {"session_id": info["id"], **row})
    connection.close()
    return path


def _insert(connection: apsw.Connection, table: str, row: Fields) -> None:
    names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(f"insert or replace into {table} ({names}) values ({values})", row)
