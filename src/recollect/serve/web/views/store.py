"""The store: its health, jobs, agents, room and settings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recollect.serve.web.app import PageRequest, View

if TYPE_CHECKING:
    from recollect.serve.web.app import Context
    from recollect.settings import Settings

MOST_JOBS = 20
MOST_LOGS = 12


def build(asked: PageRequest) -> Context:
    """How everything is."""
    memory = asked.memory
    return {
        "health": memory.store.doctor(),
        "summary": memory.summary(),
        "jobs": memory.jobs.all(MOST_JOBS),
        "agents": [one for one in memory.agents.all() if one.sessions or one.found],
        "agents_total": len(memory.agents.all()),
        "problems": list(memory.agents.problems(limit=MOST_LOGS)),
        "settings": memory.settings,
        "hooks": sorted(
            (agent, event, datetime.fromtimestamp(at / 1000, UTC).isoformat(), fault)
            for (agent, event), (at, fault) in memory.injections.hook_runs().items()
        ),
        "leaves": _leaves(memory.settings),
    }


def _leaves(settings: Settings) -> str:
    """Which settings have something sent to another machine."""
    parts = []
    if settings.text("embed.provider") == "remote":
        parts.append("Texts without secrets go to the encoder that `embed` names.")
    if settings.says("llm.model"):
        parts.append("Records without secrets go to the model that `llm` names.")
    return " ".join(parts) or "Nothing. No remote encoder, model or hub is set."


VIEW = View("/store", "store.html", build)
