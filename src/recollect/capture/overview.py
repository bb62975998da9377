"""Every supported agent: where it keeps its logs, and what of it is stored."""

from __future__ import annotations

import os
from collections.abc import Mapping

from recollect.capture.adapters import Adapter
from recollect.model import AgentRow
from recollect.store import Store


def agent_rows(adapters: list[Adapter], store: Store | None, home: str, environ: Mapping[str, str]) -> list[AgentRow]:
    """One row for each adapter; the counts are zero while nothing is stored."""
    stored = store.agent_counts() if store else {}
    rows = []
    for adapter in adapters:
        roots = adapter.roots(home, environ)
        found = [root for root in roots if os.path.isdir(root)]
        sessions, version, last_at = stored.get(adapter.agent, (0, None, None))
        rows.append(
            AgentRow(
                agent=adapter.agent,
                name=adapter.name,
                roots=roots,
                found=found,
                sources=sum(1 for root in found for _ in adapter.sources(root)),
                sessions=sessions,
                newest_version=version,
                last_at=last_at,
            )
        )
    return rows
