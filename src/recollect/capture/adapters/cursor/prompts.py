"""What a person typed, out of what Cursor sends in the person's name.

Around the words stand things that Cursor adds: the time, open files, rules,
reminders. `<user_query>` encloses the words where there is such a thing; what
has none is a prompt when something is left without the enclosed additions.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any, NamedTuple

from recollect.capture.logs.values import content_text

# A reasoning that the transcript leaves out.
REDACTED = "[REDACTED]"

_QUERY = "user_query"
# What stands for a picture beside the words: a mark of ours, or of a transcript.
_PICTURE = re.compile(r"\[image(?: [^\]\n]*)?\]", re.IGNORECASE)
_OPENED = re.compile(r"<([a-z][a-z_-]{2,40})>")
# What is added without being asked for; any other element is the person's own.
_ADDED = {
    "additional_data", "agent_skills", "agent_transcripts", "always_applied_workspace_rules",
    "attached_files", "context", "cursor_rules", "environment_details", "git_status",
    "image_files", "manually_attached_skills", "mcp_file_system", "open_and_recently_viewed_files",
    "project_layout", "rules", "system_notification", "system_reminder", "system-reminder",
    "task_notification", "terminal_files_information", "timestamp", "user_info", "user_rules",
    "uploaded_documents",
}  # fmt: skip
_TIMESTAMP = re.compile(r"<timestamp>([^<]{1,120})</timestamp>")
_ZONE = re.compile(r"\(UTC(?:([+-])(\d{1,2})(?::(\d{2}))?)?\)")
_MOMENT = "%b %d, %Y, %I:%M %p"
_WORKSPACE = re.compile(r"^[ \t]{0,8}Workspace Path:[ \t]{0,8}(\S[^\n]{0,1000})$", re.MULTILINE)
# A checkpoint may hold 64 KB, most of which calls that wait may need. The
# longest unsaid are forgotten first.
_MOST_PROMPTS = 500


class CursorPrompt(NamedTuple):
    """A message in the user's name: the words, if there are any, and what is told beside them."""

    text: str
    at: int | None
    folder: str | None


def typed(content: Any) -> CursorPrompt:
    """What a message of the role user says: nothing when everything in it was added."""
    if isinstance(content, list):
        content = [part for part in content if not _is_result(part)]
    whole = content_text(content)
    outside, asked = _taken_apart(whole)
    stamp, workspace = _TIMESTAMP.search(whole), _WORKSPACE.search(whole)
    words = "\n\n".join(map(str.strip, asked)) if asked else outside.strip()
    if asked and not words:
        # A picture that was sent without a word.
        words = "\n".join(map(str.lower, _PICTURE.findall(outside)))
    return CursorPrompt(
        words,
        moment_told(stamp[1]) if stamp else None,
        workspace[1].strip() if workspace else None,
    )


def _is_result(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("tool_result", "tool-result")


def _taken_apart(text: str) -> tuple[str, list[str]]:
    """What stands outside of the elements that we know, and what is in the queries."""
    outside, asked, position = [], [], 0
    never_closed: set[str] = set()
    while opened := _OPENED.search(text, position):
        name, closing, end = opened[1], f"</{opened[1]}>", -1
        if (name == _QUERY or name in _ADDED) and name not in never_closed:
            end = text.find(closing, opened.end())
        if end < 0:
            # Words about an element, not one; looked for once, or a
            # hostile text would take for ever.
            never_closed.add(name)
            outside.append(text[position : opened.end()])
            position = opened.end()
            continue
        outside.append(text[position : opened.start()])
        if name == _QUERY:
            asked.append(text[opened.end() : end])
        position = end + len(closing)
    return "".join([*outside, text[position:]]), asked


def moment_told(text: str) -> int | None:
    """The time in words such as "Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)"."""
    zone = _ZONE.search(text)
    _, _, day = text[: zone.start() if zone else None].partition(", ")
    try:
        moment = datetime.strptime(day.strip(), _MOMENT)
        sign = -1 if zone and zone[1] == "-" else 1
        offset = timedelta()
        if zone:
            offset = sign * timedelta(hours=int(zone[2] or 0), minutes=int(zone[3] or 0))
        return round(moment.replace(tzinfo=timezone(offset) if offset else UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def said(text: str) -> str:
    """What an assistant's text says, without the mark that a reasoning was left out."""
    return text.strip().removesuffix(REDACTED).rstrip() if REDACTED in text else text


class CursorPromptKeys:
    """Keys of turns that are the same wherever a chat is kept.

    The editor's database has ids for its messages, the other two places have
    none. The words are in all of them, so a key is a hash of the words, with
    a number when the same is said again.
    """

    def __init__(self, met: dict[str, int] | None = None) -> None:
        self.met = {} if met is None else met

    def key(self, text: str) -> str:
        """The key of one more prompt."""
        name = sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        number = self.met[name] = self.met.pop(name, 0) + 1
        if len(self.met) > _MOST_PROMPTS:
            del self.met[next(iter(self.met))]
        return name if number == 1 else f"{name}.{number}"
