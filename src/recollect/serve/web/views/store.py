"""The store: its health, imports, copies, jobs, agents, room, secrets and settings."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.errors import UsageError
from recollect.serve.web.app import Form, PageRequest, View
from recollect.serve.web.tasks import BACKUPS
from recollect.settings import KEYS, as_toml

if TYPE_CHECKING:
    from recollect.serve.web.app import Context
    from recollect.serve.web.tasks import StoreTasks
    from recollect.settings import Settings

MOST_JOBS = 20
MOST_LOGS = 12
MOST_COPIES = 5


def build(asked: PageRequest) -> Context:
    """How everything is; what takes long to look at comes after it."""
    memory = asked.memory
    agents = memory.agents.all()
    return {
        "health": None,
        "task": asked.web.tasks.last if asked.web.tasks else None,
        "copies": _copies(memory.settings),
        "summary": asked.kept("summary", lambda one: one.summary()),
        "jobs": memory.jobs.all(MOST_JOBS),
        "agents": [one for one in agents if one.sessions or one.found],
        "agents_total": len(agents),
        "problems": list(memory.agents.problems(limit=MOST_LOGS)),
        "settings": _settings(memory.settings),
        "config": memory.settings.config,
        "secrets": memory.store.secret_kinds(),
        "hooks": sorted(
            (agent, event, datetime.fromtimestamp(at / 1000, UTC).isoformat(), fault)
            for (agent, event), (at, fault) in memory.injections.hook_runs().items()
        ),
        "leaves": _leaves(memory.settings),
        "back": "/store",
    }


def health(asked: PageRequest) -> Context:
    """What is wrong with the store, if anything: all of it is looked through."""
    return {"health": asked.kept("health", lambda one: one.store.doctor())}


def task(asked: PageRequest) -> Context:
    """How far the import or the copy is that somebody asked for."""
    return {"task": asked.web.tasks.last if asked.web.tasks else None}


def _copies(settings: Settings) -> list[dict[str, Any]]:
    """The newest copies that were made on this page."""
    folder = os.path.join(os.path.dirname(settings.store), BACKUPS)
    try:
        found = [one for one in os.scandir(folder) if one.name.endswith(".db")]
    except OSError:
        return []
    found.sort(key=lambda one: one.name, reverse=True)
    return [{"path": one.path, "size": one.stat().st_size} for one in found[:MOST_COPIES]]


def _settings(settings: Settings) -> list[dict[str, Any]]:
    """Every setting as a line of config.toml, those that somebody set first."""
    rows = [
        {"key": key, "line": _line(key, settings.get(key)), "about": about,
         "is_set": settings.says(key)}
        for key, (_, about) in KEYS.items()
        if key not in ("store", "domains")
    ]  # fmt: skip
    return sorted(rows, key=lambda row: not row["is_set"])


def _line(key: str, value: object) -> str:
    section, _, name = key.rpartition(".")
    return f"{f'[{section}] ' if section else ''}{name} = {as_toml(value)}"


def _leaves(settings: Settings) -> str:
    """Which settings have something sent to another machine."""
    parts = []
    if settings.text("embed.provider") == "remote":
        parts.append("Texts without secrets go to the encoder that `embed` names.")
    if settings.says("llm.model"):
        parts.append("Records without secrets go to the model that `llm` names.")
    return " ".join(parts) or "Nothing. No remote encoder, model or hub is set."


def _tasks(asked: PageRequest) -> StoreTasks:
    if asked.web.tasks is None:
        raise UsageError("This page may only be read.")
    return asked.web.tasks


def start_import(asked: PageRequest) -> str:
    """Read what agents left meanwhile."""
    _tasks(asked).start_import()
    return "/store"


def start_backup(asked: PageRequest) -> str:
    """Copy the store."""
    _tasks(asked).start_backup()
    return "/store"


VIEW = View("/store", "store.html", build)
HEALTH = View(
    "/store/health", "part.html", health, fragment="health.html", takes_long=True, ahead=True
)
TASK = View("/store/task", "part.html", task, fragment="task.html")
FORMS = (Form("/store/import", start_import), Form("/store/backup", start_backup))
