"""Kimi: a step's tokens stand in a status update (CLI) or a usage record (Code).

Forks hold copies with the same time.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

Step = tuple[Any, ...]


def tokens(folder: Path) -> Tokens:
    """The tokens of all sessions below a folder."""
    steps: set[Step] = set()
    for log in folder.rglob("*.jsonl"):
        for line in log.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                steps |= steps_in(record, log)
    sums = [sum(step[place] for step in steps) for place in range(4)]
    return Tokens(input=sums[0], cache_read=sums[1], cache_write=sums[2], output=sums[3])


def steps_in(record: dict[str, Any], log: Path) -> set[Step]:
    """What a line says that a step took."""
    if record.get("type") == "usage.record":
        usage = record["usage"]
        names = ("inputOther", "inputCacheRead", "inputCacheCreation", "output")
        return {(*(usage[name] for name in names), record.get("time"))}
    message = record.get("message")
    if not isinstance(message, dict) or not isinstance(payload := message.get("payload"), dict):
        return set()
    if message.get("type") == "SubagentEvent":
        # Told again, and then only there, in the sub-agent's own log.
        if (log.parent / "subagents" / str(payload.get("agent_id")) / "wire.jsonl").exists():
            return set()
        message, payload = payload["event"], payload["event"].get("payload", {})
    usage = payload.get("token_usage") if message.get("type") == "StatusUpdate" else None
    if not usage:
        return set()
    names = ("input_other", "input_cache_read", "input_cache_creation", "output")
    return {(*(usage[name] for name in names), record.get("timestamp"), payload.get("message_id"))}
