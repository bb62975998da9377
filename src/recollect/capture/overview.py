"""Every supported agent: where it keeps its logs, and what of it is stored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from recollect.capture.adapters import Adapter, CleaningAdapter, ProjectAdapter
from recollect.model.reports import AgentRow, Leaving
from recollect.store import Store
from recollect.store.sqlite.usage import AgentCounts
from recollect.system.clock import now_ms

DAY_MS = 24 * 3_600_000
# What an agent deletes within so many days is worth a word.
SOON_DAYS = 7


def agent_rows(
    adapters: list[Adapter],
    store: Store | None,
    home: str,
    environ: Mapping[str, str],
    worked_in: list[str],
) -> list[AgentRow]:
    """One row for each adapter; the counts are zero while nothing is stored."""
    stored = store.usage.agent_counts() if store else {}
    rows = []
    for adapter in adapters:
        roots = adapter.roots(home, environ)
        logs = {
            root: [source.path for source in adapter.sources(root)]
            for root in roots
            if os.path.exists(root)
        }
        if in_projects := isinstance(adapter, ProjectAdapter):
            kept = {
                folder: [source.path for source in adapter.in_project(folder)]
                for folder in worked_in
            }
            logs |= {folder: paths for folder, paths in kept.items() if paths}
        count = stored.get(adapter.agent, AgentCounts())
        rows.append(
            AgentRow(
                agent=adapter.agent,
                name=adapter.name,
                roots=roots,
                in_projects=in_projects,
                found=list(logs),
                sources=len({path for paths in logs.values() for path in paths}),
                sessions=count.sessions,
                newest_version=count.newest_version,
                last_at=count.last_at,
            )
        )
    return rows


def leaving(
    adapters: Iterable[Adapter], store: Store, home: str, environ: Mapping[str, str]
) -> list[Leaving]:
    """What each agent deletes of its own logs within a week, and whether it is stored.

    An agent that deletes nothing soon has no row.
    """
    rows = []
    for adapter in adapters:
        if not isinstance(adapter, CleaningAdapter):
            continue
        paths = [
            path
            for root in adapter.roots(home, environ)
            if (days := adapter.kept_days(root)) is not None
            for path in _unchanged(adapter, root, days - SOON_DAYS)
        ]
        if paths:
            known = store.sources.known()
            unread = sum(path not in known for path in paths)
            sessions = store.sources.count_sessions(paths)
            rows.append(
                Leaving(
                    agent=adapter.agent, name=adapter.name, sessions=sessions, unread_logs=unread
                )
            )
    return rows


def _unchanged(adapter: Adapter, root: str, days: int) -> Iterator[str]:
    """The logs under a root that were last written so many days ago, or earlier."""
    latest = now_ms() - days * DAY_MS
    for source in adapter.sources(root):
        try:
            if os.stat(source.path).st_mtime_ns // 1_000_000 <= latest:
                yield source.path
        except OSError:
            continue


def variables(adapters: Iterable[Adapter]) -> list[str]:
    """The environment variables that say where these agents keep their logs:
    those they ask for when they are asked.
    """
    noted = _Noted()
    for adapter in adapters:
        adapter.roots("", noted)
    return sorted(noted.asked)


class _Noted(Mapping[str, str]):
    """An environment without variables that remembers which ones somebody looked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
