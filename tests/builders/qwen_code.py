"""Sessions of Qwen Code, record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]

SESSION = "7a3d5b20-0000-4000-8000-000000000001"
FOLDER = "/home/ada/shop"
VERSION = "0.21.13"


def clock(second: int) -> str:
    return f"2026-08-03T10:{second // 60:02}:{second % 60:02}.000Z"


def record(kind: str, uuid: str, parent: str | None, second: int = 1, **more: Any) -> Record:
    return {
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "timestamp": clock(second),
        "type": kind,
        "cwd": FOLDER,
        "version": VERSION,
        **more,
    }


def user(uuid: str, text: str, parent: str | None = None, second: int = 1, **more: Any) -> Record:
    return record(
        "user", uuid, parent, second, message={"role": "user", "parts": [{"text": text}]}, **more
    )


def answer(uuid: str, parent: str | None, *parts: Any, second: int = 2, **more: Any) -> Record:
    said = [{"text": part} if isinstance(part, str) else part for part in parts]
    return record(
        "assistant",
        uuid,
        parent,
        second,
        model="qwen3-coder-plus",
        message={"role": "model", "parts": said},
        **more,
    )


def call(ident: str, name: str, arguments: Any) -> Record:
    return {"functionCall": {"id": ident, "name": name, "args": arguments}}


def result(
    uuid: str,
    parent: str | None,
    ident: str,
    name: str,
    response: Any,
    *,
    second: int = 3,
    **told: Any,
) -> Record:
    message = {
        "role": "user",
        "parts": [{"functionResponse": {"id": ident, "name": name, "response": response}}],
    }
    return record(
        "tool_result",
        uuid,
        parent,
        second,
        message=message,
        toolCallResult={"callId": ident, **told},
    )


def system(
    uuid: str, parent: str | None, subtype: str, payload: Any = None, second: int = 4, **more: Any
) -> Record:
    return record("system", uuid, parent, second, subtype=subtype, systemPayload=payload, **more)


def used(
    prompt: int, output: int, *, cached: int = 0, thoughts: int = 0, total: int | None = None
) -> Record:
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": output,
        "cachedContentTokenCount": cached,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": prompt + output if total is None else total,
    }


def lines(*records: Record) -> str:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def log(home: Path, *records: Record, name: str = SESSION) -> Path:
    """A session in the place where the agent keeps it."""
    path = home / ".qwen" / "projects" / "-home-ada-shop" / "chats" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(*records))
    return path
