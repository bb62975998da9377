"""Codex: tool calls by their many names, and what their outputs say.

No record says whether a command succeeded: the exit code stands in the text
of the output, in a shape that changed with the versions. Only the head of a
text is looked at, so a large output costs nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.adapters.codex.prompts import picture_in
from recollect.capture.adapters.codex.records import whole
from recollect.capture.logs.values import text_of
from recollect.model.logs import ToolKind

KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "container.exec": "shell",
    "shell_command": "shell",
    "exec_command": "shell",
    # What is typed into a command that runs is no command.
    "write_stdin": "other",
    "local_shell": "shell",
    "unified_exec": "shell",
    "bash": "shell",
    "apply_patch": "edit",
    "edit": "edit",
    "write": "edit",
    "view_image": "read",
    "read": "read",
    "read_file": "read",
    "list_dir": "read",
    "grep_files": "search",
    "tool_search": "search",
    "web_search": "web",
    "spawn_agent": "task",
    "send_input": "task",
    "send_message": "task",
    "followup_task": "task",
    "resume_agent": "task",
    "wait_agent": "task",
    "wait": "task",
    "close_agent": "task",
    "interrupt_agent": "task",
    "list_agents": "task",
}
# In the order in which they say most about a call.
TARGETS = (
    "command", "cmd", "chars", "path", "file_path", "query", "url", "pattern", "message", "prompt",
)  # fmt: skip
PATCH_HEADS = ("Add File: ", "Update File: ", "Delete File: ")
SHELL_FLAGS = ("-lc", "-c", "-command", "/c")
MAX_TARGET = 4000
FAILURES = (
    "execution error", "apply_patch verification failed", "failed to parse function arguments",
    "unsupported call", "unsupported custom tool call", "exec_command failed",
    "write_stdin failed", "aborted", "command aborted by user", "exec command rejected by user",
    "patch rejected by user", "command timed out", "sandbox error",
)  # fmt: skip
HEADS = ("Command: ", "Exit code: ", "Chunk ID: ", "Wall time", "Script ", "Process exited ")

_exit = re.compile(r"(?:Exit code: |Process exited with code )(-?\d{1,9})\b")
_process = re.compile(r"Process running with session ID (\d{1,12})\b")
_next_head = re.compile(r"\n(?:Chunk ID: |Wall time:? [\d.]+ seconds\n)")
_denied = re.compile(
    r"failed in sandbox \w{1,40} with execution error: sandbox denied exec error, "
    r"exit code: (-?\d{1,9}), stdout: "
)
_wall = re.compile(r"Wall time:? (\d{1,9}(?:\.\d{1,9})?) seconds")
_seconds = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s)")


class CodexOutcome(Struct, gc=False):
    """What a tool gave back; None is unknown."""

    text: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    # The process that goes on, for `write_stdin` to ask after it.
    process: str | None = None


class _Metadata(Struct, gc=False):
    exit_code: Any = None
    duration_seconds: Any = None


class _Wrapped(Struct, gc=False):
    """The output of a command to about 0.6x: JSON in a string."""

    output: str
    metadata: _Metadata


_wrapped: msgspec.json.Decoder[_Wrapped] = msgspec.json.Decoder(_Wrapped)


# The call -------------------------------------------------------------------


def full_name(name: object, namespace: object) -> str:
    """A tool's name with its namespace: MCP tools are split in two since 2026."""
    short = (text_of(name) or "unknown").removeprefix("functions.")
    space = text_of(namespace)
    if space is None or short.startswith(space):
        return short
    return f"{space}{short}" if space.endswith("__") else f"{space}__{short}"


def kind_of(name: str) -> ToolKind:
    """What sort of work a tool does, by its name."""
    found = KINDS.get(name)
    if found is not None:
        return found
    return "mcp" if name.startswith("mcp__") else KINDS.get(name.rpartition("__")[2], "other")


def decode_arguments(arguments: object) -> Any:
    """A call's arguments: JSON in a string, or the string itself."""
    if isinstance(arguments, str) and arguments[:1] in ("{", "["):
        try:
            return msgspec.json.decode(arguments)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            pass
    return arguments


def aim(name: str, kind: ToolKind, given: Any) -> tuple[ToolKind, str | None]:
    """What a call acts on (a command, paths, a query), and its kind seen closer.

    A patch may be applied through the shell: that is an edit.
    """
    if kind == "edit":
        return kind, patched(_patch_text(given)) or _first(given)
    if kind == "shell":
        command = command_line(given)
        if command is not None and command.startswith("apply_patch"):
            return "edit", patched(command) or command[:MAX_TARGET]
        return kind, None if command is None else command[:MAX_TARGET]
    if name.endswith("wait_agent") and isinstance(given, dict):
        return kind, _joined(given.get("targets") or given.get("ids"))
    return kind, _first(given)


def command_line(given: Any) -> str | None:
    """The command that was run, without the shell around it."""
    if isinstance(given, dict):
        given = given.get("command") or given.get("cmd") or given.get("chars") or given.get("input")
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        return None
    words = [word for word in given if isinstance(word, str)]
    if len(words) == 3 and words[1].lower() in SHELL_FLAGS:
        return words[2]
    return " ".join(words) if words[:1] == ["apply_patch"] else shlex.join(words) or None


def patched(text: str | None) -> str | None:
    """The files that a patch names, the first few of them."""
    if not text:
        return None
    paths: list[str] = []
    at = text.find("*** ")
    while at >= 0 and len(paths) < 8:
        if text.startswith(PATCH_HEADS, at + 4) and text[at - 1 : at] in ("", "\n"):
            end = text.find("\n", at)
            line = text[at:end] if end >= 0 else text[at:]
            paths.append(line.partition(" File: ")[2].strip())
        at = text.find("\n*** ", at)
        at = at + 1 if at >= 0 else at
    return ", ".join(paths) or None


def _patch_text(given: Any) -> str | None:
    if isinstance(given, dict):
        given = given.get("input") or given.get("patch")
    return text_of(given)


def _first(given: Any) -> str | None:
    if isinstance(given, dict):
        for key in TARGETS:
            if found := text_of(given.get(key)):
                return found[:MAX_TARGET]
    return None


def _joined(values: Any) -> str | None:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return text_of(values)
    return ", ".join(value for value in values if isinstance(value, str)) or None


# The output -----------------------------------------------------------------


def outcome(output: object) -> CodexOutcome:
    """What the `output` of a call says, in whatever shape this version wrote it."""
    if type(output) is str:
        return _from_wrapped(output) if output.startswith('{"output":') else from_text(output)
    if isinstance(output, list):
        return from_text(texts_in(output))
    if isinstance(output, dict):
        text = texts_in([output]) or text_of(output.get("content"))
        found = from_text(text or msgspec.json.encode(output).decode())
        success = output.get("success")
        if isinstance(success, bool):
            found.ok = success
        return found
    return CodexOutcome()


def texts_in(parts: object) -> str:
    """Content items as one text; pictures become placeholders."""
    found = []
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                found.append(text)
            elif picture := picture_in(part):
                found.append(picture)
    return "\n".join(found)


def from_text(text: str) -> CodexOutcome:
    """What an output says that is a text: its head, where it has one, is no output."""
    if text.startswith(HEADS):
        return _from_head(text)
    if text.startswith("failed in sandbox "):
        return _from_sandbox(text)
    return CodexOutcome(text, ok=False if text.startswith(FAILURES) else None)


def _from_wrapped(text: str) -> CodexOutcome:
    try:
        record = _wrapped.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return CodexOutcome(text)
    code, seconds = record.metadata.exit_code, record.metadata.duration_seconds
    known = (type(seconds) is float or type(seconds) is int) and 0 <= seconds < 1e9
    duration = round(seconds * 1000) if known else None
    if type(code) is not int or abs(code) > 1 << 32:
        return CodexOutcome(record.output, None, None, duration)
    return CodexOutcome(record.output, code == 0, code, duration)


def _from_head(text: str) -> CodexOutcome:
    if text.startswith("Command: "):
        # Version 0.115 repeats the command, which may be a script of many lines.
        text = _after_command(text)
    head = text[:400]
    label = head.find("Output:\n")
    if label >= 0:
        head, body = head[:label], text[label + 8 :]
    elif head.endswith("Output:"):
        body = ""
    else:
        body = text
    exited, wall = _exit.search(head), _wall.search(head)
    code = int(exited[1]) if exited else None
    ok = None if code is None else code == 0
    if head.startswith("Script "):
        ended = head[7:].partition("\n")[0]
        ok = {"completed": True, "failed": False, "terminated": False}.get(ended)
    elif code is None and "aborted by user" in text[:200]:
        ok = False
    going_on = _process.search(head) if code is None else None
    process = going_on[1] if going_on else None
    return CodexOutcome(body, ok, code, round(float(wall[1]) * 1000) if wall else None, process)


def _from_sandbox(text: str) -> CodexOutcome:
    """What versions up to 0.34 say of a command that failed inside their sandbox."""
    told = _denied.match(text)
    if told is None:
        return CodexOutcome(text, ok=False)
    out, _, err = text[told.end() :].partition(", stderr: ")
    return CodexOutcome("\n".join(filter(None, (out, err))), False, int(told[1]))


def _after_command(text: str) -> str:
    found = _next_head.search(text)
    return text[found.start() + 1 :] if found else text


def milliseconds_of(duration: object) -> int | None:
    """A duration as Codex writes it: seconds and nanoseconds, or a text such as 1.2s."""
    if isinstance(duration, dict):
        secs, nanos = whole(duration.get("secs")), whole(duration.get("nanos"))
        return None if secs is None else secs * 1000 + (nanos or 0) // 1_000_000
    if isinstance(duration, str) and (found := _seconds.fullmatch(duration)):
        return round(float(found[1]) * (1 if found[2] == "ms" else 1000))
    return None


def from_mcp(result: object) -> CodexOutcome:
    """What an MCP tool gave back: content, or an error, by itself or in Ok / Err."""
    if isinstance(result, dict) and "Err" in result:
        return CodexOutcome(text_of(result["Err"]), ok=False)
    inner = result.get("Ok", result) if isinstance(result, dict) else None
    if not isinstance(inner, dict):
        return CodexOutcome(text_of(result))
    failed = inner.get("isError", inner.get("is_error"))
    return CodexOutcome(texts_in(inner.get("content")) or None, ok=failed is not True)
