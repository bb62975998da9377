"""Droid: the file beside a session has its totals; a session without a word in it is none."""

from __future__ import annotations

import json
from pathlib import Path

from recollect.model.sessions import Tokens


def tokens(folder: Path) -> Tokens:
    """The tokens of all sessions below a folder."""
    total = Tokens()
    for settings in folder.rglob("*.settings.json"):
        log = settings.with_name(settings.name.removesuffix(".settings.json") + ".jsonl")
        if not log.exists() or b'"type":"message"' not in log.read_bytes().replace(b" ", b""):
            continue
        try:
            usage = json.loads(settings.read_bytes()).get("tokenUsage", {})
        except ValueError:
            continue
        thinking = usage.get("thinkingTokens", 0)
        total.input += usage.get("inputTokens", 0)
        total.cache_read += usage.get("cacheReadTokens", 0)
        total.cache_write += usage.get("cacheCreationTokens", 0)
        total.output += max(usage.get("outputTokens", 0), thinking)
        total.reasoning += thinking
    return total
