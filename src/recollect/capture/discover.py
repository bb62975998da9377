"""Which logs there are: in the places agents use, and wherever a person points.

A path may be an agent's root, a home (this user's or a copy of somebody
else's), a folder with logs anywhere below it, or one file.

A cloned repository can bring logs along, and they may say whatever somebody
wants us to believe of this person. So every log outside of the agents' own
places says in which project it lies (`in_project`), as far as it lies in one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from msgspec.structs import replace

from recollect.capture.adapters import Adapter, ProjectAdapter
from recollect.errors import NotFound, UsageError
from recollect.model.logs import Source
from recollect.system import git

# How deep below a folder that is no known root we look for logs.
_DEPTH = 12
# How deep in a project an agent may keep its log: .specstory/history/x.md.
_PROJECT_DEPTH = 3


class Found(NamedTuple):
    """A source with the adapter that reads it.

    `local` when its folders are those of this machine: it lies where agents of this
    user leave their logs, whoever named it.
    """

    adapter: Adapter
    source: Source
    local: bool


def at_home(adapters: Iterable[Adapter], home: str, environ: Mapping[str, str]) -> Iterator[Found]:
    """Every log in the places where agents of this user leave them."""
    for adapter in adapters:
        own = _own_roots(adapter, home, environ)
        for root in _distinct(adapter.roots(home, environ)):
            for source in adapter.sources(root):
                yield Found(adapter, source if root in own else _placed(adapter, source), True)


def everywhere(
    adapters: list[Adapter],
    home: str,
    environ: Mapping[str, str],
    extra: list[str],
    worked_in: Callable[[], Iterable[str]] = tuple,
) -> Iterator[Found]:
    """The logs at home, those that agents left in folders they `worked_in`, and those
    below the extra folders of the settings.
    """
    yield from at_home(adapters, home, environ)
    yield from in_projects(adapters, worked_in)
    for path in extra:
        path = os.path.expanduser(path)
        if os.path.lexists(path):
            yield from named(adapters, path, home, environ)


def named(
    adapters: list[Adapter],
    path: str,
    home: str,
    environ: Mapping[str, str],
    known_agent: Callable[[str], str | None] = lambda path: None,
    ours: Iterable[str] = (),
) -> Iterator[Found]:
    """Every log at or below a path that a person, or a hook, named.

    Those below the roots of this user are local: an import by path is no reason
    to take them for somebody else's. Who names a path says that it is to be
    read, not whose words are in it. `ours` are folders that came with us.
    """
    own = [
        os.path.realpath(root)
        for adapter in adapters
        for root in _distinct(_own_roots(adapter, home, environ))
    ]
    sound = [*own, *map(os.path.realpath, ours)]
    for item in below(adapters, path, known_agent):
        real = os.path.realpath(item.source.path)
        if not _is_below(real, sound):
            item = item._replace(source=_placed(item.adapter, item.source))
        yield item._replace(local=_is_below(real, own))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == one or path.startswith(os.path.join(one, "")) for one in folders)


def in_projects(adapters: list[Adapter], worked_in: Callable[[], Iterable[str]]) -> Iterator[Found]:
    """The logs that are in the folders of projects, of the agents that keep theirs there."""
    keeping = [adapter for adapter in adapters if isinstance(adapter, ProjectAdapter)]
    for folder in worked_in() if keeping else ():
        for adapter in keeping:
            for source in adapter.in_project(folder):
                yield Found(adapter, replace(source, in_project=os.path.realpath(folder)), True)


def _own_roots(adapter: Adapter, home: str, environ: Mapping[str, str]) -> list[str]:
    """The roots in which only the agent leaves anything: no project lies there."""
    if isinstance(adapter, ProjectAdapter):
        return adapter.own_roots(home, environ)
    return adapter.roots(home, environ)


def _placed(adapter: Adapter, source: Source) -> Source:
    """A source outside of the agents' own places, with the project that it lies in."""
    above = os.path.dirname(os.path.abspath(source.path))
    top = git.work_tree(above)
    if isinstance(adapter, ProjectAdapter):
        folder = above
        for _ in range(_PROJECT_DEPTH):
            if any(one.path == source.path for one in adapter.in_project(folder)):
                return replace(source, in_project=os.path.realpath(folder))
            folder = os.path.dirname(folder)
        # Wherever it was moved to: such an agent writes into projects, and so could others.
        top = top or above
    return source if top is None else replace(source, in_project=os.path.realpath(top))


def below(
    adapters: list[Adapter], path: str, known_agent: Callable[[str], str | None] = lambda path: None
) -> Iterator[Found]:
    """Every log at or below a path, as if its folders were nobody's here.

    `known_agent` tells whose log a file was the last time, so that a growing
    one need not be recognised at every step.
    """
    path = os.path.abspath(path)
    if not os.path.lexists(path):
        raise NotFound(
            f"{path} does not exist.", hint="Name a log file or a folder with agent logs."
        )
    if not os.path.isdir(path):
        yield _file(adapters, path, known_agent(path))
        return
    # In a home only the agents' own folders count: what a person keeps in
    # ~/projects is not a log because Claude Code has a folder of that name.
    roots = {adapter.agent: list(_distinct(adapter.roots(path, {}))) for adapter in adapters}
    home = any(roots.values())
    seen: set[str] = set()
    for adapter in adapters:
        for root in roots[adapter.agent] if home else [path]:
            for source in adapter.sources(root):
                if source.path not in seen:
                    seen.add(source.path)
                    yield Found(adapter, source, False)
    if not home:
        yield from _strays(adapters, path, seen)


def passed_over(adapters: list[Adapter], top: str, sources: Iterable[Source]) -> Iterator[str]:
    """Files below a folder that end like a log and are part of none of these sources."""
    parts = {path for source in sources for path in (source.path, *source.companions)}
    endings = tuple({ending for adapter in adapters for ending in adapter.endings})
    base = top.rstrip(os.sep).count(os.sep)
    for folder, folders, names in os.walk(top):
        if folder.count(os.sep) - base >= _DEPTH:
            folders.clear()
        folders[:] = sorted(name for name in folders if os.path.join(folder, name) not in parts)
        for name in sorted(names):
            if name.endswith(endings) and os.path.join(folder, name) not in parts:
                yield os.path.join(folder, name)


def excluded(found: Iterable[Found], patterns: list[str]) -> Iterator[Found]:
    """What is left when the user's patterns have taken theirs."""
    for item in found:
        if not any(fnmatchcase(item.source.path, pattern) for pattern in patterns):
            yield item


def _file(adapters: list[Adapter], path: str, agent: str | None) -> Found:
    # Whose it was the last time is asked first: with a log that grows it is still the same.
    found = _recognise(sorted(adapters, key=lambda adapter: adapter.agent != agent), path)
    owner = next((adapter for adapter in adapters if adapter.agent == agent), None)
    if found is None and owner:
        # Its beginning was damaged since; reading it will say so.
        return Found(owner, Source(owner.agent, path, appended=path.endswith(".jsonl")), False)
    if found is None:
        known = ", ".join(adapter.agent for adapter in adapters)
        raise UsageError(f"{path} is not a log of a supported agent.", hint=f"Supported: {known}")
    return found


def _strays(adapters: list[Adapter], top: str, seen: set[str]) -> Iterator[Found]:
    """Logs outside any root, told by their content.

    Where an agent's layout has named files, it has passed over the others on purpose.
    """
    base = top.rstrip(os.sep).count(os.sep)
    endings = tuple({ending for adapter in adapters for ending in adapter.endings})
    listed = {os.path.dirname(path) for path in seen}
    for folder, folders, names in os.walk(top):
        if folder.count(os.sep) - base >= _DEPTH:
            folders.clear()
        folders[:] = sorted(name for name in folders if os.path.join(folder, name) not in seen)
        if folder in listed:
            continue
        for name in sorted(names):
            if name.endswith(endings):
                path = os.path.join(folder, name)
                found = _recognise(adapters, path) if path not in seen else None
                # Several files may be parts of one source.
                if found is not None and found.source.path not in seen:
                    seen.add(found.source.path)
                    yield found


def _recognise(adapters: list[Adapter], path: str) -> Found | None:
    from recollect.capture.logs.lines import read_head

    head = read_head(path)
    for adapter in adapters:
        source = adapter.find_source(path, head) if path.endswith(adapter.endings) else None
        if source is not None:
            return Found(adapter, source, False)
    return None


def _distinct(roots: list[str]) -> Iterator[str]:
    """Roots that exist, each once even when links lead to it twice."""
    seen: set[str] = set()
    for root in roots:
        # Most of them do not: following links to nowhere costs more than all the rest.
        if os.path.exists(root) and (real := os.path.realpath(root)) not in seen:
            seen.add(real)
            yield root
