"""A file's history over sessions: its lines, each with the turn that wrote it, and each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.model.sessions import ToolCall, Turn
from recollect.serve.web.app import PageRequest, View
from recollect.serve.web.views.calls import show_call

if TYPE_CHECKING:
    from recollect.model.answers import FileChange, FileLine, FileLines
    from recollect.serve.web.app import Context

LIMIT = 60
# A page of more lines is slow to lay out; the changes say the rest.
MOST_LINES = 1_500


def build(asked: PageRequest) -> Context:
    """The turns that changed a file, newest first, beside the file as the last one left it."""
    path, project = asked.value("path"), asked.value("project")
    memory, filters = asked.memory, {"project": project} if project else {}
    if not path:
        files = asked.kept(f"files {project}", lambda one: one.files(**filters))
        return {"file": "", "project_key": project or None, "files": files, "changes": []}
    found = memory.blame(path, folder=asked.web.folder, limit=LIMIT, **filters)
    # An end of a path may mean several files: the one that was changed last is shown.
    of_file = [one for one in found if one.file == found.rows[0].file]
    return {
        "file": path,
        "project_key": project or (of_file[0].project if of_file else None),
        "files": [],
        "changes": [_with_calls(asked, one) for one in of_file],
        "others": sorted({one.file for one in found} - {one.file for one in of_file}),
        "text": _shown(memory.file_lines(of_file)),
        "remarks": [] if of_file else found.remarks,
    }


def _with_calls(asked: PageRequest, change: FileChange) -> dict[str, Any]:
    turn = asked.memory.show(change.ref)
    name = change.file.rpartition("/")[2]
    calls = [
        show_call(event, is_open=True)
        for event in (turn.events if isinstance(turn, Turn) else [])
        if isinstance(event, ToolCall)
        and event.tool_kind in ("edit", "shell")
        and name in (event.target or "")
    ]
    return {"change": change, "calls": calls, "anchor": anchor(change.ref)}


def anchor(ref: str) -> str:
    """What a change is called on its page."""
    return "c-" + ref.replace(":", "-").replace("#", "-")


def _shown(found: FileLines) -> dict[str, Any]:
    """The lines with their numbers; of lines in a row by one turn the first says which."""
    count = sum(map(len, found.pieces))
    rows: list[dict[str, Any]] = []
    for piece in found.pieces:
        before: FileLine | None = None
        # A piece from the depth of a file begins at the left.
        indent = 0 if found.is_whole else _indent(piece)
        for line in piece[: MOST_LINES - len(rows)]:
            rows.append(
                {
                    "line": line,
                    "text": line.text[indent:],
                    "anchor": anchor(line.ref) if line.ref else "",
                    "leads": before is None or before.ref != line.ref,
                    "begins": before is None and bool(rows),
                }
            )
            before = line
    return {
        "rows": rows,
        "is_whole": found.is_whole and not found.unplaced,
        "count": count,
        "left_out": count - len(rows),
    }


def _indent(piece: list[FileLine]) -> int:
    """How many spaces all lines begin with that are not empty."""
    depths = [len(one.text) - len(one.text.lstrip()) for one in piece if one.text.strip()]
    return min(depths, default=0)


VIEW = View("/file", "file.html", build)
