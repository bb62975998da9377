"""The tokens in the tasks of Cline and Roo and in Cline's sessions, by
what is known of the formats alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

_TELLING = ("api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage")


def tokens(folder: Path) -> Tokens:
    """All tokens below a folder."""
    total = Tokens()
    for path in sorted([*folder.rglob("ui_messages.json"), *folder.rglob("claude_messages.json")]):
        _add_task(total, _read(path) or [])
    copied: set[tuple[str, int]] = set()
    for path in sorted(folder.rglob("*.messages.json")):
        for message in _read(path)["messages"]:
            known = (message["id"], message["ts"])
            # A fork repeats what is before it.
            if known not in copied and "metrics" in message:
                copied.add(known)
                _add_message(total, message["metrics"])
    return total


def _add_task(total: Tokens, messages: list[Any]) -> None:
    for message in messages:
        if not isinstance(message, dict) or message.get("say") not in _TELLING:
            continue
        told = json.loads(message["text"])
        if not isinstance(told, dict):
            continue
        read, written, given = (
            told.get("cacheReads", 0),
            told.get("cacheWrites", 0),
            told.get("tokensIn", 0),
        )
        # Roo tells input with what came from the cache, where it says which protocol it spoke.
        total.input += (
            given - read - written if "apiProtocol" in told and read + written <= given else given
        )
        total.cache_read += read
        total.cache_write += written
        total.output += told.get("tokensOut", 0)


def _add_message(total: Tokens, metrics: dict[str, Any]) -> None:
    read, written = metrics.get("cacheReadTokens", 0), metrics.get("cacheWriteTokens", 0)
    total.input += metrics.get("inputTokens", 0) - read - written
    total.cache_read += read
    total.cache_write += written
    total.output += metrics.get("outputTokens", 0)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None
