"""Amp: each answer of a thread tells what it took.

An OpenAI model has its new input where others have what they cached.
"""

from __future__ import annotations

import json
from pathlib import Path

from recollect.model.sessions import Tokens


def tokens(folder: Path) -> Tokens:
    """The tokens of all threads below a folder, each thread once."""
    total = Tokens()
    seen = set()
    # The extension's old folder comes after the one that all clients share.
    for path in sorted(folder.rglob("T-*.json"), key=lambda path: path.parent.name == "threads3"):
        try:
            thread = json.loads(path.read_bytes())
        except ValueError:
            continue
        if thread["id"] in seen:
            continue
        seen.add(thread["id"])
        for message in thread["messages"]:
            usage = message.get("usage") or {}
            is_openai = usage.get("model", "").startswith(("gpt", "o3", "openai"))
            total.input += usage.get("inputTokens", 0)
            total.cache_read += usage.get("cacheReadInputTokens", 0)
            total.output += usage.get("outputTokens", 0)
            written = usage.get("cacheCreationInputTokens", 0)
            if is_openai:
                total.input += written
            else:
                total.cache_write += written
    return total
