"""Codex: tool calls as items ask for them and as events and turn items tell their end.

One call can appear up to three times: the model's request, its output, and
an event (or, in paginated files, a turn item) that says how it went. They
share a call id; here each is brought into the same two shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.adapters.codex.prompts import placeholder
from recollect.capture.adapters.codex.records import Fields, fields, text_of, whole
from recollect.capture.adapters.codex.tools import (
    MAX_TARGET,
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
from recollect.model.logs import ToolKind

COMMANDS = ("shell", "shell_command", "exec_command")
STATUS = {"completed": True, "failed": False, "declined": False, "error": False}


_arguments: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


class Made(Struct, gc=False):
    """A call: who was called, on what, with what."""

    call: str | None
    name: str
    kind: ToolKind
    target: str | None
    input: Any


def made_by(item: Fields) -> tuple[Made, Outcome | None]:
    """The call that a response item asks for; a picture has its outcome with it."""
    kind = item["type"]
    if kind == "image_generation_call":
        return ended_by(item)
    return _makers[kind](item), None


def command_of(item: Fields) -> tuple[str, Fields] | None:
    """The command of a function call that plainly runs one, and its arguments.

    Nine calls in ten do, so they have this way of their own; None when it takes a closer look.
    """
    if item.get("name") not in COMMANDS or "namespace" in item:
        return None
    try:
        given = _arguments.decode(item["arguments"])
        command = given.get("command") or given.get("cmd")
    except (
        KeyError,
        TypeError,
        AttributeError,
        msgspec.MsgspecError,
        RecursionError,
        UnicodeError,
    ):
        return None
    if type(command) is list and len(command) == 3 and command[1] == "-lc":
        command = command[2]
    if type(command) is not str or command.startswith("apply_patch"):
        return None
    return command[:MAX_TARGET], given


def _function(item: Fields) -> Made:
    given, name = decoded(item.get("arguments")), full_name(item.get("name"), item.get("namespace"))
    kind, target = aim(name, kind_of(name), given)
    return Made(_id(item.get("call_id")), name, kind, target, given)


def _custom(item: Fields) -> Made:
    name = full_name(item.get("name"), item.get("namespace"))
    kind, target = aim(name, kind_of(name), decoded(item.get("input")))
    return Made(_id(item.get("call_id")), name, kind, target, item.get("input"))


def _local_shell(item: Fields) -> Made:
    kind, target = aim("local_shell", "shell", item.get("action"))
    return Made(
        _id(item.get("call_id")) or _id(item.get("id")),
        "local_shell",
        kind,
        target,
        item.get("action"),
    )


def _web(item: Fields) -> Made:
    return Made(
        _id(item.get("id")), "web_search", "web", sought(item.get("action")), item.get("action")
    )


def _tool_search(item: Fields) -> Made:
    given = decoded(item.get("arguments"))
    return Made(
        _id(item.get("call_id")),
        "tool_search",
        "search",
        aim("tool_search", "search", given)[1],
        given,
    )


_makers: dict[str, Callable[[Fields], Made]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "local_shell_call": _local_shell,
    "web_search_call": _web,
    "tool_search_call": _tool_search,
}
CALLS = frozenset({*_makers, "image_generation_call"})


def sought(action: object, query: object = None) -> str | None:
    """What a web search looked for: a query, a page, a pattern in it."""
    found = fields(action)
    for value in (found.get("query"), query, found.get("url"), found.get("pattern")):
        if text := text_of(value):
            return text
    queries = found.get("queries")
    if isinstance(queries, list):
        return ", ".join(text for text in queries if isinstance(text, str))
    return None


def ended_by(told: Fields) -> tuple[Made, Outcome]:
    """The call that an event or turn item tells the end of, and how it went."""
    made, outcome = _enders[told["type"]](told)
    made.call = _id(told.get("call_id")) or _id(told.get("id"))
    return made, outcome


def _ended_command(told: Fields) -> tuple[Made, Outcome]:
    kind, target = aim("shell", "shell", told.get("command"))
    code = whole(told.get("exit_code"))
    texts = [text for text in (text_of(told.get("stdout")), text_of(told.get("stderr"))) if text]
    text = text_of(told.get("aggregated_output")) or "\n".join(texts) or None
    ok = _succeeded(told) if code is None else code == 0
    line = command_line(told.get("command"))
    return Made(None, "shell", kind, target, line), Outcome(
        text, ok, code, milliseconds_of(told.get("duration"))
    )


def _ended_patch(told: Fields) -> tuple[Made, Outcome]:
    changes = fields(told.get("changes"))
    paths = ", ".join(list(changes)[:8]) or None
    texts = [text for text in (text_of(told.get("stdout")), text_of(told.get("stderr"))) if text]
    return Made(None, "apply_patch", "edit", paths, changes or None), Outcome(
        "\n".join(texts) or None, _succeeded(told)
    )


def _ended_mcp(told: Fields) -> tuple[Made, Outcome]:
    # An event wraps what was called; a turn item has it beside the rest.
    found = fields(told.get("invocation")) or told
    server = text_of(found.get("server")) or "unknown"
    tool = text_of(found.get("tool")) or "unknown"
    given = found.get("arguments")
    error = told.get("error")
    outcome = from_mcp(
        {"Err": fields(error).get("message", error)} if error else told.get("result")
    )
    outcome.duration_ms = milliseconds_of(told.get("duration"))
    name = f"mcp__{server}__{tool}"
    return Made(None, name, "mcp", aim(name, "mcp", given)[1], given), outcome


def _ended_search(told: Fields) -> tuple[Made, Outcome]:
    target = sought(told.get("action"), told.get("query"))
    return Made(None, "web_search", "web", target, told.get("action")), Outcome(
        _results(told.get("results"))
    )


def _ended_picture(told: Fields) -> tuple[Made, Outcome]:
    picture = text_of(told.get("result"))
    made = Made(
        None,
        "image_generation",
        "other",
        text_of(told.get("saved_path")) or text_of(told.get("revised_prompt")),
        None,
    )
    return made, Outcome(placeholder(picture) if picture else None, _succeeded(told))


def _viewed(told: Fields) -> tuple[Made, Outcome]:
    return Made(None, "view_image", "read", text_of(told.get("path")), None), Outcome()


def _ended_dynamic(told: Fields) -> tuple[Made, Outcome]:
    name = full_name(told.get("tool"), told.get("namespace"))
    kind, target = aim(name, kind_of(name), told.get("arguments"))
    made = Made(None, name, kind, target, told.get("arguments"))
    text = texts_in(told.get("content_items")) or None
    return made, Outcome(text, _succeeded(told), None, milliseconds_of(told.get("duration")))


_enders: dict[str, Callable[[Fields], tuple[Made, Outcome]]] = {
    "exec_command_end": _ended_command,
    "CommandExecution": _ended_command,
    "patch_apply_end": _ended_patch,
    "FileChange": _ended_patch,
    "mcp_tool_call_end": _ended_mcp,
    "McpToolCall": _ended_mcp,
    "web_search_end": _ended_search,
    "WebSearch": _ended_search,
    "Extension": _ended_search,
    "image_generation_call": _ended_picture,
    "image_generation_end": _ended_picture,
    "ImageGeneration": _ended_picture,
    "view_image_tool_call": _viewed,
    "ImageView": _viewed,
    "dynamic_tool_call_response": _ended_dynamic,
    "DynamicToolCall": _ended_dynamic,
}
ENDS = frozenset(_enders) - CALLS


def _id(value: object) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _succeeded(told: Fields) -> bool | None:
    success = told.get("success")
    if isinstance(success, bool):
        return success
    status = told.get("status")
    return STATUS.get(status) if isinstance(status, str) else None


def _results(results: object) -> str | None:
    """The titles, addresses and snippets of a web search."""
    lines = []
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict):
            parts = (text_of(result.get(key)) for key in ("title", "url", "snippet"))
            lines.append(" - ".join(part for part in parts if part))
    return "\n".join(line for line in lines if line) or None
