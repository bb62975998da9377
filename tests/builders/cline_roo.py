"""Tasks of Cline and Roo, and Cline's new sessions, with readable defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START = 1777885200000
TASK = str(START)
CWD = "/home/ada/shop"
_FILES = f"# VSCode Open Tabs\nprices.py\n\n# Current Working Directory ({CWD}) Files\nprices.py"
ENVIRONMENT = f"<environment_details>\n{_FILES}\n</environment_details>"


# What was shown


def say(what: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "say", "say": what, "text": text, **more}


def ask(what: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "ask", "ask": what, "text": text, **more}


def shown_tool(name: str, **told: Any) -> dict[str, Any]:
    return say("tool", json.dumps({"tool": name, **told}))


def request(
    given: int, output: int, reads: int = 0, writes: int = 0, cost: float = 0.0, **more: Any
) -> dict[str, Any]:
    """A request that has ended."""
    told = {
        "request": "…",
        "tokensIn": given,
        "tokensOut": output,
        "cacheReads": reads,
        "cacheWrites": writes,
        "cost": cost,
        **more,
    }
    return say("api_req_started", json.dumps(told))


def timed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages a second apart, as Cline numbers them."""
    return [{"ts": START + 1000 * number, **message} for number, message in enumerate(messages)]


# What was sent


def user(*texts: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts], **more}


def assistant(*blocks: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    content = [
        {"type": "text", "text": block} if isinstance(block, str) else block for block in blocks
    ]
    return {"role": "assistant", "content": content, **more}


def use(name: str, call: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call: str, text: str, **more: Any) -> dict[str, Any]:
    block = {
        "type": "tool_result",
        "tool_use_id": call,
        "content": [{"type": "text", "text": text}],
        **more,
    }
    return {"role": "user", "content": [block]}


def asked_for(text: str) -> dict[str, Any]:
    """The first message that is sent."""
    return user(f"<task>\n{text}\n</task>", ENVIRONMENT)


def write_task(
    folder: Path,
    shown: list[dict[str, Any]] | None,
    sent: list[dict[str, Any]] | None = None,
    metadata: dict[str, Any] | None = None,
    history: dict[str, Any] | None = None,
    screen: str = "ui_messages.json",
) -> Path:
    """The folder of a task; gives the path of what was shown."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {
        screen: shown,
        "api_conversation_history.json": sent,
        "task_metadata.json": metadata,
        "history_item.json": history,
    }
    for name, document in files.items():
        if document is not None:
            (folder / name).write_text(json.dumps(document))
    return folder / screen


# Cline's new sessions


def write_session(
    folder: Path,
    messages: list[dict[str, Any]],
    manifest: dict[str, Any] | None = None,
    name: str | None = None,
) -> Path:
    """A session, or with another name than its folder a sub-agent's.

    Gives the path of its messages.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = name or folder.name
    path = folder / f"{own}.messages.json"
    document = {
        "version": 1,
        "updated_at": "2026-05-04T09:10:00.000Z",
        "agent": "lead",
        "sessionId": own,
        "messages": messages,
    }
    path.write_text(json.dumps(document))
    if manifest is not None:
        (folder / f"{folder.name}.json").write_text(json.dumps(manifest))
    return path
