"""Cursor's three places, with readable defaults: what the editor keeps,
chats of the command line, transcripts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import apsw

FOLDER = "/home/ada/shop"
CHAT = "11111111-aaaa-4000-8000-000000000001"
STARTED = 1_790_845_200_000

_KEYS = "(key text unique on conflict replace, value blob)"


# The editor


def asked(name: str, text: str, **more: Any) -> dict[str, Any]:
    """A bubble with a prompt in it."""
    return {"_v": 3, "bubbleId": name, "type": 1, "text": text, **more}


def answered(name: str, text: str = "", **more: Any) -> dict[str, Any]:
    """A bubble of the agent's."""
    return {"_v": 3, "bubbleId": name, "type": 2, "text": text, **more}


def tool(name: str, arguments: dict[str, Any], result: Any = None, **more: Any) -> dict[str, Any]:
    """A tool call with its result, as it stands in a bubble."""
    given = {} if result is None else {"result": json.dumps(result)}
    return {
        "toolFormerData": {
            "name": name,
            "rawArgs": json.dumps(arguments),
            "status": "completed",
            **given,
            **more,
        }
    }


def rows(
    composer: str, bubbles: list[dict[str, Any]], *, headers: list[str] | None = None, **more: Any
) -> dict[str, Any]:
    """The rows of one chat, with its bubbles first.

    `headers` when not all of them are to be shown.
    """
    order = [bubble["bubbleId"] for bubble in bubbles] if headers is None else headers
    about = {
        "_v": 13,
        "composerId": composer,
        "createdAt": STARTED,
        "fullConversationHeadersOnly": [{"bubbleId": name} for name in order],
        "workspaceIdentifier": {"id": "w1", "uri": {"fsPath": FOLDER}},
        **more,
    }
    return {f"bubbleId:{composer}:{bubble['bubbleId']}": bubble for bubble in bubbles} | {
        f"composerData:{composer}": about
    }


def editor(
    path: Path, kept: dict[str, Any] | None = None, items: dict[str, Any] | None = None
) -> Path:
    """A `state.vscdb`; rows that are there already are replaced, as Cursor does it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    for table, values in (("ItemTable", items or {}), ("cursorDiskKV", kept or {})):
        connection.execute(f"create table if not exists {table} {_KEYS}")
        for key, value in values.items():
            text = value if isinstance(value, str) or value is None else json.dumps(value)
            connection.execute(f"insert into {table} values (?, ?)", (key, text))
    connection.close()
    return path


def global_of(home: Path) -> Path:
    """Where the editor keeps chats on Linux."""
    return home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"


def workspace_of(home: Path, name: str = "w1", folder: str = FOLDER) -> Path:
    """The database of a workspace, with the note of what folder it is about."""
    path = home / ".config" / "Cursor" / "User" / "workspaceStorage" / name / "state.vscdb"
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "workspace.json").write_text(json.dumps({"folder": f"file://{folder}"}))
    return path


# The command line


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message as chats have it."""
    return {"role": role, "content": content, **more}


def call(name: str, arguments: dict[str, Any], call_id: str = "t1") -> dict[str, Any]:
    """A part of a message: a tool call."""
    return {"type": "tool-call", "toolCallId": call_id, "toolName": name, "args": arguments}


def result(text: str, call_id: str = "t1", **more: Any) -> dict[str, Any]:
    """A message with what a tool gave back."""
    return said(
        "tool",
        [
            {
                "type": "tool-result",
                "toolCallId": call_id,
                "toolName": "Shell",
                "result": text,
                **more,
            }
        ],
    )


def field(number: int, data: bytes) -> bytes:
    """A field of a protobuf message that holds bytes."""
    assert len(data) < 1 << 14
    size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | 2]) + size + data


def blob(data: bytes) -> tuple[str, bytes]:
    """A blob under the name that its content gives it."""
    return sha256(data).hexdigest(), data


def blobs_of(messages: Iterable[dict[str, Any]], more: bytes = b"") -> tuple[str, dict[str, bytes]]:
    """The blobs of a chat with that of its root, and the root's name."""
    leaves = [blob(json.dumps(message).encode()) for message in messages]
    root, data = blob(b"".join(field(1, bytes.fromhex(name)) for name, _ in leaves) + more)
    return root, {**dict(leaves), root: data}


def store(path: Path, blobs: dict[str, bytes], root: str, **more: Any) -> Path:
    """A `store.db`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "agentId": path.parent.name,
        "latestRootBlobId": root,
        "name": "New Agent",
        "createdAt": STARTED,
        **more,
    }
    connection = apsw.Connection(str(path))
    connection.execute("create table if not exists blobs (id text primary key, data blob)")
    connection.execute("create table if not exists meta (key text primary key, value text)")
    connection.executemany("insert or replace into blobs values (?, ?)", blobs.items())
    connection.execute(
        "insert or replace into meta values ('0', ?)", (json.dumps(about).encode().hex(),)
    )
    connection.close()
    return path


def store_of(home: Path, chat: str = CHAT, folder: str = FOLDER) -> Path:
    """Where the command line keeps a chat."""
    return (
        home
        / ".cursor"
        / "chats"
        / md5(folder.encode(), usedforsecurity=False).hexdigest()
        / chat
        / "store.db"
    )


# Transcripts


def line(role: str, *parts: Any) -> str:
    """A line of a transcript; a part that is a text is a text part."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return json.dumps({"role": role, "message": {"content": content}}) + "\n"


def query(text: str) -> str:
    """Words as they stand in a prompt."""
    return f"<user_query>\n{text}\n</user_query>"


def used(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A part of a line: a tool call."""
    return {"type": "tool_use", "name": name, "input": arguments}


def transcript_of(home: Path, chat: str = CHAT, slug: str = "home-ada-shop") -> Path:
    """Where a chat's transcript lies."""
    path = home / ".cursor" / "projects" / slug / "agent-transcripts" / chat / f"{chat}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
