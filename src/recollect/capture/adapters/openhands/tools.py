"""What OpenHands' tools are, in both versions."""

from __future__ import annotations

from typing import Any

from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import Fields, whole_of
from recollect.model.logs import ToolKind

_ACTIONS: dict[str, ToolKind] = {
    "run": "shell", "run_ipython": "shell", "read": "read", "write": "edit", "edit": "edit",
    "browse": "web", "browse_interactive": "web", "call_tool_mcp": "mcp", "delegate": "task",
    "MCPToolAction": "mcp", "DelegateAction": "task", "TaskAction": "task",
}  # fmt: skip
_EDITORS = ("file_editor", "str_replace_editor", "planning_file_editor")
# A command that still runs when its output is taken.
_STILL_RUNNING = -1


def tool_kind(name: str, action: str, given: Any) -> ToolKind:
    """The sort of a tool; one editor both shows and changes files."""
    if name in _EDITORS and isinstance(given, dict) and given.get("command") == "view":
        return "read"
    if name in _EDITORS:
        return "edit"
    return _ACTIONS.get(action) or ("web" if name.startswith("browser_") else kind_of(name))


def exit_of(*places: Fields) -> int | None:
    """The exit code of a command, from the first place that tells it; None while it runs."""
    for place in places:
        code = whole_of(place.get("exit_code"))
        if code is not None and code != _STILL_RUNNING:
            return code
    return None


def is_ok(failed: object, code: int | None) -> bool | None:
    """Whether a call went well: a command tells by its exit code, other tools by not failing."""
    if failed is True or code:
        return False
    return True if code == 0 or failed is False else None
