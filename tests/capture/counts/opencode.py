"""The tokens in OpenCode's logs, counted from what is known of the format and nothing else."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

# From the fifth of April 2026 on the output is without the reasoning.
CHANGED = 1_775_347_200_000


def tokens(folder: Path) -> Tokens:
    """Every message once, though it may be in a file and in a
    database, or be copied into a fork.
    """
    counted: dict[str, list[int]] = {}
    for key, figures in [*_in_databases(folder), *_in_files(folder)]:
        known = counted.get(key, [0] * 5)
        counted[key] = [max(pair) for pair in zip(known, figures, strict=True)]
    names = ("input", "cache_read", "cache_write", "output", "reasoning")
    sums = [sum(figures) for figures in zip(*counted.values(), strict=True)]
    return Tokens(**dict(zip(names, sums, strict=False)))


def _in_databases(folder: Path) -> Iterator[tuple[str, list[int]]]:
    for path in sorted(folder.rglob("opencode*.db")):
        connection = sqlite3.connect(path)
        places: dict[int, set[str]] = {}
        messages = connection.execute(
            "select m.id, m.session_id, m.time_created, m.data from message m join session s on "
            "s.id = m.session_id"
        )
        rows = [(key, session, at, _loaded(data)) for key, session, at, data in messages]
        for _, session, at, _ in rows:
            places.setdefault(at, set()).add(session)
        for key, _, at, data in rows:
            # The id of a copy is later than its time.
            is_copy = len(places[at]) > 1 and (int(key[4:16], 16) >> 12) - at % 2**36 > 1000
            if not is_copy:
                parts = [
                    _loaded(text)
                    for (text,) in connection.execute(
                        "select data from part where message_id = ?", (key,)
                    )
                ]
                yield key, _figures(data, parts)
        connection.close()


def _in_files(folder: Path) -> Iterator[tuple[str, list[int]]]:
    for path in sorted(folder.rglob("message/*/*.json")):
        data = _loaded(path.read_text())
        if "metadata" in data and "time" not in data:
            data |= data["metadata"].get("assistant", {}) | {"time": data["metadata"]["time"]}
        key = data.get("id", path.stem)
        storage = path.parents[2]
        parts = data.get("parts", [])
        for place in (storage / "part" / key, storage / "part" / path.parent.name / key):
            parts += [_loaded(part.read_text()) for part in place.glob("*.json")]
        if (
            any(path.parent.name in session.name for session in storage.rglob("session/*/*.json"))
            or (storage / "info").is_dir()
        ):
            yield key, _figures(data, parts)


def _figures(message: dict[str, Any], parts: list[dict[str, Any]]) -> list[int]:
    if message.get("role") != "assistant":
        return [0] * 5
    steps = [
        part["tokens"]
        for part in parts
        if part.get("type") == "step-finish" and isinstance(part.get("tokens"), dict)
    ]
    at = message.get("time", {}).get("created", 0)
    each = [_step(used, at) for used in steps or [message.get("tokens")] if isinstance(used, dict)]
    return [sum(figures) for figures in zip(*each, strict=True)] or [0] * 5


def _step(used: dict[str, Any], at: int) -> list[int]:
    cache = used.get("cache") or {}
    told = [
        used.get("input"),
        cache.get("read"),
        cache.get("write"),
        used.get("output"),
        used.get("reasoning"),
    ]
    figures = [figure if isinstance(figure, int) else 0 for figure in told]
    output, thought = figures[3:]
    total = used.get("total")
    apart = thought > output or (total >= sum(figures) if total else at >= CHANGED)
    return [*figures[:3], output + thought * apart, thought]


def _loaded(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
