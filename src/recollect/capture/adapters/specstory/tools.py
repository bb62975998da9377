"""What a SpecStory export tells of a tool use.

Each provider renders its tools in its own way, for people: a command in
backticks or in a block, pairs such as `path` and `pattern`, parameters as
JSON, results in a block. What can be told apart is; the rest is output.
"""

from __future__ import annotations

import html
import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from recollect.capture.adapters.specstory.records import SpecStoryBlock, SpecStoryLines
from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import fields_of, first_text, json_of, text_of
from recollect.model.logs import ToolKind

# How the names of the tools begin that Copilot brings to VS Code.
_COPILOT_TOOL = "copilot_"
_OPENING = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">(<details>)?')
_SUMMARY = re.compile(
    r"(?:<details>)?\s*(?:<summary>)?Tool use: \*\*(.*?)\*\*(.*?)(?:</summary>)?$"
)
_TAGS = re.compile(r"(?:</?(?:details|summary|tool-use)[^>]*>\s*)+$")
_PAIR = re.compile(r"\b(\w+) `([^`]*)`")
_BULLET = re.compile(r"- (\w+): `?(.*?)`?$")
_QUOTED = re.compile(r"\s*`([^`]+)`\s*$")
_EXIT = re.compile(r"(?:Exit code|Process exited with code) (\d+)")
_LINK = re.compile(r"\[[^\]]*\]\(file://([^)\s]+)\)")
_ANY_QUOTED = re.compile(r"`([^`]+)`")
# How Claude Code says what became of an edit or a call.
_UPDATED = re.compile(r"(?:The file|File created successfully at:) (\S+)")
_REFUSED = "<tool_use_error>"
_LABEL = re.compile(
    r"\**(Parameters|Input|Additional "
    r"data|Result|Output|Error|Status)\b:?\**:?\s*(?:\*\*(\w+)\*\*)?\s*$"
)
_SUBJECT = re.compile(
    r"(?:Read|Edit|Write|Create|Delete|Add|Update|Modify) ?(?:file)?: `?([^`*]+)`?"
)

# What stands beside a tool's name is a path, a command or a pattern.
_MOST_SUMMARY = 4_000
_KINDS: dict[str, ToolKind] = {
    "read": "read",
    "write": "edit",
    "shell": "shell",
    "search": "search",
    "mcp": "mcp",
}


class SpecStoryToolUse(NamedTuple):
    """A tool use, as far as it can be told."""

    name: str
    kind: ToolKind
    input: dict[str, Any] | None
    output: str | None
    ok: bool | None
    exit_code: int | None


def tool_use(lines: list[str]) -> SpecStoryToolUse:
    """What the lines of a tool use tell, its tags among them."""
    opening = _OPENING.match(lines[0])
    # The editors' extensions escape what they show; the command line does
    # not, and opens both tags on one line.
    if opening and not opening[3]:
        lines = [html.unescape(line) for line in lines]
    name, said, body = _named(lines, opening[2] if opening else "")
    kind = kind_of(name.removeprefix(_COPILOT_TOOL))
    if kind == "other" and opening:
        kind = _KINDS.get(opening[1], "other")
    return _ToolUseReader(kind).read(name, said, body)


def _named(lines: list[str], name: str) -> tuple[str, str, list[str]]:
    """A tool's name, what its summary adds, and the lines after that."""
    for number, line in enumerate(lines):
        if summary := _SUMMARY.match(line):
            return name or summary[1], summary[2][:_MOST_SUMMARY].strip(" •\t"), lines[number + 1 :]
    return name or "unknown", "", lines[1:]


class _ToolUseReader:
    """Goes through the body of a tool use."""

    def __init__(self, kind: ToolKind) -> None:
        self.kind = kind
        self.input: dict[str, Any] = {}
        self.output: list[str] = []
        self.words: list[str] = []
        self.label = ""
        self.ok: bool | None = None

    def read(self, name: str, said: str, body: list[str]) -> SpecStoryToolUse:
        self._summary(said)
        for piece in SpecStoryLines(body).pieces():
            if isinstance(piece, SpecStoryBlock):
                self._block(piece)
            elif piece.text.strip() and not _TAGS.match(piece.text):
                self._line(piece.text)
        # Words before anything else say what a call is for; alone, they are what came back.
        if self.words and (self.input or self.output):
            self.input.setdefault("description", "\n".join(self.words))
        elif self.words:
            self.output = self.words
        output = "\n".join(self.output)
        if self.kind == "edit" and "path" not in self.input and (updated := _UPDATED.match(output)):
            self.input["path"] = updated[1]
        if output.startswith(_REFUSED):
            self.ok = False
        exited = _EXIT.search(output[:2_000]) if self.kind == "shell" else None
        exit_code = int(exited[1][:9]) if exited else None
        ok = exit_code == 0 if exit_code is not None else self.ok
        return SpecStoryToolUse(name, self.kind, self.input or None, output or None, ok, exit_code)

    def _summary(self, said: str) -> None:
        """What stands beside the tool's name: a file, or the first thing in backticks."""
        if link := _LINK.search(said):
            self.input["path"] = unquote(link[1])
        elif quoted := _ANY_QUOTED.search(said):
            self._subject(quoted[1])
        elif said:
            self._line(said)

    def _line(self, line: str) -> None:
        if label := _LABEL.match(line.strip()):
            self._labelled(label[1], label[2])
        elif quoted := _QUOTED.match(line):
            self._subject(quoted[1])
        elif self.label == "Input" and (bullet := _BULLET.match(line)):
            self.input[bullet[1]] = bullet[2]
        elif subject := _SUBJECT.search(line):
            self.input.setdefault("path", subject[1].strip())
        elif pairs := _PAIR.findall(line) if self.kind in ("read", "search") else []:
            self.input |= dict(pairs)
        else:
            (self.output if self.input else self.words).append(line)

    def _labelled(self, label: str, state: str | None) -> None:
        self.label = label
        if label == "Error":
            self.ok = False
        elif label == "Status" and state and self.ok is None:
            self.ok = {
                "completed": True,
                "success": True,
                "error": False,
                "failed": False,
                "cancelled": False,
            }.get(state)

    def _subject(self, text: str) -> None:
        name = {
            "shell": "command",
            "read": "path",
            "edit": "path",
            "search": "pattern",
            "web": "url",
        }.get(self.kind, "subject")
        self.input.setdefault(name, text)

    def _block(self, block: SpecStoryBlock) -> None:
        text = "\n".join(block.lines)
        is_shell = block.language in ("bash", "sh", "shell")
        is_code = block.language not in ("", "text")
        if self.label in ("Parameters", "Input"):
            self.input |= _flat(fields_of(json_of(text))) or {"text": text}
        elif self.label == "Additional data":
            pass
        elif self.label in ("Result", "Output", "Error"):
            self.output.append(_result(text))
        elif self.kind == "shell" and is_shell and "command" not in self.input:
            self.input["command"] = text
        elif self.kind == "edit" and block.language == "diff":
            self.input["patch"] = (
                f"{self.input['patch']}\n{text}" if "patch" in self.input else text
            )
        elif self.kind == "edit" and is_code and "content" not in self.input:
            self.input["content"] = text
        else:
            self.output.append(text)
        self.label = ""


def _result(text: str) -> str:
    """A result that VS Code wrapped: what came back, or what the person was told about it."""
    wrapped = fields_of(json_of(text))
    if "invocationMessage" not in wrapped or wrapped.get("resultDetails"):
        return text
    names = ("content", "toolCallResult", "pastTenseMessage")
    return first_text(*(wrapped.get(name) for name in names)) or ""


def _flat(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters with the command where others have it."""
    command = fields_of(parameters.get("commandLine"))
    line = text_of(command.get("toolEdited")) or text_of(command.get("original"))
    return {**parameters, "command": line} if line else parameters
