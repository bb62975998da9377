"""Tool calls of a chat in VS Code, which are told in two places.

What was shown (`response`) has the tool's name in VS Code, a sentence for the
screen and how it went; what the model asked for (`toolCallRounds`) has its own
name and the arguments, and `toolCallResults` what it was given back.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from recollect.capture.logs.editors import file_path
from recollect.capture.logs.tools import kind_of, target_of
from recollect.capture.logs.values import (
    Fields,
    decoded,
    fields_of,
    list_of,
    moment_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import ToolKind

# How the names of its own tools begin.
_OWN_TOOL = "copilot_"
# Names on the screen that say less than those the model uses.
_KINDS: dict[str, ToolKind] = {
    "copilot_findTextInFiles": "search",
    "copilot_githubRepo": "search",
    "copilot_insertEdit": "edit",
    "copilot_multiReplaceString": "edit",
    "copilot_replaceString": "edit",
    "execution_subagent": "task",
    "github_repo": "search",
    "search_subagent": "task",
    "vscode_editFile_internal": "edit",
    "vscode_fetchWebPage_internal": "web",
}
# Ids of the model's calls are made unique with this; those on the screen are without it.
_SUFFIX = re.compile(r"__vscode-\d+$")
_FILE_LINK = re.compile(r"\]\((file://[^)\s#]+)")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$", re.MULTILINE)
_QUOTED = re.compile(r"[`\"]([^`\"\n]+)[`\"]")
_EXITED = re.compile(r"[Cc]ommand exited with code (\d{1,9})\b")
_FAILED = (
    "ERROR while calling tool", "ERROR: ", "Applying patch failed with error",
    "Failed to find command",
    "The user cancelled the tool call",
)  # fmt: skip
# Why a call was let through, or not: denied, skipped.
_NOT_RUN = (0, 5)


class Told(NamedTuple):
    """All that is known of one call."""

    call: str | None
    name: str
    given: Any
    kind: ToolKind
    target: str | None
    output: str | None
    ok: bool | None
    exit_code: int | None
    duration_ms: int | None
    at: int | None


class Wish(NamedTuple):
    """What the model asked for, and what it was given back."""

    call: str
    name: str
    given: Any
    output: str | None
    at: int | None


def plain_id(value: object) -> str | None:
    """A call's id, as it stands on the screen."""
    text = text_of(value)
    return _SUFFIX.sub("", text) if text else None


def wishes_of(rounds: list[Fields], results: Fields) -> list[Wish]:
    """The calls of all rounds."""
    return [
        Wish(
            call,
            name,
            decoded(wish.get("arguments")),
            _rendered(results.get(str(wish.get("id")))),
            at,
        )
        for one in rounds
        for at in [moment_of(one.get("timestamp"))]
        for wish in objects_of(one.get("toolCalls"))
        if (call := plain_id(wish.get("id"))) and (name := text_of(wish.get("name")))
    ]


def told(shown: Fields | None, wish: Wish | None) -> Told:
    """A call out of what was shown of it and what the model asked for.

    One of them may be missing.
    """
    part = shown or {}
    details, specific = part.get("resultDetails"), fields_of(part.get("toolSpecificData"))
    tool = text_of(part.get("toolId")) or ""
    name = wish.name if wish else tool or "tool"
    kind = _kind(name, tool, fields_of(part.get("source")))
    given = (
        wish.given
        if wish and wish.given not in (None, "")
        else _given(part, specific, fields_of(details))
    )
    state = fields_of(specific.get("terminalCommandState"))
    output = (wish.output if wish else None) or _shown_output(specific, details)
    exit_code = whole_of(state.get("exitCode"))
    if exit_code is None and kind == "shell" and (exited := _EXITED.search(output or "")):
        exit_code = int(exited[1])
    return Told(
        call=wish.call if wish else plain_id(part.get("toolCallId")),
        name=name,
        given=given,
        kind=kind,
        target=_address(kind, given)
        or target_of(kind, given)
        or patched(given)
        or _linked(part)
        or _quoted(kind, part),
        output=output,
        ok=_ok(kind, part, fields_of(details), output, exit_code),
        exit_code=exit_code,
        duration_ms=whole_of(state.get("duration")),
        at=wish.at if wish else None,
    )


def _kind(name: str, tool: str, source: Fields) -> ToolKind:
    if source.get("type") == "mcp":
        return "mcp"
    kind = _KINDS.get(name) or kind_of(name.removeprefix(_OWN_TOOL))
    return kind if kind != "other" else _KINDS.get(tool) or kind_of(tool.removeprefix(_OWN_TOOL))


def sentence(message: object) -> str:
    """A text that may be wrapped as Markdown."""
    return text_of(fields_of(message).get("value")) or text_of(message) or ""


def _given(part: Fields, specific: Fields, details: Fields) -> Any:
    line = fields_of(specific.get("commandLine"))
    command = next(
        (
            said
            for said in (line.get(name) for name in ("userEdited", "toolEdited", "original"))
            if said
        ),
        None,
    )
    command = command or specific.get("command")
    if said := text_of(command):
        # A space before it keeps it out of the shell's history.
        return {"command": said.strip()}
    if specific.get("rawInput") is not None:
        return decoded(specific["rawInput"])
    if text_of(details.get("input")):
        return decoded(details["input"])
    if specific.get("kind") == "subagent":
        return {
            name: text
            for name in ("description", "prompt", "agentName")
            if (text := text_of(specific.get(name)))
        }
    if specific.get("kind") == "todoList":
        return {"todoList": list_of(specific.get("todoList"))}
    message = sentence(part.get("invocationMessage")) or sentence(part.get("pastTenseMessage"))
    return {"message": message} if message else None


def _linked(part: Fields) -> str | None:
    """The file that the sentence on the screen links to."""
    for name in ("invocationMessage", "pastTenseMessage"):
        if link := _FILE_LINK.search(sentence(part.get(name))):
            return file_path(link[1])
    return None


def _address(kind: ToolKind, given: Any) -> str | None:
    """The page that was fetched; what was looked for on it says less."""
    urls = list_of(fields_of(given).get("urls")) if kind == "web" else []
    return text_of(urls[0]) if urls else None


def patched(given: object) -> str | None:
    """The first file that a patch changes."""
    fields = fields_of(given)
    patch = _PATCHED.search(text_of(fields.get("input")) or text_of(fields.get("patch")) or "")
    return patch[1] if patch else None


def _quoted(kind: ToolKind, part: Fields) -> str | None:
    """What was searched for, as the sentence on the screen has it."""
    words = _QUOTED.search(sentence(part.get("invocationMessage"))) if kind == "search" else None
    return words[1] if words else None


def _shown_output(specific: Fields, details: object) -> str | None:
    if isinstance(details, list):
        # Files that were found; some with the place in them.
        found = (uri_path(item.get("uri")) or uri_path(item) for item in objects_of(details))
        return "\n".join(path for path in found if path) or None
    printed = text_of(fields_of(specific.get("terminalCommandOutput")).get("text"))
    output = fields_of(details).get("output")
    said = printed or text_of(specific.get("result")) or text_of(output)
    return (
        said
        or "\n".join(text for item in objects_of(output) if (text := text_of(item.get("value"))))
        or None
    )


def uri_path(uri: object) -> str | None:
    """The path of a file, whose address is written down in parts."""
    parts = fields_of(uri)
    path = text_of(parts.get("path")) or ""
    if parts.get("scheme", "file") != "file":
        # On another machine, whose paths look like this; `fsPath` has
        # them as this one would write them.
        return path or None
    if path[:1] == "/" and path[2:3] == ":":
        path = path[1:].replace("/", "\\")
    return text_of(parts.get("fsPath")) or path or file_path(uri)


def _ok(
    kind: ToolKind, part: Fields, details: Fields, output: str | None, exit_code: int | None
) -> bool | None:
    confirmed = part.get("isConfirmed")
    if confirmed is False or fields_of(confirmed).get("type") in _NOT_RUN:
        return False
    if exit_code or details.get("isError") is True or (output or "").startswith(_FAILED):
        return False
    # A command is done, but neither what it printed nor how it ended is known.
    unknown = kind == "shell" and output is None and exit_code is None
    return True if part.get("isComplete") is True and not unknown else None


def _rendered(result: Any) -> str | None:
    """The text of a result, whose parts may be trees that were rendered for the model."""
    pieces = []
    for part in list_of(fields_of(result).get("content")):
        value = fields_of(part).get("value")
        if isinstance(value, str):
            pieces.append(value)
        elif isinstance(value, dict):
            pieces.append(_tree_text(value))
        elif text_of(fields_of(part).get("mimeType")):
            pieces.append(f"[{part['mimeType']}]")
    return "\n".join(piece for piece in pieces if piece) or None


def _tree_text(tree: Fields) -> str:
    pieces: list[str] = []
    # A list instead of calls of calls: somebody else's tree may be deep.
    waiting: list[Any] = [tree.get("node", tree)]
    while waiting:
        node = fields_of(waiting.pop())
        if node.get("lineBreakBefore") and pieces and not pieces[-1].endswith("\n"):
            pieces.append("\n")
        if text := text_of(node.get("text")):
            pieces.append(text)
        waiting += reversed(list_of(node.get("children")))
    return "".join(pieces)
