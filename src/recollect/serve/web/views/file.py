"""A file's history over sessions: who changed it, and what was asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from recollect.model.sessions import ToolCall, Turn
from recollect.serve.web.app import PageRequest, View
from recollect.serve.web.views.calls import show_call

if TYPE_CHECKING:
    from recollect.model.answers import FileChange
    from recollect.serve.web.app import Context

LIMIT = 60


def build(asked: PageRequest) -> Context:
    """The turns that changed a file, the newest first, with what each changed."""
    path, project = asked.value("path"), asked.value("project")
    found = (
        asked.memory.blame(path, folder=asked.web.folder, limit=LIMIT, project=project or None)
        if path
        else None
    )
    return {
        "file": path,
        "project_key": project or None,
        "changes": [_with_calls(asked, one) for one in found or []],
        "remarks": found.remarks if found else [],
    }


def _with_calls(asked: PageRequest, change: FileChange) -> dict[str, Any]:
    turn = asked.memory.show(change.ref)
    name = os.path.basename(change.file)
    calls = [
        show_call(event, is_open=True)
        for event in (turn.events if isinstance(turn, Turn) else [])
        if isinstance(event, ToolCall)
        and event.tool_kind == "edit"
        and name in (event.target or "")
    ]
    return {"change": change, "calls": calls}


VIEW = View("/file", "file.html", build)
