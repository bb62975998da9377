"""Lines of a Codex rollout, with readable defaults.

A test says what it is about; times run on by a second from line to line when
a log is built with `rollout`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START = "2026-03-01T09:00:00.000Z"
THREAD = "019ca000-0000-7000-8000-000000000001"
PARENT = "019c0000-0000-7000-8000-000000000002"


def clock(second: int, millisecond: int = 0) -> str:
    """A time on the morning of all tests."""
    hour, minute = 9 + second // 3600, second // 60 % 60
    return f"2026-03-01T{hour:02}:{minute:02}:{second % 60:02}.{millisecond:03}Z"


def record(
    kind: str, payload: dict[str, Any], at: str | None = None, **more: Any
) -> dict[str, Any]:
    """An envelope."""
    return {"timestamp": at, "type": kind, "payload": payload, **more}


def meta(thread: str = THREAD, at: str | None = None, **more: Any) -> dict[str, Any]:
    """The first line of a session."""
    payload = {
        "id": thread,
        "timestamp": START,
        "cwd": "/home/kim/orchard",
        "originator": "codex_cli_rs",
        "cli_version": "0.63.0",
        "source": "cli",
        **more,
    }
    return record("session_meta", payload, at)


def event(kind: str, at: str | None = None, **payload: Any) -> dict[str, Any]:
    return record("event_msg", {"type": kind, **payload}, at)


def item(kind: str, at: str | None = None, **payload: Any) -> dict[str, Any]:
    return record("response_item", {"type": kind, **payload}, at)


def context(at: str | None = None, **payload: Any) -> dict[str, Any]:
    known = {
        "cwd": "/home/kim/orchard",
        "model": "gpt-5-codex",
        "effort": "high",
        "approval_policy": "never",
    }
    return record("turn_context", {**known, **payload}, at)


def user_item(*texts: str, at: str | None = None) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return item("message", at, role="user", content=content)


def user(text: str = "water the trees", at: str | None = None, **more: Any) -> dict[str, Any]:
    return record("event_msg", {"type": "user_message", "message": text, "images": [], **more}, at)


def assistant_item(text: str = "Done.", at: str | None = None) -> dict[str, Any]:
    return item("message", at, role="assistant", content=[{"type": "output_text", "text": text}])


def assistant(text: str = "Done.", at: str | None = None) -> dict[str, Any]:
    return event("agent_message", at, message=text)


def reasoning_item(*texts: str, at: str | None = None) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return item("reasoning", at, summary=summary, content=None, encrypted_content="gAAAAA==")


def call(
    name: str = "shell", call_id: str = "call_1", at: str | None = None, **arguments: Any
) -> dict[str, Any]:
    given = arguments or {"command": ["bash", "-lc", "ls orchard"]}
    return item("function_call", at, name=name, call_id=call_id, arguments=json.dumps(given))


def output(
    text: Any = "apple\npear", call_id: str = "call_1", at: str | None = None
) -> dict[str, Any]:
    return item("function_call_output", at, call_id=call_id, output=text)


def patch(text: str, call_id: str = "call_p", at: str | None = None) -> dict[str, Any]:
    return item(
        "custom_tool_call", at, name="apply_patch", call_id=call_id, input=text, status="completed"
    )


def usage(
    given: int, cached: int = 0, out: int = 0, reasoning: int = 0, **more: int
) -> dict[str, int]:
    return {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": out,
        "reasoning_output_tokens": reasoning,
        "total_tokens": given + out,
        **more,
    }


def tokens(
    total: dict[str, int] | None, last: dict[str, int] | None, at: str | None = None, **more: Any
) -> dict[str, Any]:
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 272000}
    return event("token_count", at, info=info if total or last else None, **more)


def completed(kind: str, at: str | None = None, turn: str = "t1", **fields: Any) -> dict[str, Any]:
    """A turn item of a paginated file."""
    return event(
        "item_completed", at, thread_id=THREAD, turn_id=turn, item={"type": kind, **fields}
    )


def turn_id(millisecond: int, number: int = 1) -> str:
    """A version 7 UUID made that many milliseconds after 1970."""
    stamp = f"{millisecond:012x}"
    return f"{stamp[:8]}-{stamp[8:]}-7000-8000-{number:012x}"


def lines(records: list[dict[str, Any]]) -> list[str]:
    """Records as they stand in a file.

    Those without a time follow a second after the one before.
    """
    found = []
    for second, entry in enumerate(records):
        timeless = "payload" in entry and entry.get("timestamp") is None
        stamped = {**entry, "timestamp": clock(second)} if timeless else entry
        found.append(json.dumps(stamped, separators=(",", ":"), ensure_ascii=False) + "\n")
    return found


def rollout(folder: Path, records: list[dict[str, Any]], thread: str = THREAD) -> Path:
    """A rollout file in a Codex home, under the date of all tests."""
    path = (
        folder / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T09-00-00-{thread}.jsonl"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines(records)))
    return path
