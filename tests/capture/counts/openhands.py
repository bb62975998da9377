"""The tokens in OpenHands' logs, by what is known of the format alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

Counts = tuple[int, int, int, int, int]
_FIELDS = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def tokens(folder: Path) -> Tokens:
    """All tokens below a folder."""
    found: dict[str, Counts] = {}
    for path in sorted(folder.rglob("base_state.json")):
        for key, counts in _of_statistics(path):
            found[key] = tuple(map(max, found.get(key, (0, 0, 0, 0, 0)), counts))  # type: ignore[assignment]
    for session, events in _old(folder):
        known = {key for key in found if key.startswith(f"{session}/")}
        found |= {key: counts for key, counts in _of_events(session, events) if key not in known}
    total = Tokens()
    for prompt, completion, read, written, reasoning in found.values():
        total.input += prompt - read - written if read + written <= prompt else prompt
        total.cache_read += read
        total.cache_write += written
        total.output += completion
        total.reasoning += reasoning
    return total


def _of_statistics(path: Path) -> Iterator[tuple[str, Counts]]:
    statistics = json.loads(path.read_text())["stats"] or {}
    if not statistics.get("usage_to_metrics"):
        # Then they stand in the events alone.
        for event in sorted((path.parent / "events").glob("*.json")):
            record = _read(event) or {}
            statistics = record["value"] if record.get("key") == "stats" else statistics
    for purpose, metrics in statistics.get("usage_to_metrics", {}).items():
        listed = [0] * 5
        for usage in metrics.get("token_usages", []):
            counts = _counts(usage)
            listed = [one + other for one, other in zip(listed, counts, strict=True)]
            yield usage["response_id"], counts
        # What a sub-agent used is in its own folder too.
        if not purpose.startswith(("task:", "delegate:")):
            whole = _counts(metrics["accumulated_token_usage"])
            yield (
                f"{path.parent}/{purpose}",
                tuple(a - b for a, b in zip(whole, listed, strict=True)),
            )  # type: ignore[misc]


def _old(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    """Conversations of version 0: folders of events first, which tell more than exports of them."""
    for events in sorted(folder.rglob("events")):
        if not (events.parent / "base_state.json").exists():
            files = sorted(events.glob("*.json"), key=lambda path: int(path.stem))
            yield events.parent.name, [_read(path) for path in files]
    for path in sorted(folder.rglob("trajectory-*.json")):
        yield path.stem.removeprefix("trajectory-"), json.loads(path.read_text())
    for path in sorted(folder.rglob("output.jsonl")):
        for line in path.read_text().splitlines():
            run = json.loads(line)
            flat = [
                event
                for entry in run["history"] or []
                for event in (entry if isinstance(entry, list) else [entry])
            ]
            yield f"{path}:{run['instance_id']}", flat


def _of_events(session: str, events: list[Any]) -> Iterator[tuple[str, Counts]]:
    before: Counts = (0, 0, 0, 0, 0)
    responses = set()
    for event in events:
        if not event or "action" not in event:
            continue
        now = _counts(event.get("llm_metrics", {}).get("accumulated_token_usage", {}))
        response = event.get("tool_call_metadata", {}).get("model_response", {})
        if any(now):
            yield f"{session}/{event['id']}", tuple(a - b for a, b in zip(now, before, strict=True))  # type: ignore[misc]
            before = now
        elif response and response["id"] not in responses and not any(before):
            responses.add(response["id"])
            usage = response["usage"]
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            yield (
                f"{session}/{event['id']}",
                (usage["prompt_tokens"], usage["completion_tokens"], cached, 0, 0),
            )


def _counts(usage: dict[str, Any]) -> Counts:
    return tuple(usage.get(field) or 0 for field in _FIELDS)  # type: ignore[return-value]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None
