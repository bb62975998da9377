"""Conversations of OpenHands, with readable defaults: events of the SDK, and those of version 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = "0190aa00bb00cc00dd00ee00ff000001"
SESSION = "0190aa00-bb00-cc00-dd00-ee00ff000001"
CWD = "/home/ada/shop"


def clock(second: int) -> str:
    """A time on the morning of all tests; the agent writes no zone."""
    return f"2026-05-04T09:{second // 60:02}:{second % 60:02}.000000"


def name(number: int) -> str:
    """The id of the event with a number."""
    return f"e0000000-0000-4000-8000-{number:012}"


# The SDK, from version 1 on


def event(kind: str, source: str = "agent", **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "source": source, **fields}


def message(text: str, source: str = "user", **fields: Any) -> dict[str, Any]:
    role = "assistant" if source == "agent" else "user"
    content = [{"type": "text", "text": text}]
    return event(
        "MessageEvent",
        source,
        llm_message={"role": role, "content": content},
        activated_skills=[],
        **fields,
    )


def action(
    tool: str, kind: str, call: str, thought: str = "", response: str = "resp-1", **given: Any
) -> dict[str, Any]:
    return event(
        "ActionEvent",
        thought=[{"type": "text", "text": thought}] if thought else [],
        thinking_blocks=[],
        action={"kind": kind, **given},
        tool_name=tool,
        tool_call_id=call,
        tool_call={
            "id": call,
            "name": tool,
            "arguments": json.dumps(given),
            "origin": "completion",
        },
        llm_response_id=response,
        security_risk="LOW",
    )


def run(command: str, call: str, **fields: Any) -> dict[str, Any]:
    return action(
        "terminal", "TerminalAction", call, command=command, is_input=False, timeout=None, **fields
    )


def finish(text: str, response: str = "resp-9") -> dict[str, Any]:
    return action("finish", "FinishAction", "call_finish", response=response, message=text)


def observation(tool: str, kind: str, call: str, text: str, **seen: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    seen = {"kind": kind, "content": content, "is_error": False, **seen}
    return event(
        "ObservationEvent",
        "environment",
        observation=seen,
        tool_name=tool,
        tool_call_id=call,
        action_id="",
    )


def printed(text: str, call: str, code: int = 0) -> dict[str, Any]:
    return observation(
        "terminal",
        "TerminalObservation",
        call,
        text,
        exit_code=code,
        metadata={"exit_code": code, "working_dir": CWD},
    )


def metrics(
    *calls: tuple[str, int, int, int, int], cost: float = 0.01, model: str = "claude-sonnet-4-5"
) -> dict[str, Any]:
    """Figures of calls, each (response, prompt, completion, cache read, cache write)."""
    fields = (
        "response_id",
        "prompt_tokens",
        "completion_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
    )
    usages = [
        {"model": model, "reasoning_tokens": 0, **dict(zip(fields, call, strict=True))}
        for call in calls
    ]
    total = {
        "model": model,
        "response_id": "",
        **{field: sum(usage[field] for usage in usages) for field in fields[1:]},
    }
    return {
        "model_name": model,
        "accumulated_cost": cost * len(calls),
        "accumulated_token_usage": total,
        "costs": [
            {"model": model, "cost": cost, "timestamp": 1777885200.0 + n}
            for n, _ in enumerate(calls)
        ],
        "response_latencies": [],
        "token_usages": usages,
    }


def state(usage: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": SESSION,
        "agent": {
            "llm": {
                "model": "claude-sonnet-4-5",
                "api_key": "**********",
                "reasoning_effort": "high",
            },
            "kind": "Agent",
        },
        "workspace": {"working_dir": CWD, "kind": "LocalWorkspace"},
        "execution_status": "finished",
        "confirmation_policy": {"kind": "NeverConfirm"},
        "stats": {"usage_to_metrics": usage or {}},
        "tags": {},
        **fields,
    }


def write_event(folder: Path, number: int, record: dict[str, Any]) -> Path:
    """One more event of a conversation, made complete."""
    whole = {"id": name(number), "timestamp": clock(number), **record}
    path = folder / "events" / f"event-{number:05}-{whole['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, separators=(",", ":")))
    return path


def conversation(
    folder: Path, events: list[dict[str, Any]], base: dict[str, Any] | None = None
) -> Path:
    """The folder of a conversation."""
    for number, record in enumerate(events):
        write_event(folder, number, record)
    (folder / "base_state.json").write_text(json.dumps(base or state()))
    return folder


# Version 0


def act(what: str, source: str = "agent", **args: Any) -> dict[str, Any]:
    return {"source": source, "action": what, "args": args, "message": ""}


def seen(what: str, text: str, cause: int, **extras: Any) -> dict[str, Any]:
    return {
        "source": "agent",
        "observation": what,
        "content": text,
        "cause": cause,
        "extras": extras,
        "message": "",
    }


def totals(prompt: int, completion: int, cache_read: int = 0, cost: float = 0.0) -> dict[str, Any]:
    """Running totals, as they stand on an action."""
    told = {
        "model": "gpt-4o",
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cache_read_tokens": cache_read,
    }
    return {
        "llm_metrics": {
            "accumulated_cost": cost,
            "accumulated_token_usage": {**told, "cache_write_tokens": 0},
        }
    }


def response(
    number: int, prompt: int, completion: int, tool: str = "execute_bash"
) -> dict[str, Any]:
    """The response that a call came from."""
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    told = {"id": f"chatcmpl-{number}", "model": "gpt-4o", "usage": usage}
    return {
        "tool_call_metadata": {
            "function_name": tool,
            "tool_call_id": f"call_{number}",
            "model_response": told,
        }
    }


def numbered(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events with their numbers and times, as a trajectory has them."""
    return [
        {"id": number, "timestamp": clock(number), **record} for number, record in enumerate(events)
    ]


def old_conversation(
    folder: Path, events: list[dict[str, Any]], metadata: dict[str, Any] | None = None
) -> Path:
    """The folder of a conversation of version 0."""
    (folder / "events").mkdir(parents=True, exist_ok=True)
    for record in numbered(events):
        (folder / "events" / f"{record['id']}.json").write_text(json.dumps(record))
    if metadata is not None:
        (folder / "metadata.json").write_text(json.dumps(metadata))
    return folder
