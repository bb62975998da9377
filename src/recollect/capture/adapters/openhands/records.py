"""The fields of OpenHands logs that we read, typed so that no version's surprise costs a record."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

Shape = TypeVar("Shape")


class OpenHandsEvent(Struct):
    """One event of the SDK, from version 1 on: `kind` is the name of its class."""

    kind: Any = None
    id: Any = None
    timestamp: Any = None
    source: Any = None
    parent_id: Any = None
    # Messages
    llm_message: Any = None
    llm_response_id: Any = None
    sender: Any = None
    # Actions, and what came of them
    thought: Any = None
    reasoning_content: Any = None
    thinking_blocks: Any = None
    responses_reasoning_item: Any = None
    action: Any = None
    tool_name: Any = None
    tool_call_id: Any = None
    tool_call: Any = None
    observation: Any = None
    error: Any = None
    rejection_reason: Any = None
    # Calls of an agent behind the Agent Client Protocol
    title: Any = None
    status: Any = None
    tool_kind: Any = None
    raw_input: Any = None
    raw_output: Any = None
    content: Any = None
    is_error: Any = None
    # Errors, condensations and changes of the state
    code: Any = None
    detail: Any = None
    summary: Any = None
    key: Any = None
    value: Any = None


class OpenHandsState(Struct):
    """What `base_state.json` says about a conversation.

    An agent and a workspace have keys in them, which are masked but not ours
    to look at: of these two only the fields below are built.
    """

    id: Any = None
    agent: Raw = Raw(b"{}")
    workspace: Raw = Raw(b"{}")
    execution_status: Any = None
    confirmation_policy: Any = None
    leaf_event_id: Any = None
    head_is_empty: Any = None
    stats: Any = None
    tags: Any = None


class OpenHandsModel(Struct):
    """The language model of an agent."""

    model: Any = None
    reasoning_effort: Any = None


class OpenHandsAgent(Struct):
    """The agent in a conversation's state."""

    kind: Any = None
    llm: Raw = Raw(b"{}")


class OpenHandsWorkspace(Struct):
    """Where an agent works."""

    working_dir: Any = None


def part(raw: Raw, shape: type[Shape]) -> Shape:
    """A part of a record, as far as it is one."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return shape()


class OpenHandsOldEvent(Struct):
    """One event of version 0: an action or an observation."""

    id: Any = None
    timestamp: Any = None
    source: Any = None
    message: Any = None
    cause: Any = None
    action: Any = None
    args: Any = None
    observation: Any = None
    content: Any = None
    extras: Any = None
    tool_call_metadata: Any = None
    llm_metrics: Any = None


class OpenHandsOldMetadata(Struct):
    """`metadata.json` beside the events of version 0."""

    selected_repository: Any = None
    selected_branch: Any = None
    git_provider: Any = None
    title: Any = None
    created_at: Any = None
    trigger: Any = None
    llm_model: Any = None


class OpenHandsBenchmarkRun(Struct):
    """A line of a benchmark's `output.jsonl`: one conversation, whole."""

    instance_id: Any = None
    history: Any = None
    metadata: Any = None
    error: Any = None
