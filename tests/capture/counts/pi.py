"""Pi: each answer tells what it took.

A fork holds copies of its parent's answers, with the same time and figures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

FIGURES = ("input", "cacheRead", "cacheWrite", "output")


def tokens(folder: Path) -> Tokens:
    """The tokens of all sessions below a folder."""
    answers = {answer for log in folder.rglob("*.jsonl") for answer in answers_in(log)}
    sums = [sum(answer[1 + place] for answer in answers) for place in range(len(FIGURES))]
    return Tokens(input=sums[0], cache_read=sums[1], cache_write=sums[2], output=sums[3])


def answers_in(log: Path) -> set[tuple[Any, ...]]:
    """Time and figures of every answer in a session; none in a file that is no session."""
    records = [record for line in log.read_bytes().splitlines() if (record := decoded(line))]
    if not any(record.get("type") == "session" for record in records[:2]):
        return set()
    found = set()
    for record in records:
        message = record.get("message")
        if (
            isinstance(message, dict)
            and message.get("role") == "assistant"
            and isinstance(message.get("usage"), dict)
        ):
            at = message.get("timestamp") or record.get("timestamp")
            found.add((at, *(message["usage"].get(name, 0) for name in FIGURES)))
    return found


def decoded(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
