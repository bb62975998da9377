"""The tokens in chats of VS Code and in traces of Visual Studio, counted from the
facts in docs/formats/vscode-copilot-chat.md.

Each request tells totals for each model, or else one pair of figures, in its
result or beside it. In an operation log the last value that was set is the one
that counts, also for a request that was taken back later. In a trace each span
of a model call tells its own; one that was written down twice counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

# Read, read from the cache, written to it, answered, and thought of that.
Figures = tuple[int, int, int, int, int]
SPAN = (
    "input_tokens",
    "cache_read.input_tokens",
    "cache_creation.input_tokens",
    "output_tokens",
    "reasoning.output_tokens",
)


def tokens(folder: Path) -> Tokens:
    """Everything below a folder; a request or a span that is in two files is counted once."""
    used: dict[str, Figures] = {}
    for path in sorted(folder.rglob("*.json*")):
        if path.name == "workspace.json" or path.suffix not in (".json", ".jsonl"):
            continue
        for key, figures in traced(path) if "_traces" in path.name else asked(path):
            known = used.get(key, figures)
            read, cached, kept, answered, thought = map(max, figures, known)
            used[key] = (read, cached, kept, answered, thought)
    read, cached, kept, answered, thought = (
        sum(one[place] for one in used.values()) for place in range(5)
    )
    return Tokens(
        input=read, cache_read=cached, cache_write=kept, output=answered, reasoning=thought
    )


def asked(path: Path) -> Iterator[tuple[str, Figures]]:
    """What the requests of a chat tell."""
    for number, request in enumerate(replayed(path) if path.suffix == ".jsonl" else document(path)):
        key = (
            request.get("requestId")
            if isinstance(request.get("requestId"), str)
            else f"{path}/{number}"
        )
        totals = objects(request.get("modelTotals"))
        for place, total in enumerate(totals):
            cached = count(total.get("cachedTokens"))
            read = max(0, count(total.get("inputTokens")) - cached)
            yield f"{key} {place}", (read, cached, 0, count(total.get("outputTokens")), 0)
        if not totals:
            read, answered = pair(request)
            yield f"{key} 0", (read, 0, 0, answered, 0)


def traced(path: Path) -> Iterator[tuple[str, Figures]]:
    """What the spans of model calls tell; the larger attributes are those of the whole span."""
    best: dict[str, dict[str, Any]] = {}
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            batch = json.loads(line)
        except ValueError:
            continue
        resources = objects(fields(batch).get("resourceSpans"))
        for span in (
            one
            for source in resources
            for scope in objects(source.get("scopeSpans"))
            for one in objects(scope.get("spans"))
        ):
            about = {
                one.get("key"): next(iter(fields(one.get("value")).values()), None)
                for one in objects(span.get("attributes"))
            }
            if about.get("gen_ai.operation.name") == "chat" and len(about) >= len(
                best.get(str(span.get("spanId")), {})
            ):
                best[str(span.get("spanId"))] = about
    for name, about in best.items():
        read, cached, kept, answered, thought = (
            count(int(str(about.get(f"gen_ai.usage.{name}") or 0))) for name in SPAN
        )
        yield name, (max(0, read - cached - kept), cached, kept, answered, thought)


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
            ever = [
                request
                for request in ever
                if request.get("requestId") not in {one.get("requestId") for one in now}
            ] + now
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
    """What was read and written for a request: the largest of what several places say."""
    result = fields(request.get("result"))
    metadata = fields(result.get("metadata"))
    places = [fields(result.get("usage")), fields(request.get("usage")), request]
    read = [metadata.get("promptTokens"), *(place.get("promptTokens") for place in places)]
    answered = [metadata.get("outputTokens"), *(place.get("completionTokens") for place in places)]
    return max(map(count, read)), max(map(count, answered))


def objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def count(value: Any) -> int:
    return (
        int(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        else 0
    )
