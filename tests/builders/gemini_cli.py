"""Chats of Gemini CLI, record by record."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

Record = dict[str, Any]

SESSION = "6f1c2a10-0000-4000-8000-000000000001"
FOLDER = "/home/ada/shop"
FOLDER_HASH = sha256(FOLDER.encode()).hexdigest()
START = "2026-05-04T08:00:00.000Z"


def clock(second: int) -> str:
    return f"2026-05-04T08:{second // 60:02}:{second % 60:02}.000Z"


def header(session: str = SESSION, **more: Any) -> Record:
    return {
        "sessionId": session,
        "projectHash": FOLDER_HASH,
        "startTime": START,
        "lastUpdated": START,
        "kind": "main",
        **more,
    }


def user(ident: str, content: Any, second: int = 1, **more: Any) -> Record:
    return {"id": ident, "timestamp": clock(second), "type": "user", "content": content, **more}


def answer(
    ident: str,
    content: Any,
    second: int = 2,
    *,
    model: str | None = "gemini-3-flash-preview",
    **more: Any,
) -> Record:
    named = {"model": model} if model else {}
    return {
        "id": ident,
        "timestamp": clock(second),
        "type": "gemini",
        "content": content,
        **named,
        **more,
    }


def call(
    ident: str,
    name: str,
    arguments: Any,
    output: str | None = None,
    *,
    status: str = "success",
    **more: Any,
) -> Record:
    result = [response(ident, name, output)] if output is not None else None
    return {
        "id": ident,
        "name": name,
        "args": arguments,
        "status": status,
        "result": result,
        **more,
    }


def response(ident: str, name: str, output: str) -> Record:
    return {"functionResponse": {"id": ident, "name": name, "response": {"output": output}}}


def tokens(given: int, output: int, *, cached: int = 0, thoughts: int = 0, tool: int = 0) -> Record:
    total = given + output + thoughts + tool
    return {
        "input": given,
        "output": output,
        "cached": cached,
        "thoughts": thoughts,
        "tool": tool,
        "total": total,
    }


def lines(*records: Record) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def log(root: Path, *records: Record, project: str = "shop") -> Path:
    """A log in the place where the agent keeps it."""
    path = root / "tmp" / project / "chats" / "session-2026-05-04T08-00-6f1c2a10.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(*records))
    return path


def document(root: Path, *messages: Record, **more: Any) -> Path:
    """A chat as it was written before there were logs."""
    path = root / "tmp" / FOLDER_HASH / "chats" / "session-2026-05-04T08-00-6f1c2a10.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**header(), "messages": list(messages), **more}))
    return path
