"""One step of the model, in the words of four APIs.

Each function yields the data of the server-sent events that stand for a
step. Only what the agents read is here: they accept a stream that says each
thing once, without the many small deltas a real service would send.

A step costs the same in every dialect, as far as it can say so: each of them
counts what was cached and what was thought in another way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.real.steps import Say, Step

Event = dict[str, Any]

# What a step costs, as we count it: what was read anew, read from the cache,
# written, and thought of what was written.
INPUT, CACHED, OUTPUT, THOUGHT = 12, 5, 7, 3


def anthropic(step: Step, ident: str, model: str) -> Iterator[Event]:
    """The Messages API: a message, its one block, and why it stopped."""
    usage = {
        "input_tokens": INPUT,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": CACHED,
        "output_tokens": 3,
    }
    message = {
        "id": f"msg_{ident}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    yield {
        "type": "message_start",
        "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
    }
    if isinstance(step, Say):
        block: Event = {"type": "text", "text": ""}
        delta: Event = {"type": "text_delta", "text": step.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{ident}", "name": step.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stopped = "end_turn" if isinstance(step, Say) else "tool_use"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stopped, "stop_sequence": None},
        "usage": {"output_tokens": OUTPUT},
    }
    yield {"type": "message_stop"}


def responses(step: Step, ident: str, model: str) -> Iterator[Event]:
    """OpenAI's Responses API: one finished item."""
    if isinstance(step, Say):
        item: Event = {
            "type": "message",
            "id": f"msg_{ident}",
            "role": "assistant",
            "content": [{"type": "output_text", "text": step.text, "annotations": []}],
        }
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{ident}",
            "call_id": f"call_{ident}",
            "name": step.tool,
            "arguments": json.dumps(step.arguments),
        }
        # Codex groups the tools of an MCP server under a namespace, which
        # the call names beside the tool.
        if "/" in step.tool:
            item["namespace"], item["name"] = step.tool.split("/", 1)
    usage = {
        "input_tokens": INPUT + CACHED,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": THOUGHT},
        "total_tokens": INPUT + CACHED + OUTPUT,
    }
    response = {"id": f"resp_{ident}", "object": "response", "model": model, "output": []}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {
        "type": "response.completed",
        "response": {**response, "status": "completed", "output": [item], "usage": usage},
    }


def chat(step: Step, ident: str, model: str) -> Iterator[Event]:
    """OpenAI's chat completions."""
    head = {
        "id": f"chatcmpl-{ident}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
    }
    if isinstance(step, Say):
        delta: Event = {"role": "assistant", "content": step.text}
    else:
        function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
        call = {"index": 0, "id": f"call_{ident}", "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    stopped = "stop" if isinstance(step, Say) else "tool_calls"
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    usage = {
        "prompt_tokens": INPUT + CACHED,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens": OUTPUT,
        "completion_tokens_details": {"reasoning_tokens": THOUGHT},
        "total_tokens": INPUT + CACHED + OUTPUT,
    }
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stopped}], "usage": usage}


def gemini(step: Step, ident: str, model: str) -> Iterator[Event]:
    """Gemini's generateContent."""
    part = (
        {"text": step.text}
        if isinstance(step, Say)
        else {"functionCall": {"name": step.tool, "args": step.arguments}}
    )
    usage = {
        "promptTokenCount": INPUT + CACHED,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": OUTPUT - THOUGHT,
        "thoughtsTokenCount": THOUGHT,
        "totalTokenCount": INPUT + CACHED + OUTPUT,
    }
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    yield {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": ident,
    }
