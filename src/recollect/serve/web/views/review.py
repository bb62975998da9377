"""What waits for a decision: one line at a time, then what would change in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.serve.web.app import PageRequest, View
from recollect.serve.web.views import publishing
from recollect.serve.web.views.memory import evidence_of

if TYPE_CHECKING:
    from recollect.serve.web.app import Context

MOST_WAITING = 200


def build(asked: PageRequest) -> Context:
    """The candidate that comes next, with its evidence, and those after it."""
    project = asked.value("project") or None
    waiting = list(
        asked.memory.notes.search(status="candidate", project=project, limit=MOST_WAITING)
    )
    # What was left for later is passed over.
    place = min(asked.number("after", 0), max(0, len(waiting) - 1))
    note = waiting[place] if waiting else None
    return {
        "note": note,
        "place": place,
        "total": len(waiting),
        "project_key": project,
        "evidence": evidence_of(asked.memory, note) if note else [],
        "next": waiting[place + 1 : place + 4],
        "files": publishing.waiting(asked.memory) if not project else [],
        "back": f"/review?after={place}" + (f"&project={project}" if project else ""),
    }


VIEW = View("/review", "review.html", build)
