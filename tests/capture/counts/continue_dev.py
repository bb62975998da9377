"""The tokens in Continue's sessions, by what is known of the format alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens


def tokens(folder: Path) -> Tokens:
    """All tokens below a folder: those of the messages, or of a
    session whose messages tell none.
    """
    total = Tokens()
    for path in sorted(folder.rglob("*.json")):
        try:
            session = json.loads(path.read_text())
        except ValueError:
            continue
        if path.name == "sessions.json" or not isinstance(session, dict):
            continue
        usages = [usage for item in session.get("history", []) if (usage := _usage(item))]
        for usage in usages or [session.get("usage") or {}]:
            _add(total, usage)
    return total


def _usage(item: Any) -> dict[str, Any] | None:
    message = item.get("message") if isinstance(item, dict) else None
    return message.get("usage") if isinstance(message, dict) else None


def _add(total: Tokens, usage: dict[str, Any]) -> None:
    details = usage.get("promptTokensDetails", {})
    read, written = details.get("cachedTokens", 0), details.get("cacheWriteTokens", 0)
    total.input += usage.get("promptTokens", 0) - read - written
    total.cache_read += read
    total.cache_write += written
    total.output += usage.get("completionTokens", 0)
    total.reasoning += usage.get("completionTokensDetails", {}).get("reasoningTokens", 0)
