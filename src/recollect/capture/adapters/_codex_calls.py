"""Codex: tool calls as items ask for them and as events and turn items tell their end.

One call can appear up to three times: the model's request, its output, and
an event (or, in paginated files, a turn item) that says how it went. They
share a call id; here each is brought into the same two shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from recollect.capture.adapters._codex_prompts import placeholder
from recollect.capture.adapters._codex_records import Core, Payload, text_of, whole
from recollect.capture.adapters._codex_tools import (
    Outcome,
    aim,
    command_line,
    decoded,
    from_mcp,
    full_name,
    kind_of,
    milliseconds_of,
    texts_in,
)
from recollect.model import ToolKind

STATUS = {"completed": True, "failed": False, "declined": False, "error": False}


class Made(NamedTuple):
    """A call: who was called, on what, with what."""

    call: str | None
    name: str
    kind: ToolKind
    target: str | None
    input: Any


def made_by(item: Core) -> Made:
    """The call that a response item asks for."""
    return _makers[item.type](item)


def _function(item: Core) -> Made:
    name = full_name(item.name, item.namespace)
    given = decoded(item.arguments)
    kind, target = aim(name, kind_of(name), given)
    return Made(text_of(item.call_id), name, kind, target, given)


def _custom(item: Core) -> Made:
    name = full_name(item.name, item.namespace)
    kind, target = aim(name, kind_of(name), decoded(item.input))
    return Made(text_of(item.call_id), name, kind, target, item.input)


def _local_shell(item: Core) -> Made:
    kind, target = aim("local_shell", "shell", item.action)
    return Made(text_of(item.call_id) or text_of(item.id), "local_shell", kind, target, item.action)


def _web(item: Core) -> Made:
    return Made(text_of(item.id), "web_search", "web", sought(item.action), item.action)


def _tool_search(item: Core) -> Made:
    given = decoded(item.arguments)
    return Made(text_of(item.call_id), "tool_search", "search", aim("tool_search", "search", given)[1], given)


def _picture(item: Core) -> Made:
    target = text_of(item.saved_path) or text_of(item.revised_prompt)
    return Made(text_of(item.call_id) or text_of(item.id), "image_generation", "other", target, None)


_makers: dict[str, Callable[[Core], Made]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "local_shell_call": _local_shell,
    "web_search_call": _web,
    "tool_search_call": _tool_search,
    "image_generation_call": _picture,
}
CALLS = frozenset(_makers)


def sought(action: object, query: object = None) -> str | None:
    """What a web search looked for: a query, a page, a pattern in it."""
    found = action if isinstance(action, dict) else {}
    for value in (found.get("query"), query, found.get("url"), found.get("pattern")):
        if text := text_of(value):
            return text
    queries = found.get("queries")
    return ", ".join(text for text in queries if isinstance(text, str)) if isinstance(queries, list) else None


def ended_by(kind: str, told: Payload) -> tuple[Made, Outcome]:
    """The call that an event or turn item tells the end of, and how it went."""
    call = text_of(told.call_id) or text_of(told.id)
    made, outcome = _enders[kind](told)
    return made._replace(call=call), outcome


def _ended_command(told: Payload) -> tuple[Made, Outcome]:
    kind, target = aim("shell", "shell", told.command)
    code = whole(told.exit_code)
    texts = [text for text in (text_of(told.stdout), text_of(told.stderr)) if text]
    text = text_of(told.aggregated_output) or "\n".join(texts) or None
    ok = _succeeded(told) if code is None else code == 0
    line = command_line(told.command)
    return Made(None, "shell", kind, target, line), Outcome(text, ok, code, milliseconds_of(told.duration))


def _ended_patch(told: Payload) -> tuple[Made, Outcome]:
    changes = told.changes if isinstance(told.changes, dict) else {}
    paths = ", ".join(list(changes)[:8]) or None
    texts = [text for text in (text_of(told.stdout), text_of(told.stderr)) if text]
    return Made(None, "apply_patch", "edit", paths, changes or None), Outcome(
        "\n".join(texts) or None, _succeeded(told)
    )


def _ended_mcp(told: Payload) -> tuple[Made, Outcome]:
    found = told.invocation if isinstance(told.invocation, dict) else {}
    server, tool = text_of(found.get("server")) or "unknown", text_of(found.get("tool")) or "unknown"
    given = found.get("arguments")
    outcome = from_mcp(told.result)._replace(duration_ms=milliseconds_of(told.duration))
    name = f"mcp__{server}__{tool}"
    return Made(None, name, "mcp", aim(name, "mcp", given)[1], given), outcome


def _ended_search(told: Payload) -> tuple[Made, Outcome]:
    target = sought(told.action, told.query)
    return Made(None, "web_search", "web", target, told.action), Outcome(_results(told.results))


def _ended_picture(told: Payload) -> tuple[Made, Outcome]:
    picture = text_of(told.result)
    made = Made(
        None, "image_generation", "other", text_of(told.saved_path) or text_of(told.revised_prompt), None
    )
    return made, Outcome(placeholder(picture) if picture else None, _succeeded(told))


def _viewed(told: Payload) -> tuple[Made, Outcome]:
    return Made(None, "view_image", "read", text_of(told.path), None), Outcome()


def _ended_dynamic(told: Payload) -> tuple[Made, Outcome]:
    name = full_name(told.tool, told.namespace)
    kind, target = aim(name, kind_of(name), told.arguments)
    made = Made(None, name, kind, target, told.arguments)
    outcome = Outcome(texts_in(told.content_items) or None, _succeeded(told))
    return made, outcome._replace(duration_ms=milliseconds_of(told.duration))


_enders: dict[str, Callable[[Payload], tuple[Made, Outcome]]] = {
    "exec_command_end": _ended_command,
    "CommandExecution": _ended_command,
    "patch_apply_end": _ended_patch,
    "FileChange": _ended_patch,
    "mcp_tool_call_end": _ended_mcp,
    "McpToolCall": _ended_mcp,
    "web_search_end": _ended_search,
    "WebSearch": _ended_search,
    "Extension": _ended_search,
    "image_generation_end": _ended_picture,
    "ImageGeneration": _ended_picture,
    "view_image_tool_call": _viewed,
    "ImageView": _viewed,
    "dynamic_tool_call_response": _ended_dynamic,
    "DynamicToolCall": _ended_dynamic,
}
ENDS = frozenset(_enders)


def _succeeded(told: Payload) -> bool | None:
    if isinstance(told.success, bool):
        return told.success
    return STATUS.get(told.status) if isinstance(told.status, str) else None


def _results(results: object) -> str | None:
    """The titles, addresses and snippets of a web search."""
    lines = []
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict):
            parts = (text_of(result.get(key)) for key in ("title", "url", "snippet"))
            lines.append(" - ".join(part for part in parts if part))
    return "\n".join(line for line in lines if line) or None
