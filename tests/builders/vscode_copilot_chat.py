"""Chats of VS Code: requests, what was answered to them, and the operations that make them.

Traces of Visual Studio.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CHAT = "c4a70000-0000-4000-8000-000000000001"
START = 1_777_885_200_000
CONVERSATION = "7d100000-0000-4000-8000-000000000001"


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
    wishes = [
        {"id": f"{call}__vscode-17", "name": tool, "arguments": json.dumps(given)}
        for call, (tool, given) in calls.items()
    ]
    return {"id": "round", "response": text, "toolCalls": wishes}


def result(
    *rounds: dict[str, Any], given_back: dict[str, Any] | None = None, **metadata: Any
) -> dict[str, Any]:
    """The result of a request; what tools gave back by the ids of their calls."""
    results = {
        f"{call}__vscode-17": {"content": [{"value": value}]}
        for call, value in (given_back or {}).items()
    }
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


# Traces of Visual Studio


def span(
    name: str, title: str, start: int, end: int, about: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """Something that was done from one second to another, after the conversation began."""
    about = {"gen_ai.conversation.id": CONVERSATION, **about}
    return {
        "spanId": name,
        "parentSpanId": "",
        "name": title,
        "startTimeUnixNano": f"{START + 1000 * start}000000",
        "endTimeUnixNano": f"{START + 1000 * end}000000",
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in about.items()
        ],
        **more,
    }


def request_span(start: int, end: int, root: str = "r-1", **more: Any) -> dict[str, Any]:
    about = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.request.model": "fern-2",
        "copilot_chat.initiator_type": "User",
        "copilot_chat.mode": "Agent",
        "copilot_chat.root_request_id": root,
    }
    return span(f"span-of-{root}", "invoke_agent GitHub Copilot", start, end, about, **more)


def chat_span(
    name: str,
    start: int,
    end: int,
    prompt: str,
    answered: dict[str, Any],
    turn: str | None = "r-1",
    **usage: str,
) -> dict[str, Any]:
    """A model call of a request, with figures by the last words of their names."""
    sent = [
        {"role": "user", "parts": [{"type": "text", "content": prompt}]},
        {"role": "tool", "parts": []},
    ]
    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "fern-2",
        "gen_ai.input.messages": json.dumps(sent),
        "gen_ai.output.messages": json.dumps([answered]),
        **(
            {"virtual_parent.genai": f"span-of-{turn}", "copilot_chat.root_request_id": turn}
            if turn
            else {}
        ),
        **{f"gen_ai.usage.{figure}": count for figure, count in usage.items()},
    }
    return span(name, "chat fern-2", start, end, about)


def tool_span(
    call: str,
    start: int,
    end: int,
    tool: str,
    given: dict[str, Any],
    result: str | None,
    **more: Any,
) -> dict[str, Any]:
    """A tool call of the request `r-1`, which it does not name: the span above it does."""
    about = {
        "virtual_parent.genai": "span-of-r-1",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": call,
        "gen_ai.tool.call.arguments": json.dumps(given),
        **({} if result is None else {"gen_ai.tool.call.result": result}),
    }
    return span(f"span-of-{call}", f"execute_tool {tool}", start, end, about, **more)


def answer(text: str, call: str | None = None) -> dict[str, Any]:
    """What the model answered, perhaps with a call of a tool."""
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}]
    if call:
        parts.append({"type": "tool_call", "id": call, "name": "get_file", "arguments": "{}"})
    return {"role": "assistant", "parts": parts}


def trace(folder: Path, *spans: dict[str, Any], run: str = "aaaa", begun: str = "T01") -> Path:
    """A file of a run of Visual Studio, one span a line."""
    kept = folder / "VSGitHubCopilotLogs" / "traces"
    kept.mkdir(parents=True, exist_ok=True)
    about = {
        "service.name": "vs-copilot",
        "service.namespace": "visualstudio",
        "service.version": "18.6.1",
    }
    resource = {
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in about.items()
        ]
    }
    path = kept / f"{begun}_{run}_VSGitHubCopilot_traces.jsonl"
    batches = (
        {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [one]}]}]}
        for one in spans
    )
    path.write_text("".join(json.dumps(batch) + "\n" for batch in batches))
    return path
