"""Rows of a Droid session and its settings, with readable defaults.

Times run on by a second from row to row.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "7a000000-0000-4000-8000-00000000000a"
FOLDER = "-home-ada-shop"
START_MS = 1_777_600_000_000  # 2026-05-01T01:46:40Z


def iso(second: int) -> str:
    minute, second = divmod(40 + second, 60)
    return f"2026-05-01T01:{46 + minute:02}:{second:02}.000Z"


def start(session: str = SESSION, **more: Any) -> dict[str, Any]:
    known = {
        "title": "count the crates",
        "sessionTitle": "Crates",
        "owner": "ada",
        "version": 2,
        "cwd": "/home/ada/shop",
    }
    return {"type": "session_start", "id": session, **known, **more}


def message(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    """A message; plain texts become parts of it."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def user(*parts: Any, **more: Any) -> dict[str, Any]:
    return message("user", *(parts or ("count the crates",)), **more)


def assistant(*parts: Any, **more: Any) -> dict[str, Any]:
    return message("assistant", *(parts or ("There are two.",)), **more)


def call(name: str = "Execute", call_id: str = "call_1", **given: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": given or {"command": "ls crates"},
    }


def result(content: Any = "one\ntwo", call_id: str = "call_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def settings(**more: Any) -> dict[str, Any]:
    usage = {
        "inputTokens": 100,
        "outputTokens": 50,
        "cacheCreationTokens": 10,
        "cacheReadTokens": 1000,
        "thinkingTokens": 20,
    }
    known = {
        "model": "claude-opus-4-5",
        "reasoningEffort": "high",
        "autonomyMode": "auto-high",
        "tokenUsage": usage,
    }
    return {"assistantActiveTimeMs": 60_000, **known, **more}


def rows(*given: dict[str, Any]) -> str:
    """A log of these rows, with ids and times for messages that have none."""
    made = []
    for number, row in enumerate(given):
        told = (
            {} if row["type"] == "session_start" else {"id": f"m{number}", "timestamp": iso(number)}
        )
        made.append(json.dumps({**told, **row}, separators=(",", ":"), ensure_ascii=False) + "\n")
    return "".join(made)


def log(
    root: Path, *given: dict[str, Any], session: str = SESSION, beside: dict[str, Any] | None = None
) -> Path:
    path = root / "sessions" / FOLDER / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rows(*given), encoding="utf-8")
    if beside is not None:
        path.with_name(f"{session}.settings.json").write_text(
            json.dumps(beside, indent=2), encoding="utf-8"
        )
    return path
