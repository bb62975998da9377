"""Qwen Code's tokens, counted from the files alone.

An assistant's record has the figures of one call. The prompt's count includes
what was cached; thoughts are part of the answer's count when the total is
prompt and answer, and come on top of it otherwise. Records with the same
`uuid`, in one file or in a fork, are one call. What telemetry says is a
repetition. A document of 2025 has the same figures under other names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

_NAMES = {
    "promptTokenCount": "input",
    "cachedContentTokenCount": "cached",
    "candidatesTokenCount": "output",
    "thoughtsTokenCount": "thoughts",
    "totalTokenCount": "total",
}


def tokens(folder: Path) -> Tokens:
    calls: dict[str, dict[str, int]] = {}
    for path in folder.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").replace('}{"uuid"', '}\n{"uuid"').splitlines():
            record = _parsed(line)
            if (
                isinstance(record, dict)
                and record.get("type") == "assistant"
                and record.get("usageMetadata")
            ):
                told = {
                    ours: record["usageMetadata"].get(theirs) for theirs, ours in _NAMES.items()
                }
                calls[record["uuid"]] = _counts(told)
    for path in folder.rglob("session-*.json"):
        chat = _parsed(path.read_text(encoding="utf-8"))
        for message in chat["messages"]:
            if message.get("tokens"):
                calls[f"{chat['sessionId']}/{message['id']}"] = _counts(message["tokens"])
    total = Tokens()
    for call in calls.values():
        apart = call["total"] != call["input"] + call["output"]
        total.input += max(0, call["input"] - call["cached"])
        total.cache_read += call["cached"]
        total.output += call["output"] + (call["thoughts"] if apart else 0)
        total.reasoning += call["thoughts"]
    return total


def _counts(told: dict[str, Any]) -> dict[str, int]:
    return {
        name: told[name] if isinstance(told.get(name), int) and told[name] > 0 else 0
        for name in _NAMES.values()
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
