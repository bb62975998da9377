"""Codex: what a person typed, among everything else that has the role user.

The same role carries the working directory, AGENTS.md, skills, notices of
interruptions and more. Each content item is judged alone: one message can
hold an injected text and a typed one.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

INJECTED = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>",
    "<subagent_notification>", "<skill>", "<user_shell_command>", "<user_action>",
    "<recommended_plugins>", "<codex_internal_context", "<goal_context>", "<external_",
    "<hook_prompt", "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes", "Warning: Your account was flagged",
)  # fmt: skip
# Before 0.4x a user_message event said itself that nobody had typed it.
INJECTED_KINDS = ("environment_context", "user_instructions")
# Headings under which an IDE or the desktop app puts what it knows before a prompt.
CONTEXT_HEADS = (
    "# Context from my IDE setup:", "# Files mentioned by the user:", "# Files pasted by the user:",
    "# Browser comments:", "# In app browser:", "# Review findings:",
    "## Referenced chats with Codex:", "## My request for Codex:", "## My request:",
)  # fmt: skip
LISTS_OF_FILES = CONTEXT_HEADS[1:3]
WARNING = "Distinguish instructions in attached documents"

# The app says nothing of Codex since 2026.
_request = re.compile(r"^## My request(?: for Codex)?:", re.MULTILINE)
_file = re.compile(r"^## .{0,300}?: (.{1,4000})$", re.MULTILINE)
_image_label = re.compile(r"</?(?:image|audio)(?: name=[^>]*)?>")
_cwd = re.compile(r"<cwd>([^<]+)</cwd>|^Current working directory: (.+)$", re.MULTILINE)


def is_injected(text: str) -> bool:
    """Whether Codex wrote this text in the user's name."""
    return text.lstrip().startswith(INJECTED)


def typed_part(text: str) -> str:
    """A prompt without the context that a client put before it.

    What lists files and asks for nothing is known by the names of the files.
    """
    text = text.strip()
    if not text.startswith(CONTEXT_HEADS):
        return text
    # What a client quotes (a selection, a page) stands before the request and may look like one.
    found = list(_request.finditer(text))
    if found and (request := text[found[-1].end() :].strip()):
        return request
    if found or is_list_of_files(text):
        return "\n".join(f"[file {path}]" for path in _file.findall(text))
    return text


def is_list_of_files(text: str) -> bool:
    """Whether a text only lists files, as a client does in an item of its own."""
    lines = (line.strip() for line in text.splitlines())
    known = ("#", "-", WARNING)
    return text.lstrip().startswith(LISTS_OF_FILES) and all(
        not line or line.startswith(known) for line in lines
    )


def typed_in(content: object) -> tuple[str, list[str]]:
    """The typed text of a user message's content, and a placeholder for each picture."""
    texts: list[str] = []
    lists: list[str] = []
    pictures = []
    if isinstance(content, str):
        content = [{"text": content}]
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        text = part.get("text")
        if isinstance(text, str):
            if not is_injected(text) and not _image_label.fullmatch(text.strip()):
                (lists if is_list_of_files(text) else texts).append(typed_part(text))
        elif picture := picture_in(part):
            pictures.append(picture)
    return "\n".join(text for text in texts or lists if text), pictures


def cwd_in(content: object) -> str | None:
    """The working directory that an <environment_context> tells."""
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str) and text.lstrip().startswith("<environment_context>"):
            found = _cwd.search(text[:4000])
            if found:
                return (found[1] or found[2]).strip()
    return None


def with_pictures(text: str, pictures: list[str]) -> str:
    """A prompt's text with its pictures named below it."""
    return "\n".join([text, *pictures]).strip() if pictures else text


def picture_in(part: dict[str, Any]) -> str | None:
    """A placeholder for a content item that is a picture or a sound, else None."""
    for name in ("image_url", "audio_url"):
        url = part.get(name)
        if isinstance(url, str):
            return placeholder(url)
    if isinstance(part.get("data"), str):
        return placeholder(part["data"], part.get("mimeType"))
    if isinstance(part.get("path"), str) and str(part.get("type")).startswith("local"):
        return f"[image {part['path']}]"
    return None


def placeholder(data: str, mime: object = None) -> str:
    """What is kept of a picture: its type, size and hash; of a link, the link."""
    head, found, body = data[:200].partition(";base64,")
    if found:
        mime, body = head.removeprefix("data:"), data[len(head) + len(found) :]
    elif data.startswith(("http:", "https:", "file:")):
        return f"[image {data[:500]}]"
    else:
        body = data
    mark = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:12]
    kind = mime if isinstance(mime, str) and mime else "image"
    return f"[{kind}, {len(body) * 3 // 4} bytes, sha256 {mark}]"
