"""The lines of a Claude Code transcript, as far as we read them.

No field is trusted: each may hold any JSON value, and what we do not declare
(patches, snapshots, signatures, whole copies of edited files) is skipped by
the decoder without being built. The unions below say "this object, or
whatever else", because a strict type would cost the line.
"""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import Struct, field, json

Else = str | int | float | bool | list[Any] | None

SYNTHETIC = "<synthetic>"
# Ids come from files: one longer than any real one is replaced by its hash,
# so that it cannot swell the checkpoint.
ID_CHARACTERS = 64


class ClaudeBlock(Struct, gc=False):
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


class ClaudeUsage(Struct, gc=False):
    """The token counts that every line of a split message repeats."""

    input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_read_input_tokens: Any = None
    output_tokens: Any = None
    cache_creation: Any = None
    output_tokens_details: Any = None
    service_tier: Any = None


class ClaudeMessage(Struct, gc=False):
    """An API message, or the part of one that this line holds."""

    id: Any = None
    model: Any = None
    content: str | list[ClaudeBlock | Else] | dict[str, Any] | int | float | bool | None = None
    stop_reason: Any = None
    usage: ClaudeUsage | Else = None


class ClaudeToolResult(Struct, gc=False, rename="camel"):
    """What the client knows about a tool result beside its text."""

    stdout: Any = None
    stderr: Any = None
    interrupted: Any = None
    is_image: Any = None
    duration_ms: Any = None
    total_duration_ms: Any = None
    duration_seconds: Any = None


class ClaudeAttachment(Struct, gc=False, rename="camel"):
    """Context the client injected; one kind of it is a prompt that had to queue."""

    type: Any = None
    prompt: Any = None
    command_mode: Any = None
    is_meta: Any = None
    origin: Any = None


class ClaudeRecord(Struct, gc=False, rename="camel"):
    """One line of a transcript."""

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
    message: ClaudeMessage | Else = None
    tool_use_result: ClaudeToolResult | Else = None
    source_tool_use_id: Any = field(default=None, name="sourceToolUseID")
    attachment: ClaudeAttachment | Else = None
    prompt_id: Any = None
    prompt_source: Any = None
    origin: Any = None
    turn_origin: Any = None
    scheduled_task_id: Any = None
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


DECODER = json.Decoder(ClaudeRecord)


def native_id(value: object) -> str | None:
    """An id as the log has it, or None when it is not one."""
    if type(value) is not str or not value:
        return None
    return value if len(value) <= ID_CHARACTERS else digest(value)


def digest(*parts: object) -> str:
    """A stable name for something that has none of its own."""
    text = "\0".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def picture(block: ClaudeBlock | dict[str, Any]) -> str:
    """What stands for an image or a document: its type, size and hash, never its data."""
    if isinstance(block, ClaudeBlock):
        kind, source = block.type, block.source
    else:
        kind, source = block.get("type"), block.get("source")
    source = source if isinstance(source, dict) else {}
    media, data = source.get("media_type"), source.get("data")
    words = [str(kind), media if isinstance(media, str) else ""]
    if isinstance(data, str):
        words.append(f"{len(data) * 3 // 4} bytes {digest(data)}")
    return f"[{' '.join(word for word in words if word)}]"
