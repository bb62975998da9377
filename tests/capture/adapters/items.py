"""What tests ask of the items that an adapter read, and files
that it should not take for its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.capture.adapters import Adapter
from recollect.model.logs import Event, Item, Liveness, Problem, TurnFacts, Usage


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str]]:
    """Events as (kind, text or target), in order."""
    return [
        (event.kind, event.target if event.kind == "tool_call" else event.text)
        for event in of(Event, found)
    ]


def prompts(found: list[Item]) -> list[str]:
    return [event.text for event in of(Event, found) if event.kind == "prompt"]


def authors(found: list[Item]) -> list[str]:
    return [facts.author for facts in of(TurnFacts, found) if facts.author]


def live_prompts(found: list[Item]) -> list[str]:
    """The prompts of the turns that are part of the conversation in the end."""
    live = {item.turn: item.live for item in of(Liveness, found)}
    return [
        event.text
        for event in of(Event, found)
        if event.kind == "prompt" and live.get(event.turn, True)
    ]


def spent(found: list[Item]) -> tuple[int, int, int, int, int]:
    """Tokens as a store adds them up, one of each key: input, read from and
    written to the cache, output, reasoning.
    """
    kept = {usage.key: usage for usage in of(Usage, found)}.values()
    names = ("input", "cache_read", "cache_write", "output", "reasoning")
    input, read, written, output, reasoning = (
        sum(getattr(usage, name) for usage in kept) for name in names
    )
    return input, read, written, output, reasoning


def troubles(found: list[Item]) -> list[tuple[str, str, int]]:
    return [(problem.kind, problem.reason, problem.count) for problem in of(Problem, found)]


def taken_from_others(adapter: Adapter, corpus: Path) -> Iterator[str]:
    """The samples of other agents that an adapter takes for its own."""
    for folder in sorted(corpus.iterdir()):
        for path in (
            sorted(folder.rglob("*")) if folder.is_dir() and folder.name != adapter.agent else ()
        ):
            if path.is_file() and path.name.endswith(adapter.endings):
                with path.open("rb") as file:
                    head = file.read(1 << 16)
                if adapter.find_source(str(path), head) is not None:
                    yield str(path.relative_to(corpus))
