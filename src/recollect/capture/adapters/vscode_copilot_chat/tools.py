"""Tool calls of a chat in VS Code, which are told in two places.

What was shown (`response`) has the tool's name in VS Code, a sentence for the
screen and how it went; what the model asked for (`toolCallRounds`) has its own
name and the arguments, and `toolCallResults` what it was given back.

Until early 2026 the screen had ids of its own for calls, and it still has them
for some; only the rest can be joined by id. What is left is joined by the
tool, and by what the call was about where both sides tell it. Calls that run
side by side are shown in the order they ended, so their order alone says little.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from recollect.capture.logs.editors import file_path
from recollect.capture.logs.tools import kind_of, target_of
from recollect.capture.logs.values import (
    Fields,
    fields_of,
    first_text,
    json_of,
    list_of,
    moment_of,
    non_empty,
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
INVOCATION = "toolInvocationSerialized"
FIRST = -1

# Tools that the model knows by a name of other words; the rest
# differs only in how words are joined.
_NAMES = {
    "copilot_editNotebook": "edit_notebook_file",
    "copilot_findFiles": "file_search",
    "copilot_findTestFiles": "test_search",
    "copilot_findTextInFiles": "grep_search",
    "copilot_getSearchResults": "get_search_view_results",
    "copilot_insertEdit": "insert_edit_into_file",
    "copilot_listDirectory": "list_dir",
    "copilot_multiReplaceString": "multi_replace_string_in_file",
    "copilot_replaceString": "replace_string_in_file",
    "copilot_runTests1": "run_tests",
    "copilot_searchCodebase": "semantic_search",
}
# A tool that another one calls; the screen shows both, and only the outer one is the model's.
_INNER = {
    "vscode_fetchWebPage_internal": "copilot_fetchWebPage",
    "vscode_editFile_internal": "copilot_insertEdit",
}
# How many calls of a tool may overtake each other.
_SIDE_BY_SIDE = 32


class CopilotChatCall(NamedTuple):
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


class CopilotChatRequestedCall(NamedTuple):
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


def requested_calls(rounds: list[Fields], results: Fields) -> list[CopilotChatRequestedCall]:
    """The calls of all rounds."""
    calls = []
    for one in rounds:
        at = moment_of(one.get("timestamp"))
        for asked in objects_of(one.get("toolCalls")):
            call, name = plain_id(asked.get("id")), text_of(asked.get("name"))
            if call and name:
                output = _rendered(results.get(str(asked.get("id"))))
                given = json_of(asked.get("arguments"))
                calls.append(CopilotChatRequestedCall(call, name, given, output, at))
    return calls


def join_call(shown: Fields | None, asked: CopilotChatRequestedCall | None) -> CopilotChatCall:
    """A call out of what was shown of it and what the model asked for.

    One of them may be missing.
    """
    part = shown or {}
    details, specific = part.get("resultDetails"), fields_of(part.get("toolSpecificData"))
    tool = text_of(part.get("toolId")) or ""
    name = asked.name if asked else tool or "tool"
    kind = _kind(name, tool, fields_of(part.get("source")))
    given = asked.given if asked else None
    if given in (None, ""):
        given = _given(part, specific, fields_of(details))
    state = fields_of(specific.get("terminalCommandState"))
    output = (asked.output if asked else None) or _shown_output(specific, details)
    exit_code = whole_of(state.get("exitCode"))
    if exit_code is None and kind == "shell" and (exited := _EXITED.search(output or "")):
        exit_code = int(exited[1])
    target = _address(kind, given) or target_of(kind, given) or patched_file(given)
    return CopilotChatCall(
        call=asked.call if asked else plain_id(part.get("toolCallId")),
        name=name,
        given=given,
        kind=kind,
        target=target or _linked(part) or _quoted(kind, part),
        output=output,
        ok=_ok(kind, part, fields_of(details), output, exit_code),
        exit_code=exit_code,
        duration_ms=whole_of(state.get("duration")),
        at=asked.at if asked else None,
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
    commands = [line.get(name) for name in ("userEdited", "toolEdited", "original")]
    command = next(filter(None, [*commands, specific.get("command")]), None)
    if said := text_of(command):
        # A space before it keeps it out of the shell's history.
        return {"command": said.strip()}
    if specific.get("rawInput") is not None:
        return json_of(specific["rawInput"])
    if text_of(details.get("input")):
        return json_of(details["input"])
    if specific.get("kind") == "subagent":
        names = ("description", "prompt", "agentName")
        return non_empty({name: text_of(specific.get(name)) for name in names})
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


def patched_file(given: object) -> str | None:
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
    said = first_text(printed, specific.get("result"), output)
    if said:
        return said
    texts = [text_of(item.get("value")) for item in objects_of(output)]
    return "\n".join(filter(None, texts)) or None


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


# Which call on the screen is which call of the model ---------------------------


class CopilotChatPairs(NamedTuple):
    """Calls as the model made them, by the number of the part that shows them."""

    shown: dict[int, CopilotChatRequestedCall]
    # Those that no part shows, by the part that they come after; `FIRST` when that is none.
    hidden: dict[int, list[CopilotChatRequestedCall]]
    # Parts that only show how a tool did what another part tells.
    inner: set[int]


def pair_calls(
    parts: list[Fields], asked_calls: list[CopilotChatRequestedCall]
) -> CopilotChatPairs:
    """Each call of the model with the part that shows it, or with its place among them."""
    calls = {number: part for number, part in enumerate(parts) if part.get("kind") == INVOCATION}
    tools = {part.get("toolId") for part in calls.values() if text_of(part.get("toolId"))}
    inner = {
        number
        for number, part in calls.items()
        if _INNER.get(text_of(part.get("toolId")) or "") in tools
    }
    left = {asked.call: asked for asked in asked_calls}
    shown: dict[int, CopilotChatRequestedCall] = {}
    for number, part in calls.items():
        if asked := left.pop(plain_id(part.get("toolCallId")) or "", None):
            shown[number] = asked
    by_tool: dict[str, list[CopilotChatRequestedCall]] = {}
    for asked in left.values():
        by_tool.setdefault(_plain(asked.name), []).append(asked)
    for number, part in calls.items():
        tool = text_of(part.get("toolId")) or ""
        waiting = by_tool.get(_plain(_NAMES.get(tool, tool)))
        # What a sub-agent called is not among the calls of the model that started it.
        is_agents = part.get("subAgentInvocationId")
        if waiting and number not in shown and number not in inner and not is_agents:
            shown[number] = waiting.pop(_most_like(join_call(part, None), waiting))
    return CopilotChatPairs(shown, _hidden(asked_calls, shown), inner)


def _most_like(seen: CopilotChatCall, waiting: list[CopilotChatRequestedCall]) -> int:
    """Which of the calls of a tool a part shows: the one about the same thing, else the first."""
    about = _comparable(seen.target)
    for number, asked in enumerate(waiting[:_SIDE_BY_SIDE] if about else ()):
        if _comparable(join_call(None, asked).target) == about:
            return number
    return 0


def _comparable(target: str | None) -> str:
    return (target or "").strip().lower()


def _hidden(
    asked_calls: list[CopilotChatRequestedCall], shown: dict[int, CopilotChatRequestedCall]
) -> dict[int, list[CopilotChatRequestedCall]]:
    places = {asked.call: number for number, asked in shown.items()}
    hidden: dict[int, list[CopilotChatRequestedCall]] = {}
    place = FIRST
    for asked in asked_calls:
        if asked.call in places:
            place = places[asked.call]
        else:
            hidden.setdefault(place, []).append(asked)
    return hidden


def _plain(name: str) -> str:
    return name.removeprefix("copilot_").replace("_", "").replace("-", "").lower()
