"""The lines of a Claude Code transcript, as far as we read them.

No field is trusted: each may hold any JSON value, and what we do not declare
(patches, snapshots, signatures, whole copies of edited files) is skipped by
the decoder without being built. The unions below say "this object, or
whatever else", because a strict type would cost the line.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

from msgspec import Struct, field, json

from recollect.model import Author

Else = str | int | float | bool | list[Any] | None

SYNTHETIC = "<synthetic>"
# Ids come from files: one longer than any real one is replaced by its hash,
# so that it cannot swell the checkpoint.
_ID_CHARACTERS = 64


class Block(Struct, gc=False):
    """One content block of a message: text, thinking, a tool call or its result."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    id: Any = None
    name: Any = None
    input: Any = None
    tool_use_id: Any = None
    content: Any = None
    is_error: Any = None
    source: Any = None


class Spent(Struct, gc=False):
    """The token counts that every line of a split message repeats."""

    input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_read_input_tokens: Any = None
    output_tokens: Any = None
    cache_creation: Any = None
    output_tokens_details: Any = None
    service_tier: Any = None


class Message(Struct, gc=False):
    """An API message, or the part of one that this line holds."""

    id: Any = None
    model: Any = None
    content: str | list[Block | Else] | dict[str, Any] | int | float | bool | None = None
    stop_reason: Any = None
    usage: Spent | Else = None


class Outcome(Struct, gc=False, rename="camel"):
    """What the client knows about a tool result beside its text."""

    stdout: Any = None
    stderr: Any = None
    interrupted: Any = None
    is_image: Any = None
    duration_ms: Any = None
    total_duration_ms: Any = None
    duration_seconds: Any = None


class Attachment(Struct, gc=False, rename="camel"):
    """Context the client injected; one kind of it is a prompt that had to queue."""

    type: Any = None
    prompt: Any = None
    command_mode: Any = None
    is_meta: Any = None


class Record(Struct, gc=False, rename="camel"):
    """One line."""

    type: Any = None
    subtype: Any = None
    uuid: Any = None
    parent_uuid: Any = None
    logical_parent_uuid: Any = None
    session_id: Any = None
    agent_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    version: Any = None
    git_branch: Any = None
    entrypoint: Any = None
    slug: Any = None
    team_name: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    request_id: Any = None
    message: Message | Else = None
    tool_use_result: Outcome | Else = None
    source_tool_use_id: Any = field(default=None, name="sourceToolUseID")
    attachment: Attachment | Else = None
    prompt_id: Any = None
    prompt_source: Any = None
    origin: Any = None
    permission_mode: Any = None
    effort: Any = None
    content: Any = None
    level: Any = None
    error: Any = None
    retry_attempt: Any = None
    duration_ms: Any = None
    compact_metadata: Any = None
    retracted_message_uuids: Any = None
    supersedes_uuids: Any = None
    summary: Any = None
    leaf_uuid: Any = None
    ai_title: Any = None
    custom_title: Any = None
    agent_name: Any = None
    forked_from: Any = None
    parent_session_id: Any = None
    pr_url: Any = None
    worktree_session: Any = None
    relocated_cwd: Any = None


DECODER = json.Decoder(Record)


def native_id(value: object) -> str | None:
    """An id as the log has it, or None when it is not one."""
    if type(value) is not str or not value:
        return None
    return value if len(value) <= _ID_CHARACTERS else digest(value)


def digest(*parts: object) -> str:
    """A stable name for something that has none of its own."""
    text = "\0".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def picture(block: Block | dict[str, Any]) -> str:
    """What stands for an image or a document: its type, size and hash, never its data."""
    kind, source = (
        (block.type, block.source) if isinstance(block, Block) else (block.get("type"), block.get("source"))
    )
    source = source if isinstance(source, dict) else {}
    media, data = source.get("media_type"), source.get("data")
    words = [str(kind), media if isinstance(media, str) else ""]
    if isinstance(data, str):
        words.append(f"{len(data) * 3 // 4} bytes {digest(data)}")
    return f"[{' '.join(word for word in words if word)}]"


# What a person typed --------------------------------------------------------


class Said(NamedTuple):
    """What a user record turns out to be, with the text that is left of it.

    `shape` is prompt, shell (a typed `!command`), shell_output, compaction,
    abort, or nothing. `author` is None where the record's fields decide.
    """

    shape: str
    text: str = ""
    author: Author | None = None


NOTHING = Said("nothing")

# Context that the client puts around what was typed, in the same text.
_CONTEXT = re.compile(
    r"\s*<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|user-prompt-submit-hook"
    r"|local-command-caveat)>.*?</\1>\s*",
    re.DOTALL,
)
_REMINDER = "</system-reminder>"
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_DROPPED = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "[Image: ",
)
# Before the flag existed (1.0.x) only this sentence told a summary from a prompt.
_CONTINUED = "This session is being continued from a previous conversation"


def prompt_of(content: object) -> Said:
    """What a user record's content says, told by its shape alone."""
    if isinstance(content, str):
        text = _typed(content)
    elif isinstance(content, list):
        text = "\n\n".join(part for part in map(_part, content) if part)
    else:
        return NOTHING
    return _shape(text) if text else NOTHING


def _part(block: object) -> str:
    if isinstance(block, str):
        return _typed(block)
    if isinstance(block, dict):
        kind, text = block.get("type"), block.get("text")
    elif isinstance(block, Block):
        kind, text = block.type, block.text
    else:
        return ""
    if kind == "text":
        return _typed(text) if isinstance(text, str) else ""
    return picture(block) if kind in ("image", "document") else ""


def _typed(text: str) -> str:
    """Text without the context tags around it; one that a person quotes inside stays."""
    while (text[:1] == "<" or text[:1].isspace()) and (context := _CONTEXT.match(text)):
        text = text[context.end() :]
    while text.rstrip().endswith(_REMINDER) and (start := text.rfind("<system-reminder>")) >= 0:
        text = text[:start]
    return text.strip()


def _shape(text: str) -> Said:
    if text.startswith(_DROPPED):
        return NOTHING
    if text.startswith("[Request interrupted by user"):
        return Said("abort", text)
    if text.startswith(_CONTINUED):
        return Said("compaction", text)
    return _tagged(text) if text.startswith("<") else Said("prompt", text)


def _tagged(text: str) -> Said:
    if text.startswith(("<command-name>", "<command-message>", "<command-args>")):
        return _command(text)
    if text.startswith("<bash-input>"):
        return Said("shell", _inside(text, "bash-input"))
    if text.startswith(("<bash-stdout>", "<bash-stderr>")):
        streams = (_inside(text, "bash-stdout"), _inside(text, "bash-stderr"))
        return Said("shell_output", "\n".join(stream for stream in streams if stream))
    if text.startswith("<user-memory-input>"):
        return Said("prompt", "# " + _inside(text, "user-memory-input"))
    if text.startswith("<task-notification>"):
        return Said("prompt", text, "system")
    if text.startswith("<teammate-message"):
        return Said("prompt", text, "agent")
    return Said("prompt", text)


def _command(text: str) -> Said:
    name, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    if name is None or not name[1].strip():
        return NOTHING
    typed = f"/{name[1].strip().lstrip('/')} {arguments[1].strip() if arguments else ''}"
    return Said("prompt", typed.rstrip())


def _inside(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.rfind(f"</{tag}>")
    return text[start + len(tag) + 2 : end if end > start else None].strip() if start >= 0 else ""
