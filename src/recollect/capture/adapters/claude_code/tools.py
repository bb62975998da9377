"""Claude Code's tools: what a call was about, and what came back from it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any

from recollect.capture.adapters.claude_code.records import ClaudeBlock, ClaudeToolResult, picture
from recollect.capture.logs.lines import UnreadableSource, open_log
from recollect.model.logs import ToolKind

_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "powershell": "shell",
    "edit": "edit",
    "multiedit": "edit",
    "write": "edit",
    "notebookedit": "edit",
    "read": "read",
    "notebookread": "read",
    "ls": "read",
    "glob": "search",
    "grep": "search",
    "toolsearch": "search",
    "webfetch": "web",
    "websearch": "web",
    "web_fetch": "web",
    "web_search": "web",
    "task": "task",
    "agent": "task",
}
# Where the thing a call is about stands in its input, by kind, first found first.
_TARGETS: dict[ToolKind, tuple[str, ...]] = {
    "shell": ("command",),
    "edit": ("file_path", "notebook_path", "path"),
    "read": ("file_path", "notebook_path", "path"),
    "search": ("pattern", "query"),
    "web": ("url", "query"),
    "task": ("description", "prompt"),
    "mcp": ("command", "file_path", "path", "url", "query", "pattern", "name"),
    "other": ("skill", "file_path", "path", "subject", "task_id", "taskId", "bash_id", "shell_id"),
}
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_SAVED = re.compile(
    r"saved to:? [^\n]{0,4000}?tool-results[/\\]([^/\\\n]{1,200}?\.(?:txt|json|md))(?=[\s.,)]|$)"
)
_HEAD_CHARACTERS = 5000
_OVERFLOW_BYTES = 1 << 20
_LONGEST_MS = 1e12


@lru_cache(256)
def kind_of(name: str) -> ToolKind:
    """The sort of tool a name stands for."""
    return "mcp" if name.startswith("mcp__") else _KINDS.get(name.lower(), "other")


def target_of(kind: ToolKind, arguments: object) -> str | None:
    """The command, path, pattern or address that a call is about."""
    if isinstance(arguments, dict):
        for name in _TARGETS[kind]:
            value = arguments.get(name)
            if isinstance(value, str) and value:
                return value
    return None


def result_text(block: ClaudeBlock, outcome: object, overflow: str | None) -> str | None:
    """The text of a tool result, from wherever the client put it.

    A result too long for the transcript is in a file of its own under the
    folder `overflow`, and only a preview naming that file is in the line.
    """
    content = block.content
    text = content if type(content) is str else _content_text(content)
    if not text:
        text = _outcome_text(outcome)
    elif overflow and text.find("tool-results", 0, _HEAD_CHARACTERS) >= 0:
        saved = _SAVED.search(text[:_HEAD_CHARACTERS])
        return (saved and _overflowed(os.path.join(overflow, saved[1]))) or text
    if text and text.startswith("data:image/"):
        return f"[image {len(text) * 3 // 4} bytes]"
    return text


def _content_text(content: object) -> str | None:
    if not isinstance(content, list):
        return None
    return "\n".join(part for part in map(_part, content) if part)


def _part(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    if kind in ("image", "document"):
        return picture(block)
    if kind == "tool_reference":
        return f"[tool {block.get('tool_name')}]"
    title, url = block.get("title"), block.get("url")
    return f"{title} {url}" if isinstance(title, str) and isinstance(url, str) else ""


def _outcome_text(outcome: object) -> str | None:
    if isinstance(outcome, str):
        return outcome
    if not isinstance(outcome, ClaudeToolResult):
        return None
    streams = [text for text in (outcome.stdout, outcome.stderr) if isinstance(text, str) and text]
    if outcome.is_image is True and streams:
        return f"[image {len(streams[0]) * 3 // 4} bytes]"
    return "\n".join(streams)


def _overflowed(path: str) -> str | None:
    """The first and last half of a saved output, or None when it is gone."""
    try:
        descriptor = open_log(path)
    except UnreadableSource:
        return None
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if size <= _OVERFLOW_BYTES:
            return file.read(_OVERFLOW_BYTES).decode("utf-8-sig", "replace")
        head = file.read(_OVERFLOW_BYTES // 2)
        file.seek(size - _OVERFLOW_BYTES // 2)
        tail = file.read(_OVERFLOW_BYTES // 2)
    gap = f"\n[{size - len(head) - len(tail)} bytes left out]\n"
    return head.decode("utf-8-sig", "replace") + gap + tail.decode("utf-8", "replace")


def exit_code(text: str | None) -> int | None:
    """The exit code that a failed command's text begins with, in the versions that write it."""
    found = _EXIT_CODE.match(text[:40]) if text else None
    return int(found[1]) if found else None


def duration_ms(outcome: ClaudeToolResult) -> int | None:
    """How long a call took, for the few tools that say it."""
    value = outcome.duration_ms
    if value is None:
        value = outcome.total_duration_ms
    if value is None and type(outcome.duration_seconds) in (int, float):
        value = outcome.duration_seconds * 1000
    return int(value) if type(value) in (int, float) and 0 <= value < _LONGEST_MS else None
