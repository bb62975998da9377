"""OpenCode's sessions: made of messages with parts, and written as files or as a database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

START = 1_770_000_000_000
SESSION = "ses_3fd0000000ffeAdaGarden000001"
SCHEMA = """
create table session (
  id text primary key, project_id text not null, parent_id text, slug text not null,
  directory text not null,
  title text not null, version text not null, share_url text, summary_additions integer,
  summary_deletions integer,
  summary_files integer, summary_diffs text, revert text, permission text,
  time_created integer not null,
  time_updated integer not null, time_compacting integer, time_archived integer);
create table message (
  id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null,
  data text not null);
create table part (
  id text primary key, message_id text not null, session_id text not null,
  time_created integer not null,
  time_updated integer not null, data text not null);
create index part_session_idx on part (session_id);
create table account (id text primary key, access_token text not null);
"""

Fields = dict[str, Any]


def clock(second: float) -> int:
    """A moment after the start, in milliseconds."""
    return START + round(second * 1000)


def identifier(kind: str, at: int, number: int = 1) -> str:
    """An id as OpenCode makes it: its time, a counter, and letters by chance."""
    return f"{kind}_{(at << 12 | number) & 0xFFFFFFFFFFFF:012x}{number:014d}"


def session(id_: str = SESSION, **more: Any) -> Fields:
    """A session's own record, as the files have it."""
    return {
        "id": id_,
        "version": "1.1.30",
        "projectID": "9f1c2e",
        "directory": "/home/ada/garden",
        "title": "Watering the garden",
        "time": {"created": START, "updated": clock(60)},
        **more,
    }


def user(second: float, *parts: Fields | str, **more: Any) -> Fields:
    """A message in the user's name; a text is what a person typed."""
    return _message(second, "user", parts, {"agent": "build", **more})


def assistant(second: float, *parts: Fields | str, to: Fields | None = None, **more: Any) -> Fields:
    """A message of the agent; `to` is the message it answers."""
    told = {
        "modelID": "claude-sonnet-4-5",
        "providerID": "anthropic",
        "mode": "build",
        "path": {"cwd": "/home/ada/garden", "root": "/home/ada/garden"},
        "cost": 0.01,
        "tokens": tokens(10, 5),
        "finish": "stop",
        **more,
    }
    message = _message(second, "assistant", parts, told)
    message["time"]["completed"] = clock(second + 1)
    return message | ({"parentID": to["id"]} if to else {})


def _message(second: float, role: str, parts: tuple[Fields | str, ...], more: Fields) -> Fields:
    at = clock(second)
    made = [text(part) if isinstance(part, str) else part for part in parts]
    found = {
        "id": identifier("msg", at),
        "role": role,
        "time": {"created": at},
        **more,
        "parts": made,
    }
    for number, part in enumerate(made):
        part.setdefault("id", identifier("prt", at, number + 1))
        if part.get("type") == "tool" and isinstance(part["state"], dict):
            part["state"].setdefault("time", {"start": at, "end": at + 500})
    return found


def tokens(
    read: int, written: int, reasoning: int = 0, cached: int = 0, cache_write: int = 0, **more: Any
) -> Fields:
    return {
        "input": read,
        "output": written,
        "reasoning": reasoning,
        "cache": {"read": cached, "write": cache_write},
        **more,
    }


def text(words: str, **more: Any) -> Fields:
    return {"type": "text", "text": words, **more}


def thought(words: str) -> Fields:
    return {"type": "reasoning", "text": words, "time": {"start": clock(2), "end": clock(3)}}


def step(used: Fields, cost: float = 0.01) -> Fields:
    return {"type": "step-finish", "reason": "stop", "cost": cost, "tokens": used}


def tool(
    name: str, given: Fields, output: str | None = "done", call: str = "call_1", **state: Any
) -> Fields:
    """A tool call; without an output it still runs."""
    status = {"status": "running"} if output is None else {"status": "completed", "output": output}
    return {
        "type": "tool",
        "callID": call,
        "tool": name,
        "state": {
            "input": given,
            "title": name,
            "metadata": {},
            **status,
            **state,
        },
    }


def write_files(data: Path, info: Fields, *messages: Fields) -> Path:
    """A session as files in a data folder, the way of late 2025; the session's own is returned."""
    storage = data / "storage"
    for message in messages:
        _write(
            storage / "message" / info["id"] / f"{message['id']}.json",
            _without_parts(message) | {"sessionID": info["id"]},
        )
        for part in message["parts"]:
            named = {"sessionID": info["id"], "messageID": message["id"], **part}
            _write(storage / "part" / message["id"] / f"{part['id']}.json", named)
    return _write(
        storage / "session" / info.get("projectID", "global") / f"{info['id']}.json", info
    )


def write_database(
    path: Path, *sessions: tuple[Fields, list[Fields]], updated: int | None = None
) -> Path:
    """Sessions in a database, added to what is in it; `updated` is when their rows were written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    if not list(connection.execute("select 1 from sqlite_schema")):
        connection.execute(SCHEMA)
    for info, messages in sessions:
        _insert_session(connection, info, updated)
        for message in messages:
            at = message["time"]["created"]
            data = {name: value for name, value in _without_parts(message).items() if name != "id"}
            values = (message["id"], info["id"], at, updated or at, json.dumps(data))
            connection.execute("insert or replace into message values (?, ?, ?, ?, ?)", values)
            for part in message["parts"]:
                data = {name: value for name, value in part.items() if name != "id"}
                values = (
                    part["id"],
                    message["id"],
                    info["id"],
                    at,
                    updated or at,
                    json.dumps(data),
                )
                connection.execute("insert or replace into part values (?, ?, ?, ?, ?, ?)", values)
    connection.close()
    return path


def _insert_session(connection: apsw.Connection, info: Fields, updated: int | None) -> None:
    summary = info.get("summary", {})
    row = {
        "id": info["id"],
        "project_id": info.get("projectID", "global"),
        "parent_id": info.get("parentID"),
        "slug": "quiet-meadow",
        "directory": info.get("directory", ""),
        "title": info["title"],
        "version": info["version"],
        "summary_additions": summary.get("additions"),
        "summary_deletions": summary.get("deletions"),
        "summary_files": summary.get("files"),
        "revert": json.dumps(info["revert"]) if "revert" in info else None,
        "permission": json.dumps(info["permission"]) if "permission" in info else None,
        "time_created": info["time"]["created"],
        "time_updated": updated or info["time"]["updated"],
    }
    names = ", ".join(row)
    connection.execute(
        f"insert or replace into session ({names}) values "
        f"({', '.join(f':{name}' for name in row)})",
        row,
    )


def _without_parts(message: Fields) -> Fields:
    return {name: value for name, value in message.items() if name != "parts"}


def _write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path
