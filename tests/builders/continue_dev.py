"""Sessions of Continue, with readable defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "5a1e0000-0000-4000-8000-000000000001"
CREATED = "1777885200000"


def user(text: str, key: str | None = "u1", **more: Any) -> dict[str, Any]:
    """A prompt; the command line gives it no id."""
    message = {
        "role": "user",
        "content": [{"type": "text", "text": text}],
        **({"id": key} if key else {}),
    }
    return {"message": message, "contextItems": [], **more}


def assistant(
    text: str, key: str = "a1", message: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """An answer; `message` adds fields to the message itself."""
    return {
        "message": {"role": "assistant", "content": text, "id": key, **(message or {})},
        "contextItems": [],
        **more,
    }


def prompt_log(model: str = "gpt-4.1") -> dict[str, Any]:
    """One call of a model, with its long prompt."""
    return {
        "modelTitle": "Big",
        "modelProvider": "openai",
        "prompt": "<user> " * 50,
        "completion": "x",
        "completionOptions": {"model": model},
    }


def tool_call(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {
        "id": call,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(given)},
    }


def tool_state(
    call: str, name: str, output: str | None, status: str = "done", **given: Any
) -> dict[str, Any]:
    """A call as it went."""
    told = [{"name": name, "description": "", "content": output}] if output is not None else []
    return {
        "toolCallId": call,
        "toolCall": tool_call(call, name, **given),
        "status": status,
        "parsedArgs": given,
        "output": told,
    }


def tool(call: str, text: str) -> dict[str, Any]:
    """A result as a message."""
    return {"message": {"role": "tool", "content": text, "toolCallId": call}, "contextItems": []}


def session(history: list[dict[str, Any]], key: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "sessionId": key,
        "title": more.pop("title", "Prices with tax"),
        "workspaceDirectory": more.pop("workspaceDirectory", "file:///home/ada/shop"),
        "history": history,
        **more,
    }


def entry(key: str = SESSION, created: str = CREATED) -> dict[str, Any]:
    """What the list of sessions says about one."""
    return {
        "sessionId": key,
        "title": "Prices with tax",
        "dateCreated": created,
        "workspaceDirectory": "",
        "messageCount": 1,
    }


def write(
    folder: Path, *sessions: dict[str, Any], entries: list[dict[str, Any]] | None = None
) -> Path:
    """A folder of sessions with its list; gives the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in sessions:
        (folder / f"{one['sessionId']}.json").write_text(json.dumps(one, indent=2))
    listed = [entry(one["sessionId"]) for one in sessions] if entries is None else entries
    (folder / "sessions.json").write_text(json.dumps(listed, indent=2))
    return folder / f"{sessions[0]['sessionId']}.json"
