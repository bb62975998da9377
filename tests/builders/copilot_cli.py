"""Logs of Copilot CLI, event by event."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "5e551011-0000-4000-8000-000000000001"
START = datetime(2026, 5, 4, 9, tzinfo=UTC)
CONTEXT = {
    "cwd": "/home/ada/shop",
    "gitRoot": "/home/ada/shop",
    "branch": "main",
    "headCommit": "4f1d2c3b5a69788796a5b4c3d2e1f00112233445",
    "repository": "ada/shop",
    "repositoryHost": "github.com",
    "hostType": "github",
}


def clock(number: int) -> str:
    """When the event with this number happened."""
    return (
        (START + timedelta(seconds=number))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def name(number: int, session: str = SESSION) -> str:
    """The id of the event with this number."""
    return f"e{session[-7:]}-0000-4000-8000-{number:012}"


def event(kind: str, agent: str | None = None, /, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data} | ({"agentId": agent} if agent else {})


def start(session: str = SESSION, **more: Any) -> dict[str, Any]:
    told = {
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": "1.0.102",
        "startTime": clock(0),
        "context": CONTEXT,
    }
    return event("session.start", sessionId=session, **told, **more)


def user(text: str, agent: str | None = None, **more: Any) -> dict[str, Any]:
    return event(
        "user.message",
        agent,
        content=text,
        transformedContent=f"<current_datetime>x</current_datetime>{text}",
        **more,
    )


def message(
    text: str, *requests: dict[str, Any], agent: str | None = None, **more: Any
) -> dict[str, Any]:
    return event("assistant.message", agent, content=text, toolRequests=list(requests), **more)


def wish(call: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"toolCallId": call, "name": tool, "arguments": arguments, "type": "function"}


def begun(call: str, tool: str, agent: str | None = None, **arguments: Any) -> dict[str, Any]:
    return event("tool.execution_start", agent, toolCallId=call, toolName=tool, arguments=arguments)


def done(
    call: str, output: str, *, ok: bool = True, agent: str | None = None, **more: Any
) -> dict[str, Any]:
    return event(
        "tool.execution_complete",
        agent,
        toolCallId=call,
        success=ok,
        result={"content": output},
        **more,
    )


def usage(
    read: int, written: int, cached: int = 0, stored: int = 0, reasoned: int = 0
) -> dict[str, Any]:
    """What a model used in all; what was read has the cached in it."""
    tokens = {
        "inputTokens": read,
        "outputTokens": written,
        "cacheReadTokens": cached,
        "cacheWriteTokens": stored,
    }
    return {
        "requests": {"count": 1, "cost": 1},
        "usage": tokens | ({"reasoningTokens": reasoned} if reasoned else {}),
    }


def call(
    number: int, usage: dict[str, Any], model: str, agent: str | None = None
) -> dict[str, Any]:
    """The record of one model call; `usage` as a shutdown has it."""
    told = usage["usage"] | {
        "model": model,
        "accounting": {"sourceSessionId": SESSION, "sequence": number, "usageId": "chatcmpl-1"},
    }
    return event("session.usage_record", agent, usage=told)


def shutdown(models: dict[str, Any]) -> dict[str, Any]:
    return event(
        "session.shutdown", shutdownType="routine", totalPremiumRequests=1, modelMetrics=models
    )


def lines(events: list[dict[str, Any]], first: int = 0, session: str = SESSION) -> str:
    """Events as they stand in a log, each a second after the one before."""
    written = ""
    for number, one in enumerate(events, first):
        parent = name(number - 1, session) if number else None
        written += (
            json.dumps(
                {**one, "id": name(number, session), "timestamp": clock(number), "parentId": parent}
            )
            + "\n"
        )
    return written


def log(folder: Path, events: list[dict[str, Any]], session: str = SESSION) -> Path:
    """The log of a session below a `session-state` folder."""
    path = folder / "session-state" / session / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(events, session=session))
    return path
