"""The tokens in chats of VS Code, counted from the facts in docs/formats/vscode-copilot-chat.md.

Each request tells one pair of figures, in its result or beside it. In an
operation log the last value that was set is the one that counts, also for a
request that was taken back later.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.model import Tokens


def tokens(folder: Path) -> Tokens:
    """Everything below a folder; a request that is in two files is counted once."""
    used: dict[str, tuple[int, int]] = {}
    for path in sorted(folder.rglob("*.json*")):
        if path.name != "workspace.json" and path.suffix in (".json", ".jsonl"):
            for number, request in enumerate(replayed(path) if path.suffix == ".jsonl" else document(path)):
                key = request.get("requestId") if isinstance(request.get("requestId"), str) else f"{path}/{number}"
                read, written = pair(request)
                known = used.get(key, (0, 0))
                used[key] = (max(known[0], read), max(known[1], written))
    return Tokens(input=sum(read for read, _ in used.values()), output=sum(written for _, written in used.values()))


def document(path: Path) -> list[dict[str, Any]]:
    try:
        return objects(json.loads(path.read_text("utf-8", "replace")).get("requests"))
    except (ValueError, AttributeError):
        return []


def replayed(path: Path) -> list[dict[str, Any]]:
    """The requests of a log: those of the chat, and those that are no longer part of it."""
    now: list[dict[str, Any]] = []
    ever: list[dict[str, Any]] = []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict):
            continue
        place, value = entry.get("k"), entry.get("v")
        if entry.get("kind") == 0 and isinstance(value, dict):
            now = objects(value.get("requests"))
            ever = [request for request in ever if request.get("requestId") not in {one.get("requestId") for one in now}] + now
        elif entry.get("kind") == 2 and place == ["requests"]:
            now = now[: entry.get("i", len(now))] + objects(value)
            ever += objects(value)
        elif (
            entry.get("kind") == 1
            and isinstance(place, list)
            and len(place) == 3
            and place[0] == "requests"
            and place[1] < len(now)
        ):
            now[place[1]][place[2]] = value
    return ever


def pair(request: dict[str, Any]) -> tuple[int, int]:
    """What was read and written for a request."""
    metadata = fields(fields(request.get("result")).get("metadata"))
    usage = fields(request.get("usage"))
    read = count(metadata.get("promptTokens")) or count(usage.get("promptTokens"))
    written = (
        count(metadata.get("outputTokens")) or count(usage.get("completionTokens")) or count(request.get("completionTokens"))
    )
    return read, written


def objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else 0
