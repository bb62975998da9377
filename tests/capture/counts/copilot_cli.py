"""The tokens in logs of Copilot CLI, counted from the facts in docs/formats/copilot-cli.md.

A run of the program (what stands up to a shutdown) has used what its shutdown
tells, or what its calls tell where that is more or there is no shutdown; before
calls had records, what its messages tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

Counts = dict[str, int]
NAMES = ("input", "cache_read", "cache_write", "output", "reasoning")


def tokens(folder: Path) -> Tokens:
    """Everything below a folder; a copied event is counted once."""
    told: dict[str, Counts] = {}
    folders = {path.parent.name for path in folder.rglob("events.jsonl")}
    for path in sorted(folder.rglob("*.jsonl")):
        # A session in a folder was a flat file before.
        if path.name == "events.jsonl" or path.stem not in folders:
            for key, counts in calls(list(events(path))):
                known = told.setdefault(key, dict.fromkeys(NAMES, 0))
                told[key] = {name: max(known[name], counts[name]) for name in NAMES}
    return Tokens(**{name: sum(counts[name] for counts in told.values()) for name in NAMES})


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a log with an object for their data; a line that is none is not there."""
    for line in path.read_bytes().split(b"\n"):
        try:
            event = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if (
            isinstance(event, dict)
            and isinstance(event.get("type"), str)
            and isinstance(event.get("data"), dict)
        ):
            yield event


def calls(log: list[dict[str, Any]]) -> Iterator[tuple[str, Counts]]:
    """What each call or message tells, and what each shutdown tells beyond those before it."""
    said: dict[str, Counts] = {}
    recorded = False
    last: Counts = dict.fromkeys(NAMES, 0)
    for event in log:
        data = event["data"]
        if event["type"] == "session.usage_record" and isinstance(data.get("usage"), dict):
            accounting = data["usage"].get("accounting") or {}
            key = f"{accounting.get('sourceSessionId')}/{accounting.get('sequence')}"
            said[key] = figures(data["usage"])
            recorded = True
            yield key, said[key]
        elif recorded and event["type"] in ("assistant.message", "session.compaction_complete"):
            continue
        elif event["type"] == "assistant.message" and number(data.get("outputTokens")):
            key = str(
                data.get("apiCallId")
                if "chunkCount" in data
                else data.get("messageId") or event.get("id")
            )
            said[key] = dict.fromkeys(NAMES, 0) | {"output": number(data["outputTokens"])}
            yield key, said[key]
        elif event["type"] == "session.compaction_complete" and data.get("success") is not False:
            key = f"{event.get('id')}/compaction"
            said[key] = figures(data.get("compactionTokensUsed"))
            yield key, said[key]
        elif event["type"] == "session.shutdown" and any((total := of_all_models(data)).values()):
            spoken = {name: sum(counts[name] for counts in said.values()) for name in NAMES}
            carried = (
                all(total[name] >= last[name] for name in NAMES)
                and total["output"] >= last["output"] + spoken["output"]
            )
            spent = {name: total[name] - (last[name] if carried else 0) for name in NAMES}
            yield (
                f"{event.get('id')}/shutdown",
                {name: max(0, spent[name] - spoken[name]) for name in NAMES},
            )
            said, last, recorded = {}, total, False


def of_all_models(data: dict[str, Any]) -> Counts:
    models = data.get("modelMetrics")
    used = (
        [figures(metric.get("usage")) for metric in models.values()]
        if isinstance(models, dict)
        else []
    )
    return {name: sum(counts[name] for counts in used) for name in NAMES}


def figures(usage: Any) -> Counts:
    """The input has the cached tokens in it."""
    usage = usage if isinstance(usage, dict) else {}
    read, write = number(usage.get("cacheReadTokens")), number(usage.get("cacheWriteTokens"))
    uncached = max(0, number(usage.get("inputTokens")) - read - write)
    output, reasoning = number(usage.get("outputTokens")), number(usage.get("reasoningTokens"))
    return dict(zip(NAMES, (uncached, read, write, output, reasoning), strict=True))


def number(value: Any) -> int:
    return (
        int(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        else 0
    )
