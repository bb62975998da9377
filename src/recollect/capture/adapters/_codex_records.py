"""Codex: the shape of a line, and the small readings every part needs.

Only the fields we read are declared, so encrypted reasoning, replacement
histories and instructions of every turn are skipped without being built. All
are `Any`: another version may write something else, and a wrongly typed field
must cost nothing but itself.
"""

from __future__ import annotations

import zlib
from typing import Any

from msgspec import Struct, json

from recollect.model import milliseconds


class Core(Struct, gc=False):
    """What a bare line and the payload of an enveloped one have in common."""

    type: Any = None
    id: Any = None
    timestamp: Any = None
    role: Any = None
    content: Any = None
    summary: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Any = None
    call_id: Any = None
    output: Any = None
    input: Any = None
    action: Any = None
    status: Any = None
    instructions: Any = None
    git: Any = None
    tools: Any = None
    result: Any = None
    revised_prompt: Any = None
    saved_path: Any = None
    author: Any = None
    recipient: Any = None


class Payload(Core, gc=False):
    """The payload of any enveloped record: one shape for all types, most of it empty."""

    # session_meta
    session_id: Any = None
    cwd: Any = None
    originator: Any = None
    cli_version: Any = None
    source: Any = None
    thread_source: Any = None
    model_provider: Any = None
    base_instructions: Any = None
    forked_from_id: Any = None
    parent_thread_id: Any = None
    agent_nickname: Any = None
    agent_role: Any = None
    agent_path: Any = None
    memory_mode: Any = None
    history_mode: Any = None
    history_base: Any = None
    subagent_history_start_ordinal: Any = None
    # turn_context, task_started, task_complete
    turn_id: Any = None
    model: Any = None
    effort: Any = None
    approval_policy: Any = None
    sandbox_policy: Any = None
    collaboration_mode: Any = None
    collaboration_mode_kind: Any = None
    model_context_window: Any = None
    started_at: Any = None
    duration_ms: Any = None
    time_to_first_token_ms: Any = None
    # what was said
    message: Any = None
    kind: Any = None
    images: Any = None
    local_images: Any = None
    text: Any = None
    trigger_turn: Any = None
    # tokens; the last six are those of the flat records before 0.31
    info: Any = None
    rate_limits: Any = None
    input_tokens: Any = None
    cached_input_tokens: Any = None
    output_tokens: Any = None
    reasoning_output_tokens: Any = None
    total_tokens: Any = None
    # what happened to the thread
    reason: Any = None
    num_turns: Any = None
    error: Any = None
    item: Any = None
    thread_name: Any = None
    user_facing_hint: Any = None
    prompt: Any = None
    review_output: Any = None
    # the end of a tool call
    command: Any = None
    stdout: Any = None
    stderr: Any = None
    aggregated_output: Any = None
    exit_code: Any = None
    duration: Any = None
    success: Any = None
    changes: Any = None
    invocation: Any = None
    query: Any = None
    results: Any = None
    path: Any = None
    tool: Any = None
    content_items: Any = None


class Record(Core, gc=False):
    """One line: an envelope around a payload, or (to 0.31) a bare item."""

    payload: Payload | None = None
    ordinal: Any = None
    record_type: Any = None


LINES: json.Decoder[Record] = json.Decoder(Record)

_minutes: dict[str, int] = {}


def moment(text: object) -> int | None:
    """A record's time in milliseconds.

    Neighbouring records share their minute, so only the seconds are looked
    at for the shape that Codex writes.
    """
    if not isinstance(text, str) or len(text) != 24 or text[23] != "Z" or text[19] != ".":
        return milliseconds(text)
    minute = _minutes.get(text[:17])
    seconds, thousandths = text[17:19], text[20:23]
    if minute is not None and seconds.isdecimal() and thousandths.isdecimal() and text.isascii():
        return minute + int(seconds) * 1000 + int(thousandths)
    found = milliseconds(text)
    if found is not None:
        if len(_minutes) > 1000:
            _minutes.clear()
        _minutes[text[:17]] = found - found % 60_000
    return found


def uuid_moment(text: object) -> int | None:
    """When a version 7 UUID was made, in milliseconds; None for any other text."""
    if not isinstance(text, str) or len(text) != 36 or text[14] != "7":
        return None
    try:
        return int(text[:8] + text[9:13], 16)
    except ValueError:
        return None


def epoch_moment(value: object) -> int | None:
    """A count since 1970 in seconds or milliseconds, or ISO text, as milliseconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return moment(value)
    return int(value) if value > 1e11 else int(value * 1000)


def digest(text: str) -> str:
    """A short mark to recognise a text by, stable over runs."""
    return f"{zlib.crc32(text.encode('utf-8', 'replace')):08x}{len(text):x}"


def text_of(value: object) -> str | None:
    """The value if it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def whole(value: object) -> int | None:
    """The value if it is an integer, and one that a table can hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53 else None
