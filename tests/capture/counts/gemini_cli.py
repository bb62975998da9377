"""Gemini CLI's tokens, counted from the files alone.

Each message of the model has the figures of one call: `input` includes
`cached`, `thoughts` are beside `output`, `tool` beside `input`. A message that
comes again in a log replaces the one before; a `$set` of messages only brings
those that were not there. The same message of a session may be in several
files, and sub-agents have a session of their own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens


def tokens(folder: Path) -> Tokens:
    calls: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted(folder.rglob("*.json*")):
        session, messages = _chat(path)
        if session is not None:
            parent = path.parent.name if path.parent.parent.name == "chats" else ""
            calls |= {
                (f"{parent}/{session}", ident): message for ident, message in messages.items()
            }
    total = Tokens()
    for message in calls.values():
        told = message.get("tokens")
        if message.get("type") in ("gemini", "model") and isinstance(told, dict):
            count = {
                name: value if isinstance(value, int) and value > 0 else 0
                for name, value in told.items()
            }
            total.input += max(
                0, count.get("input", 0) + count.get("tool", 0) - count.get("cached", 0)
            )
            total.cache_read += count.get("cached", 0)
            total.output += count.get("output", 0) + count.get("thoughts", 0)
            total.reasoning += count.get("thoughts", 0)
    return total


def _chat(path: Path) -> tuple[str | None, dict[str, dict[str, Any]]]:
    """The session of a file and its messages by id; no session when it is no chat."""
    text = path.read_text(encoding="utf-8", errors="replace")
    session, messages = None, {}
    for record in (
        [_parsed(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else [_parsed(text)]
    ):
        if not isinstance(record, dict):
            continue
        session = record.get("sessionId") or session
        if isinstance(record.get("id"), str):
            messages[record["id"]] = record
        for message in [
            *(record.get("messages") or []),
            *(record.get("$set", {}).get("messages") or []),
        ]:
            messages.setdefault(message["id"], message)
    return session, messages


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
