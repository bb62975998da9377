"""Chats of VS Code: requests, what was answered to them, and the operations that make them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CHAT = "c4a70000-0000-4000-8000-000000000001"
START = 1_777_885_200_000


def request(number: int, text: str, *response: Any, **more: Any) -> dict[str, Any]:
    """A request that was sent so many minutes after the chat began."""
    return {
        "requestId": f"request_{number}",
        "timestamp": START + 60_000 * number,
        "message": {"text": text, "parts": []},
        "response": list(response),
        "modelId": "copilot/claude-sonnet-4.5",
        **more,
    }


def words(text: str) -> dict[str, Any]:
    return {"value": text, "supportThemeIcons": False}


def invocation(call: str, tool: str, **more: Any) -> dict[str, Any]:
    """A tool call as it is shown."""
    return {
        "kind": "toolInvocationSerialized",
        "toolCallId": call,
        "toolId": tool,
        "isComplete": True,
        "isConfirmed": {"type": 1},
        **more,
    }


def round_of(text: str, **calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """What the model answered, with calls by their ids: a tool and its arguments."""
    wishes = [{"id": f"{call}__vscode-17", "name": tool, "arguments": json.dumps(given)} for call, (tool, given) in calls.items()]
    return {"id": "round", "response": text, "toolCalls": wishes}


def result(*rounds: dict[str, Any], given_back: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """The result of a request; what tools gave back by the ids of their calls."""
    results = {f"{call}__vscode-17": {"content": [{"value": value}]} for call, value in (given_back or {}).items()}
    metadata = {"toolCallRounds": list(rounds), "toolCallResults": results, **metadata}
    return {"timings": {"firstProgress": 700, "totalElapsed": 9000}, "metadata": metadata}


def chat(*requests: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 3,
        "sessionId": CHAT,
        "creationDate": START,
        "customTitle": "Stamps",
        "initialLocation": "panel",
        "responderUsername": "GitHub Copilot",
        "requests": list(requests),
        **more,
    }


def snapshot(value: dict[str, Any]) -> dict[str, Any]:
    return {"kind": 0, "v": value}


def put(value: Any, *path: str | int) -> dict[str, Any]:
    return {"kind": 1, "k": list(path), "v": value}


def push(values: list[Any], *path: str | int, cut: int | None = None) -> dict[str, Any]:
    return {"kind": 2, "k": list(path), "v": values} | ({} if cut is None else {"i": cut})


def window(user: Path, folder: str | None = "file:///home/ada/shop") -> Path:
    """Where the chats of a window are kept."""
    kept = user / "workspaceStorage" / "8f3a" / "chatSessions"
    kept.mkdir(parents=True, exist_ok=True)
    if folder:
        (kept.parent / "workspace.json").write_text(json.dumps({"folder": folder}))
    return kept


def document(folder: Path, value: dict[str, Any], name: str | None = None) -> Path:
    path = folder / (name or f"{value['sessionId']}.json")
    path.write_text(json.dumps(value))
    return path


def log(folder: Path, *operations: dict[str, Any]) -> Path:
    """An operation log, named after the chat that its snapshot has."""
    path = folder / f"{operations[0]['v']['sessionId']}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in operations))
    return path
