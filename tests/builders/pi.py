"""Entries of a Pi session, with readable defaults.

Ids count up, and each entry hangs on the one before unless a test says
otherwise; times run on by a second from entry to entry.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "5f0d6a40-1111-4222-8333-444455556666"
START_MS = 1_771_236_000_000  # 2026-02-16T10:00:00Z
FILE = f"2026-02-16T10-00-00-000Z_{SESSION}.jsonl"


def at(second: int) -> int:
    """A time on the morning of all tests."""
    return START_MS + 1000 * second


def iso(second: int) -> str:
    return f"2026-02-16T10:{second // 60:02}:{second % 60:02}.000Z"


def header(session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "type": "session",
        "version": 3,
        "id": session,
        "timestamp": iso(0),
        "cwd": "/home/ada/shop",
        **more,
    }


def entry(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def message(role: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return entry(
        "message",
        message={"role": role, **({} if content is None else {"content": content}), **more},
    )


def user(text: str = "count the crates") -> dict[str, Any]:
    return message("user", [{"type": "text", "text": text}])


def assistant(
    *parts: dict[str, Any] | str, usage: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """An answer; plain texts are what it says."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    known = {
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "usage": usage or spent(),
        "stopReason": "stop",
    }
    return message("assistant", content, **{**known, **more})


def spent(
    input: int = 10, output: int = 5, read: int = 100, written: int = 20, cost: float = 0.01
) -> dict[str, Any]:
    return {
        "input": input,
        "output": output,
        "cacheRead": read,
        "cacheWrite": written,
        "cost": {"total": cost},
    }


def thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "thinkingSignature": "c2ln"}


def call(name: str = "bash", call_id: str = "toolu_1", **arguments: Any) -> dict[str, Any]:
    return {
        "type": "toolCall",
        "id": call_id,
        "name": name,
        "arguments": arguments or {"command": "ls crates"},
    }


def result(
    text: str = "one\ntwo", call_id: str = "toolu_1", *, failed: bool = False, name: str = "bash"
) -> dict[str, Any]:
    return message(
        "toolResult",
        [{"type": "text", "text": text}],
        toolCallId=call_id,
        toolName=name,
        isError=failed,
    )


def linked(
    *entries: dict[str, Any], first: int = 1, after: str | None = None
) -> list[dict[str, Any]]:
    """Entries with ids, parents and times. An entry may name its own `parentId`."""
    made = []
    parent = after
    for number, given in enumerate(entries, first):
        own = f"{number:08x}"
        full = {
            "type": given["type"],
            "id": own,
            "parentId": parent,
            "timestamp": iso(number),
            **given,
        }
        if isinstance(full.get("message"), dict):
            full["message"] = {**full["message"], "timestamp": at(number)}
        made.append(full)
        parent = own
    return made


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(
        json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n" for record in records
    )


def log(folder: Path, records: list[dict[str, Any]], name: str = FILE) -> Path:
    path = folder / "sessions" / "--home-ada-shop--" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(records), encoding="utf-8")
    return path
