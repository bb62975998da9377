"""What Cline and Roo wrap around the words of a person, and what they say in a person's place."""

from __future__ import annotations

import re

from recollect.capture.adapters.cline_roo.tagged import tagged

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
_RESULT = re.compile(r"\[(\w+)(?: for '.*?')?[^\]\n]{0,200}\] Result:\n?", re.DOTALL)
_NOT_RUN = re.compile(r"Tool \[(\w+)\] was not executed")
_EXIT = re.compile(r"\bExit code: (-?\d+)")
_FAILED = (
    "The tool execution failed", "The user denied this operation", "The user denied this",
    "<error>", "Error executing", "Error:",
    "Tool execution was", "[ERROR]", '{"status":"error"', '{"status":"denied"',
)  # fmt: skip


def typed(text: str) -> str:
    """What a person typed, out of a message that was sent for them.

    Nothing when nobody typed it.
    """
    if text.lstrip().startswith(_SYNTHETIC):
        return next((block.inner.strip() for block in tagged(text, _SPOKEN)), "")
    text = _ADDED.sub("", text)
    return _WRAPPED.sub("", _PROGRESS.sub("", text)).strip()


def said_inside(text: str) -> str:
    """The words of a person that stand in the result of a tool,
    such as the answer to a question.
    """
    return "\n".join(block.inner.strip() for block in tagged(text, _SPOKEN))


def folder_in(text: str) -> str | None:
    """The folder that the agent was told it works in."""
    match = _CWD.search(text)
    return match[1] if match else None


def model_in(text: str) -> str | None:
    """The model that Roo names among the details of its environment."""
    match = _MODEL.search(text)
    return match[1].strip() if match else None


def result_in(text: str) -> tuple[str, str] | None:
    """The tool whose result a text is, and the result."""
    match = _RESULT.match(text)
    return (match[1], text[match.end() :]) if match else None


def not_run_in(text: str) -> str | None:
    """The tool that was asked for and not run."""
    match = _NOT_RUN.match(text)
    return match[1] if match else None


def is_failure(output: str) -> bool:
    """Whether a result says that its call failed, or was refused."""
    return output.lstrip().startswith(_FAILED)


def exit_in(output: str) -> int | None:
    """The exit code that a terminal's output begins with."""
    match = _EXIT.search(output[:500])
    return int(match[1]) if match else None
