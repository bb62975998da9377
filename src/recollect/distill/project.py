"""A project's memory by rules: its sessions, what the finders find in them, and the best of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.distill import finders, ranking
from recollect.distill.sessions import read_sessions
from recollect.model.memories import MemoryLine, ProjectMemory

if TYPE_CHECKING:
    from recollect.store import Store


def remember_project(store: Store, project: str) -> ProjectMemory | None:
    """What a next session in a project should know; None where nothing is stored of it."""
    sessions = read_sessions(store, project)
    if not sessions:
        return None
    memory = ranking.remember(finders.find(sessions), sessions)
    lines = [
        MemoryLine(
            text=line.candidate.text,
            section=line.candidate.section,
            category=line.candidate.category,
            trust=line.candidate.trust,
            turn=line.candidate.turn,
            at=line.candidate.at or None,
            times=line.times,
            sessions=line.sessions,
            in_pack=place < memory.sure,
        )
        for place, line in enumerate(memory.lines)
    ]
    return ProjectMemory(project=project, pack=memory.pack(), long=memory.long(), lines=lines)
