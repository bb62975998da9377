"""The tool calls in what was sent to and fro between Cline and a model, with what came of them.

Old versions, and models without tools of their own, write calls as XML in
their text. Results come as blocks with the call's id, or as text that begins
with the tool's name, in the order of the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from recollect.capture.adapters.cline_roo.prompts import tagged
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    json_of,
    objects_of,
    text_of,
)
from recollect.model.logs import ToolKind

# Ways to say something; what is said is told elsewhere.
SPEECH = frozenset({
    "ask_followup_question", "attempt_completion", "plan_mode_respond", "act_mode_respond",
    "new_rule", "condense", "summarize_task", "ask_question", "submit_and_exit",
})  # fmt: skip
_XML_TOOLS = frozenset({
    "read_file", "write_to_file", "replace_in_file", "apply_diff", "search_and_replace",
    "insert_content", "edit_file", "search_replace", "apply_patch", "list_files", "search_files",
    "list_code_definition_names", "codebase_search", "execute_command", "browser_action",
    "use_mcp_tool", "access_mcp_resource", "new_task", "switch_mode", "fetch_instructions",
    "update_todo_list", "web_fetch", "web_search", "use_skill", "delete_file", *SPEECH,
})  # fmt: skip
_THOUGHT = re.compile(r"<thinking>(.*?)(?:</thinking>|\Z)", re.DOTALL)
_KINDS: dict[str, ToolKind] = {
    "use_mcp_tool": "mcp", "access_mcp_resource": "mcp", "spawn_agent": "task",
    "use_subagents": "task", "editor": "edit",
}  # fmt: skip
_RESULT = re.compile(r"\[(\w+)(?: for '.*?')?[^\]\n]{0,200}\] Result:\n?", re.DOTALL)
_NOT_RUN = re.compile(r"Tool \[(\w+)\] was not executed")
_EXIT = re.compile(r"\bExit code: (-?\d+)")
_FAILED = (
    "The tool execution failed", "The user denied this operation", "The user denied this",
    "<error>", "Error executing", "Error:", "Tool execution was", "[ERROR]", '{"status":"error"',
    '{"status":"denied"',
)  # fmt: skip
# How far a call may be behind the one that was found last: some are never shown.
_AHEAD = 8


class ClineCall(Struct):
    """One call of a tool."""

    name: str
    given: Any
    id: str = ""
    output: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    was_run: bool = True

    @property
    def path(self) -> str | None:
        """The file or folder it is about."""
        given = fields_of(self.given)
        paths = (text_of(given.get(name)) for name in ("path", "absolutePath", "file_path"))
        return next(filter(None, paths), None)

    def answer(self, output: str, *, failed: object = None) -> None:
        """What came of it."""
        is_command = kind_of_call(self.name) == "shell"
        self.output, self.exit_code = output, _exit_code_in(output) if is_command else None
        if failed is True or _is_failure(output) or self.exit_code:
            self.ok = False
        else:
            # Cline does not tell how a command ended.
            self.ok = None if is_command and self.exit_code is None else True


def kind_of_call(name: str) -> ToolKind | None:
    """The sort of a tool, where its name alone does not tell."""
    return "shell" if name in ("execute_command", "run_commands") else _KINDS.get(name)


def target_of_call(given: Any) -> str | None:
    """What a call of one of the newest tools is about: they take lists."""
    paths = [text_of(file.get("path")) for file in objects_of(fields_of(given).get("files"))]
    return " ".join(filter(None, paths)) or None


def plain_text(text: str) -> tuple[str, str]:
    """What a model thought, and what it said, in a text with calls in it."""
    said, position = [], 0
    for call in tagged(text, _XML_TOOLS):
        said.append(text[position : call.start])
        position = call.end
    thoughts = (thought.strip() for thought in _THOUGHT.findall(text))
    return "\n".join(thoughts), _THOUGHT.sub("", "".join([*said, text[position:]])).strip()


def calls_in(blocks: list[Fields]) -> Iterator[ClineCall]:
    """The calls in a message of the agent."""
    for block in blocks:
        if block.get("type") == "tool_use":
            name = text_of(block.get("name"))
            if name:
                yield ClineCall(name, block.get("input"), text_of(block.get("id")) or "")
        elif block.get("type") == "text":
            for call in tagged(content_text(block), _XML_TOOLS):
                given = {}
                for part in tagged(call.inner):
                    given[part.tag] = part.inner.removeprefix("\n").removesuffix("\n")
                yield ClineCall(call.tag, given)


def answer_calls(calls: list[ClineCall], blocks: list[Fields]) -> None:
    """Give calls the results in the message that follows them."""
    waiting = list(calls)
    last: ClineCall | None = None
    for block in blocks:
        text = content_text(block)
        if block.get("type") == "tool_result":
            asked = block.get("tool_use_id")
            named = next((call for call in waiting if call.id and call.id == asked), None)
            if named is not None:
                named.answer(_result_text(block.get("content")), failed=block.get("is_error"))
                waiting.remove(named)
            continue
        skipped, result = _not_run_in(text), _result_in(text)
        name = skipped or (result[0] if result else None)
        if name is None:
            # The oldest versions put the result into a block of its own.
            is_environment = text.lstrip().startswith("<environment_details>")
            if last is not None and not last.output and not is_environment:
                last.answer(text)
            last = None
            continue
        last = next((call for call in waiting if call.name == name), None)
        if last is not None:
            waiting.remove(last)
            last.was_run = not skipped
            last.answer(result[1] if result else text, failed=bool(skipped))


def _result_text(content: Any) -> str:
    """A result; the newest tools give a list of them, or one as JSON."""
    found = json_of(content)
    parts = [found] if isinstance(found, dict) else objects_of(found)
    if parts and all("result" in part or "error" in part for part in parts):
        texts = [text_of(part.get("result")) or text_of(part.get("error")) for part in parts]
        return "\n".join(text or "" for text in texts)
    return content_text(content)


class ClineSentCalls:
    """Every call that was sent to and fro, to look up what the screen does not show."""

    def __init__(self, messages: list[Fields]) -> None:
        self.calls: list[ClineCall] = []
        self._next = 0
        asked: list[ClineCall] = []
        for message in messages:
            blocks = blocks_of(message)
            if message.get("role") == "assistant":
                asked = list(calls_in(blocks))
                self.calls += asked
            else:
                answer_calls(asked, blocks)
                asked = []
        self.calls = [call for call in self.calls if call.was_run and call.name not in SPEECH]

    def find(self, names: tuple[str, ...], path: str | None) -> ClineCall | None:
        """The next call of one of these tools, about this path."""
        for number in range(self._next, min(self._next + _AHEAD, len(self.calls))):
            call = self.calls[number]
            fits = path is None or call.path is None or _same_path(call.path, path)
            if call.name in names and fits:
                self._next = number + 1
                return call
        return None


def blocks_of(message: Fields) -> list[Fields]:
    """The content of a message as blocks."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects_of(content)


def _same_path(one: str, other: str) -> bool:
    one, other = (path.replace("\\", "/").removeprefix("./").rstrip("/") for path in (one, other))
    # The folder of the work is `.` to the model, and has its name on the screen.
    return (
        "." in (one, other)
        or one == other
        or one.endswith(f"/{other}")
        or other.endswith(f"/{one}")
    )


def _result_in(text: str) -> tuple[str, str] | None:
    """The tool whose result a text is, and the result."""
    match = _RESULT.match(text)
    return (match[1], text[match.end() :]) if match else None


def _not_run_in(text: str) -> str | None:
    """The tool that was asked for and not run."""
    match = _NOT_RUN.match(text)
    return match[1] if match else None


def _is_failure(output: str) -> bool:
    """Whether a result says that its call failed, or was refused."""
    return output.lstrip().startswith(_FAILED)


def _exit_code_in(output: str) -> int | None:
    """The exit code that a terminal's output begins with."""
    match = _EXIT.search(output[:500])
    return int(match[1]) if match else None


def tell_call(dialogue: Dialogue, call: ClineCall, at: int | None) -> None:
    """A call with what came of it."""
    dialogue.call(
        call.id or None,
        call.name,
        call.given,
        at=at,
        kind=kind_of_call(call.name),
        target=target_of_call(call.given),
        output=call.output,
        ok=call.ok,
        exit_code=call.exit_code,
    )
