"""Cursor's tools: their names, what was given to them and what they gave back."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from recollect.capture.logs.tools import kind_of, target_of
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    json_of,
    text_of,
    whole_of,
)
from recollect.model.logs import ToolKind

# Old bubbles name a tool by its number alone.
_NUMBERS = {
    1: "read_semsearch_files", 3: "ripgrep_search", 5: "read_file", 6: "list_dir", 7: "edit_file",
    8: "file_search", 9: "semantic_search_full", 11: "delete_file", 12: "reapply",
    15: "run_terminal_command_v2", 16: "fetch_rules", 18: "web_search", 19: "mcp",
    23: "search_symbols", 25: "knowledge_base", 27: "deep_search", 29: "fix_lints",
    30: "read_lints", 31: "go_to_definition", 32: "task", 34: "todo_read", 35: "todo_write",
    38: "edit_file_v2", 39: "list_dir_v2", 40: "read_file_v2", 41: "ripgrep_raw_search",
    42: "glob_file_search", 43: "create_plan", 44: "list_mcp_resources", 45: "read_mcp_resource",
    48: "task_v2", 49: "call_mcp_tool", 50: "apply_agent_diff", 51: "ask_question",
    52: "switch_mode", 53: "generate_image", 54: "computer_use",
}  # fmt: skip
_KINDS: dict[str, ToolKind] = {
    "ripgrep_search": "search", "ripgrep_raw_search": "search", "read_semsearch_files": "search",
    "semantic_search_full": "search", "deep_search": "search", "go_to_definition": "search",
    "mcp": "mcp", "call_mcp_tool": "mcp", "callmcptool": "mcp", "list_mcp_resources": "mcp",
    "read_mcp_resource": "mcp", "apply_agent_diff": "edit", "fix_lints": "edit",
}  # fmt: skip
_GENERATION = re.compile(r"_v\d+$")
_EXIT_CODE = re.compile(r"\s*Exit code: (-?\d{1,9})\b")
# Where the text of a result stands, first found first.
_OUTPUTS = ("output", "contents", "content", "stdout", "resultForModel", "text", "message")
_ERRORS = ("modelVisibleErrorMessage", "clientVisibleErrorMessage", "error", "message")
_FAILED = ("error", "cancelled", "rejected")


class CursorResult(NamedTuple):
    """What is known of a result; None where nothing is."""

    output: str | None
    ok: bool | None
    exit_code: int | None


class CursorCall(NamedTuple):
    """A call as a bubble of the editor tells it, its result in the same record."""

    id: str | None
    name: str
    kind: ToolKind
    target: str | None
    arguments: Any
    given: CursorResult


def sort_of(name: str) -> ToolKind:
    """The kind of a tool, whatever generation of it the name ends in."""
    plain = _GENERATION.sub("", name)
    return _KINDS.get(plain.lower()) or kind_of(plain)


def call_in(data: Fields) -> CursorCall | None:
    """The call in a bubble's `toolFormerData`; None when nothing says which tool it was."""
    name, number = text_of(data.get("name")), whole_of(data.get("tool"))
    if name is None and number is None:
        return None
    name = name or _NUMBERS.get(number or 0, f"tool_{number}")
    kind = sort_of(name)
    # The model's own arguments; `params` is what the editor made of them.
    asked, made = json_of(data.get("rawArgs")), json_of(data.get("params"))
    arguments = asked if isinstance(asked, dict) and asked else made or asked
    target = target_of(kind, arguments) or target_of(kind, made)
    return CursorCall(text_of(data.get("toolCallId")), name, kind, target, arguments, _given(data))


def _given(data: Fields) -> CursorResult:
    result = json_of(data.get("result"))
    code = whole_of(fields_of(result).get("exitCodeV2", fields_of(result).get("exitCode")))
    states = (
        fields_of(data.get("additionalData")).get("status"),
        data.get("status"),
        data.get("userDecision"),
    )
    rejected = fields_of(result).get("rejected") is True
    failed = rejected or bool(code) or any(state in _FAILED for state in states)
    output = output_of(result)
    if output is None and failed:
        error = json_of(data.get("error"))
        output = _first_text(fields_of(error), _ERRORS) or text_of(error)
    return CursorResult(output, False if failed else True if "completed" in states else None, code)


def output_of(result: Any) -> str | None:
    """The text of a result: the one in it that a person would read, or all of it."""
    if isinstance(result, str):
        return result or None
    if isinstance(result, list):
        return content_text(result) or _as_json(result)
    if not isinstance(result, dict) or not result:
        return None
    return _first_text(result, _OUTPUTS) or _as_json(result)


def result_in(part: Fields, message: Fields) -> CursorResult:
    """What a part of a message of the role tool gives back."""
    result = (
        part.get("result")
        or part.get("content")
        or part.get("output")
        or part.get("experimental_content")
    )
    output = output_of(result)
    options = fields_of(fields_of(message.get("providerOptions")).get("cursor"))
    told = fields_of(options.get("highLevelToolCallResult"))
    flags = (part.get("isError"), part.get("is_error"), told.get("isError"))
    failed = next((flag for flag in flags if isinstance(flag, bool)), None)
    inner = next((fields_of(value) for value in fields_of(told.get("output")).values()), {})
    code = whole_of(inner.get("exitCode"))
    if code is None and output and (found := _EXIT_CODE.match(output)):
        code = int(found[1])
    ok = not failed if failed is not None else None if code is None else True
    return CursorResult(output, False if code else ok, code)


def _first_text(fields: Fields, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_of(fields.get(name)))), None)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
