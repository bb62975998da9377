"""Errors that come back, with what got past them; and tools by how often they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.serve.web.app import PageRequest, View

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.model.answers import Friction
    from recollect.serve.web.app import Context

LIMIT = 20
MOST_TOOLS = 12
FEWEST_CALLS = 5


def build(asked: PageRequest) -> Context:
    """What keeps failing; with an error in the address, what helped against it."""
    memory, error = asked.memory, asked.value("error")
    sessions = max(2, asked.number("sessions", 2))
    found = memory.friction(sessions=sessions, limit=LIMIT)
    return {
        "error": error,
        "fixes": memory.fix(error, folder=asked.web.folder, limit=6) if error else None,
        "least": sessions,
        "troubles": [_with_fix(memory, one) for one in found],
        "tools": _tools(memory),
    }


def _with_fix(memory: Memory, trouble: Friction) -> dict[str, Any]:
    """An error that comes back, with the best that got past it."""
    fixes = [one for one in memory.fix(trouble.example, limit=3) if one.proof is not None]
    return {"trouble": trouble, "fix": fixes[0] if fixes and trouble.fixed else None}


def _tools(memory: Memory) -> list[dict[str, Any]]:
    rows = [
        row
        for row in memory.stats("tool")
        if (row.tool_calls or 0) >= FEWEST_CALLS and row.failed_tool_calls
    ]
    rows.sort(key=lambda row: -(row.failed_tool_calls or 0))
    return [
        {"row": row, "share": 100 * (row.failed_tool_calls or 0) / (row.tool_calls or 1)}
        for row in rows[:MOST_TOOLS]
    ]


VIEW = View("/trouble", "trouble.html", build)
