"""The tools of Copilot CLI: what a call was about and what came of it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    first_text,
    json_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import ToolKind

_KINDS: dict[str, ToolKind] = {"list_bash": "shell", "list_agents": "task", "write_agent": "task"}
# The last line of what a shell tool gives back; the exit code stood nowhere else until autumn 2026.
_EXIT = re.compile(r"<(?:exited|shellId: \S+ completed) with exit code (-?\d+)>\s*$")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


class CopilotCall(NamedTuple):
    """A tool call: which tool, with what, and about what."""

    name: str
    given: Any
    kind: ToolKind
    target: str | None


class CopilotOutcome(NamedTuple):
    """What came of a tool call."""

    output: str | None
    ok: bool | None
    exit_code: int | None
    duration_ms: int | None


def called(name: str, arguments: Any, server: object) -> CopilotCall:
    """What was called; `server` is the MCP server that offers it, if one does."""
    given = json_of(arguments)
    kind = _KINDS.get(name) or kind_of(name)
    if text_of(server):
        kind = "mcp"
    elif kind == "edit" and fields_of(given).get("command") == "view":
        kind = "read"
    if kind == "edit" and isinstance(given, str):
        patched = _PATCHED.search(given)
        return CopilotCall(name, {"patch": given}, kind, patched[1].strip() if patched else None)
    return CopilotCall(name, given, kind, None)


def outcome(data: Fields) -> CopilotOutcome:
    """What the completion of a call says.

    A command that ends with another code than 0 has failed, whatever else is said.
    """
    result, error = fields_of(data.get("result")), fields_of(data.get("error"))
    output = first_text(result.get("content"), result.get("detailedContent"), error.get("message"))
    if output is None:
        output = content_text(result.get("contents")) or text_of(data.get("error"))
    exit_code = whole_of(fields_of(data.get("shellExecution")).get("exitCode"))
    if exit_code is None:
        exit_code = _exit_code(result, output or "")
    success = data.get("success")
    ok = success if isinstance(success, bool) else False if error else None
    metrics = fields_of(fields_of(data.get("toolTelemetry")).get("metrics"))
    return CopilotOutcome(
        output, False if exit_code else ok, exit_code, whole_of(metrics.get("durationMs"))
    )


def _exit_code(result: Fields, output: str) -> int | None:
    for part in objects_of(result.get("contents")):
        if part.get("type") in ("shell_exit", "terminal"):
            return whole_of(part.get("exitCode"))
    ending = _EXIT.search(output[-200:])
    return int(ending[1]) if ending and len(ending[1]) < 12 else None
