"""Every supported agent: where it keeps its logs, and what of it is stored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from recollect.capture.adapters import Adapter, ProjectAdapter
from recollect.model.reports import AgentRow
from recollect.store import Store


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
        sessions, version, last_at = stored.get(adapter.agent, (0, None, None))
        rows.append(
            AgentRow(
                agent=adapter.agent,
                name=adapter.name,
                roots=roots,
                in_projects=in_projects,
                found=list(logs),
                sources=len({path for paths in logs.values() for path in paths}),
                sessions=sessions,
                newest_version=version,
                last_at=last_at,
            )
        )
    return rows


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
