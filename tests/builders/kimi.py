"""Logs of Kimi CLI and Kimi Code, with readable defaults.

Times run on by a second from line to line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SESSION = "3c000000-0000-4000-8000-00000000000a"
CODE_SESSION = "session_4d000000-0000-4000-8000-00000000000b"
WORK_DIR = "/home/ada/shop"
CLI_FOLDER = hashlib.md5(WORK_DIR.encode(), usedforsecurity=False).hexdigest()
CODE_FOLDER = "wd_shop_0123456789ab"
START_MS = 1_775_000_000_000  # 2026-03-31T23:33:20Z


def at(second: int) -> int:
    return START_MS + 1000 * second


# Kimi CLI


def wire(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": kind, "payload": payload}


def begin(text: Any = "count the crates") -> dict[str, Any]:
    return wire("TurnBegin", user_input=text)


def say(text: str = "There are two.") -> dict[str, Any]:
    return wire("ContentPart", type="text", text=text)


def think(text: str = "Let me look.") -> dict[str, Any]:
    return wire("ContentPart", type="think", think=text, encrypted=None)


def call(
    name: str = "Shell", call_id: str = "tool_1", arguments: str | None = '{"command": "ls crates"}'
) -> dict[str, Any]:
    return wire(
        "ToolCall",
        type="function",
        id=call_id,
        function={"name": name, "arguments": arguments},
        extras=None,
    )


def part(text: str) -> dict[str, Any]:
    return wire("ToolCallPart", arguments_part=text)


def result(
    output: Any = "one\ntwo\n", call_id: str = "tool_1", *, failed: bool = False, message: str = ""
) -> dict[str, Any]:
    value = {
        "is_error": failed,
        "output": output,
        "message": message,
        "display": [],
        "extras": None,
    }
    return wire("ToolResult", tool_call_id=call_id, return_value=value)


def status(message_id: str = "chatcmpl-1", **counts: int) -> dict[str, Any]:
    known = {"input_other": 10, "output": 5, "input_cache_read": 100, "input_cache_creation": 20}
    return wire(
        "StatusUpdate", context_usage=0.01, token_usage={**known, **counts}, message_id=message_id
    )


def of_agent(
    event: dict[str, Any], *, agent: str | None = "a1b2c3", call_id: str = "tool_1"
) -> dict[str, Any]:
    """An event of a sub-agent, as its parent's log has it.

    The first versions named only the call.
    """
    named = (
        {"task_tool_call_id": call_id}
        if agent is None
        else {"parent_tool_call_id": call_id, "agent_id": agent}
    )
    return wire("SubagentEvent", **named, subagent_type="coder", event=event)


def wire_log(*messages: dict[str, Any], start: int = 0, version: str | None = "1.10") -> str:
    header = [] if version is None else [{"type": "metadata", "protocol_version": version}]
    timed = [
        {"timestamp": at(second) / 1000, "message": message}
        for second, message in enumerate(messages, start)
    ]
    return lines([*header, *timed])


def context_log(*messages: dict[str, Any]) -> str:
    return lines(
        [
            {"role": "_system_prompt", "content": "You are Kimi."},
            {"role": "_checkpoint", "id": 0},
            *messages,
        ]
    )


def cli_session(home: Path, session: str = SESSION, **files: str) -> Path:
    """A session's folder; `wire` and `context` are its logs, and the folder
    of the working directory is listed.
    """
    folder = home / "sessions" / CLI_FOLDER / session
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    known = {"work_dirs": [{"path": WORK_DIR, "kaos": "local", "last_session_id": None}]}
    (home / "kimi.json").write_text(json.dumps(known), encoding="utf-8")
    (folder / "state.json").write_text(
        json.dumps({"version": 1, "custom_title": "Crates"}), encoding="utf-8"
    )
    return folder


# Kimi Code


def prompt(text: str = "count the crates", kind: str = "user", **origin: Any) -> dict[str, Any]:
    return {
        "type": "turn.prompt",
        "input": [{"type": "text", "text": text}],
        "origin": {"kind": kind, **origin},
    }


def repeated(
    text: str = "count the crates", kind: str | None = "user", **origin: Any
) -> dict[str, Any]:
    """A prompt on its way into the context."""
    known = {"role": "user", "content": [{"type": "text", "text": text}], "toolCalls": []}
    return appended({**known, "origin": {"kind": kind, **origin}} if kind else known)


def appended(message: dict[str, Any]) -> dict[str, Any]:
    return {"type": "context.append_message", "message": message}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "context.append_loop_event",
        "event": {"type": kind, "turnId": "0", "step": 1, **fields},
    }


def says(text: str = "There are two.") -> dict[str, Any]:
    return event("content.part", part={"type": "text", "text": text})


def thinks(text: str = "Let me look.") -> dict[str, Any]:
    return event("content.part", part={"type": "think", "think": text})


def calls(name: str = "Bash", call_id: str = "Bash_0", **args: Any) -> dict[str, Any]:
    return event(
        "tool.call",
        toolCallId=call_id,
        name=name,
        args=args or {"command": "ls crates"},
        description="Running: ls",
    )


def gives(output: Any = "one\ntwo\n", call_id: str = "Bash_0", **more: Any) -> dict[str, Any]:
    return event("tool.result", toolCallId=call_id, result={"output": output, **more})


def spent(
    scope: str = "turn", model: str = "moonshot-ai/kimi-k2.7-code", **counts: int
) -> dict[str, Any]:
    known = {"inputOther": 10, "output": 5, "inputCacheRead": 100, "inputCacheCreation": 20}
    return {
        "type": "usage.record",
        "model": model,
        "usage": {**known, **counts},
        "usageScope": scope,
    }


def request(**more: Any) -> dict[str, Any]:
    known = {
        "provider": "kimi",
        "model": "kimi-k2.7-code",
        "modelAlias": "moonshot-ai/kimi-k2.7-code",
        "thinkingEffort": "on",
    }
    return {"type": "llm.request", "kind": "loop", **known, **more}


def code_log(*records: dict[str, Any], start: int = 0, header: bool = True) -> str:
    first = (
        [{"type": "metadata", "protocol_version": "1.4", "created_at": at(start)}] if header else []
    )
    return lines(
        [*first, *({**record, "time": at(second)} for second, record in enumerate(records, start))]
    )


def code_session(
    home: Path, session: str = CODE_SESSION, *, state: dict[str, Any] | None = None, **agents: str
) -> Path:
    """A session's folder with the log of each agent; underscores in names stand for hyphens."""
    folder = home / "sessions" / CODE_FOLDER / session
    known = {"title": "Crates", "workDir": WORK_DIR, "createdAt": "2026-03-31T23:33:19.000Z"}
    for name, text in agents.items():
        agent = name.replace("_", "-")
        path = folder / "agents" / agent / "wire.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "state.json").write_text(json.dumps({**known, **(state or {})}), encoding="utf-8")
    return folder


def lines(records: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
