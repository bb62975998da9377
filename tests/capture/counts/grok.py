"""The tokens in the sessions of Grok Build and in grok-cli's database, counted
from what docs/formats/grok.md says.

Each prompt has one bill, the last that is written. Not counted: a fork's copies
of its parent's bills, and within a bill what sub-agents spent that it started
and that finished before it, since their own sessions say so.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

FIELDS = (
    "inputTokens",
    "cachedReadTokens",
    "cacheCreationTokens",
    "outputTokens",
    "reasoningTokens",
)


def tokens(folder: Path) -> Tokens:
    """All tokens in all logs below a folder."""
    logs = {path.parent: _updates(path) for path in folder.rglob("updates.jsonl")}
    total: Counter[str] = Counter()
    for session, updates in logs.items():
        for prompt, bill in _bills(updates).items():
            if bill["at"] < _forked_at(session):
                continue
            counted = bill["spent"]
            for child in _started(session, updates, prompt):
                for other, lines in logs.items():
                    if other.name == child["child_session_id"]:
                        counted -= _spent_meanwhile(lines, child["at"], bill["at"])
            total += counted
    for path in folder.rglob("grok.db"):
        total += _rows(path)
    cached, written = total["cachedReadTokens"], total["cacheCreationTokens"]
    return Tokens(
        input=total["inputTokens"] - cached - written,
        cache_read=cached,
        cache_write=written,
        output=total["outputTokens"],
        reasoning=total["reasoningTokens"],
    )


def _updates(path: Path) -> list[dict[str, Any]]:
    """The updates of a file, each with its time."""
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            told = json.loads(line)
            params = told.get("params", told)
            at = params.get("_meta", {}).get("agentTimestampMs") or told["timestamp"] * 1000
            found.append({**params["update"], "at": at})
        except (ValueError, KeyError, AttributeError, TypeError):
            continue
    return found


def _bills(updates: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    bills = {}
    for update in updates:
        if update.get("sessionUpdate") == "turn_completed" and update.get("usage"):
            usage = update["usage"]
            rows = list(usage.get("modelUsage", {}).values()) or [usage]
            spent = Counter({name: sum(row.get(name, 0) for row in rows) for name in FIELDS})
            bills[update["prompt_id"]] = {"at": update["at"], "spent": spent}
    return bills


def _started(session: Path, updates: list[dict[str, Any]], prompt: str) -> list[dict[str, Any]]:
    return [
        update
        for update in updates
        if update.get("sessionUpdate") == "subagent_spawned"
        and update.get("parent_prompt_id") == prompt
        and (session / "subagents" / update["child_session_id"]).is_dir()
    ]


def _spent_meanwhile(updates: list[dict[str, Any]], since: int, until: int) -> Counter[str]:
    spent: Counter[str] = Counter()
    for bill in _bills(updates).values():
        if since <= bill["at"] <= until:
            spent += bill["spent"]
    return spent


def _forked_at(session: Path) -> float:
    try:
        told = json.loads((session / "summary.json").read_text())["forked_at"]
        return datetime.fromisoformat(told).timestamp() * 1000
    except (OSError, ValueError, KeyError):
        return 0


def _rows(path: Path) -> Counter[str]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    given, gave = connection.execute(
        "select sum(input_tokens), sum(output_tokens) from usage_events"
    ).fetchone()
    connection.close()
    return Counter({"inputTokens": given or 0, "outputTokens": gave or 0})
