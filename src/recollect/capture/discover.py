"""Which logs there are: in the places agents use, and wherever a person points.

A path may be an agent's root, a home (this user's or a copy of somebody
else's), a folder with logs anywhere below it, or one file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from recollect.capture.adapters import Adapter
from recollect.errors import NotFound, UsageError
from recollect.model import Source

_HEAD_BYTES = 1 << 16
# How deep below a folder that is no known root we look for logs.
_DEPTH = 12


class Found(NamedTuple):
    """A source with the adapter that reads it; `local` when its folders are those of this machine."""

    adapter: Adapter
    source: Source
    local: bool


def at_home(adapters: Iterable[Adapter], home: str, environ: Mapping[str, str]) -> Iterator[Found]:
    """Every log in the places where agents of this user leave them."""
    for adapter in adapters:
        for root in _distinct(adapter.roots(home, environ)):
            for source in adapter.sources(root):
                yield Found(adapter, source, True)


def everywhere(adapters: list[Adapter], home: str, environ: Mapping[str, str], extra: list[str]) -> Iterator[Found]:
    """The logs at home, and those below the extra folders that the settings name."""
    yield from at_home(adapters, home, environ)
    for path in extra:
        path = os.path.expanduser(path)
        if os.path.lexists(path):
            yield from below(adapters, path)


def below(adapters: list[Adapter], path: str, known_agent: Callable[[str], str | None] = lambda path: None) -> Iterator[Found]:
    """Every log at or below a path that a person named.

    `known_agent` tells whose log a file was the last time, so that a growing
    one need not be recognised at every step.
    """
    path = os.path.abspath(path)
    if not os.path.lexists(path):
        raise NotFound(f"{path} does not exist", hint="give a log file, an agent's folder or a home folder")
    if not os.path.isdir(path):
        yield _file(adapters, path, known_agent(path))
        return
    # In a home only the agents' own folders count: what a person keeps in
    # ~/projects is not a log because Claude Code has a folder of that name.
    roots = {adapter.agent: list(_distinct(adapter.roots(path, {}))) for adapter in adapters}
    home = any(roots.values())
    seen: set[str] = set()
    lacking = []
    for adapter in adapters:
        before = len(seen)
        for root in roots[adapter.agent] if home else [path]:
            for source in adapter.sources(root):
                if source.path not in seen:
                    seen.add(source.path)
                    yield Found(adapter, source, False)
        if len(seen) == before:
            lacking.append(adapter)
    if not home:
        yield from _strays(lacking, path, seen)


def excluded(found: Iterable[Found], patterns: list[str]) -> Iterator[Found]:
    """What is left when the user's patterns have taken theirs."""
    for item in found:
        if not any(fnmatchcase(item.source.path, pattern) for pattern in patterns):
            yield item


def _file(adapters: list[Adapter], path: str, agent: str | None) -> Found:
    adapter = next((one for one in adapters if one.agent == agent), None) or _recognise(adapters, path)
    if adapter is None:
        known = ", ".join(adapter.agent for adapter in adapters)
        raise UsageError(f"{path} is not a log of any agent we know", hint=f"supported: {known}")
    return Found(adapter, _source(adapter, path), False)


def _source(adapter: Adapter, path: str) -> Source:
    # Only lines are appended; a document or an archive is written anew.
    return Source(adapter.agent, os.path.abspath(path), appended=path.endswith(".jsonl"))


def _strays(adapters: list[Adapter], top: str, seen: set[str]) -> Iterator[Found]:
    """Logs outside any root, told by their content."""
    base = top.rstrip(os.sep).count(os.sep)
    for folder, folders, names in os.walk(top):
        if folder.count(os.sep) - base >= _DEPTH:
            folders.clear()
        folders.sort()
        for name in sorted(names):
            if name.endswith((".jsonl", ".json", ".zst")):
                path = os.path.join(folder, name)
                adapter = _recognise(adapters, path) if path not in seen else None
                if adapter is not None:
                    yield Found(adapter, _source(adapter, path), False)


def _recognise(adapters: list[Adapter], path: str) -> Adapter | None:
    head = _head(path)
    return next((adapter for adapter in adapters if adapter.recognises(path, head)), None)


def _head(path: str) -> bytes:
    from recollect.capture.lines import Unreadable, open_log

    try:
        descriptor = open_log(path)
    except Unreadable:
        return b""
    try:
        return os.read(descriptor, _HEAD_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _distinct(roots: list[str]) -> Iterator[str]:
    """Roots that exist, each once even when links lead to it twice."""
    seen: set[str] = set()
    for root in roots:
        real = os.path.realpath(root)
        if real not in seen and os.path.isdir(real):
            seen.add(real)
            yield root
