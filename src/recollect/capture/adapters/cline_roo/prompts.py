"""What Cline and Roo wrap around the words of a person, and what they say in a person's place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator
from typing import NamedTuple

# Written behind, or instead of, what somebody typed.
_ADDED = re.compile(
    r"<(environment_details|mode_notice|explicit_instructions|file_content|folder_content|url_content|problems|git_working_state"
    r"|file_mention|workspace_diagnostics|detailed_steps)\b[^<>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_WRAPPED = re.compile(
    r"</?(?:task|feedback|answer|user_message|user_input|user_command|new_message)\b[^<>]*>"
)
# A reminder of the list of steps, down to the end of the message.
_PROGRESS = re.compile(
    r"^[ \t]*# (?:task_progress\b|TODO LIST UPDATE REQUIRED).*\Z", re.DOTALL | re.MULTILINE
)
# Around the words of a person inside a message that also carries results of tools.
_SPOKEN = ("task", "feedback", "answer", "user_message")
# Messages in the role of the user that nobody typed.
_SYNTHETIC = (
    "[ERROR]", "[TASK RESUMPTION]", "[TASK_RESUMPTION]", "Tool [", "[Continue assisting",
    "The user approved switching to act mode", "<SYSTEM_NOTICE>", "[[NOTE]",
    "New message to respond to with", "# task_progress",
)  # fmt: skip
_CWD = re.compile(
    r"# Current (?:Working|Workspace) Directory \((.+?)\)(?: Files)?[ \t]*$", re.MULTILINE
)
_MODEL = re.compile(r"<model>([^<\n]+)</model>")
_OPENING = re.compile(r"<(\w+)>")
_CLOSING = re.compile(r"</(\w+)>")


def typed(text: str) -> str:
    """What a person typed, out of a message that was sent for them.

    Nothing when nobody typed it.
    """
    if text.lstrip().startswith(_SYNTHETIC):
        return next((block.inner.strip() for block in tagged(text, _SPOKEN)), "")
    text = _ADDED.sub("", text)
    return _WRAPPED.sub("", _PROGRESS.sub("", text)).strip()


def said_inside(text: str) -> str:
    """The words of a person in the result of a tool, such as the answer to a question."""
    return "\n".join(block.inner.strip() for block in tagged(text, _SPOKEN))


def folder_in(text: str) -> str | None:
    """The folder that the agent was told it works in."""
    match = _CWD.search(text)
    return match[1] if match else None


def model_in(text: str) -> str | None:
    """The model that Roo names among the details of its environment."""
    match = _MODEL.search(text)
    return match[1].strip() if match else None


# Tagged blocks -----------------------------------------------------------------


class _TaggedBlock(NamedTuple):
    """A tag that is opened and closed: where it stands in its text, and what is between."""

    tag: str
    start: int
    end: int
    inner: str


def tagged(text: str, tags: Container[str] | None = None) -> Iterator[_TaggedBlock]:
    """The blocks of some tags, or of any, one after the other.

    What stands inside one of them is part of it.
    """
    closings: dict[str, list[int]] = {}
    for closing in _CLOSING.finditer(text):
        closings.setdefault(closing[1], []).append(closing.start())
    position = 0
    for opening in _OPENING.finditer(text):
        tag, start = opening[1], opening.end()
        ends = closings.get(tag, [])
        number = bisect_left(ends, start)
        if opening.start() >= position and number < len(ends) and (tags is None or tag in tags):
            position = ends[number] + len(f"</{tag}>")
            yield _TaggedBlock(tag, opening.start(), position, text[start : ends[number]])
