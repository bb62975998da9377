"""Every supported agent: where it keeps its logs, and what of it is stored."""

from __future__ import annotations

import os
from collections.abc import Mapping

from recollect.capture.adapters import Adapter, KeptInProjects
from recollect.model import AgentRow
from recollect.store import Store


def agent_rows(
    adapters: list[Adapter], store: Store | None, home: str, environ: Mapping[str, str], worked_in: list[str]
) -> list[AgentRow]:
    """One row for each adapter; the counts are zero while nothing is stored."""
    stored = store.agent_counts() if store else {}
    rows = []
    for adapter in adapters:
        roots = adapter.roots(home, environ)
        logs = {root: [source.path for source in adapter.sources(root)] for root in roots if os.path.isdir(root)}
        if in_projects := isinstance(adapter, KeptInProjects):
            kept = {folder: [source.path for source in adapter.in_project(folder)] for folder in worked_in}
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
