"""Threads of Amp, with readable defaults; messages are numbered in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

THREAD = "T-0a1b2c3d-1111-4222-8333-444455556666"
CREATED_MS = 1_760_000_000_000  # 2025-10-09T08:53:20Z


def sent(second: int) -> int:
    return CREATED_MS + 1000 * second


def user(*parts: Any, at: int | None = None, **more: Any) -> dict[str, Any]:
    """What a person said; plain texts become parts of it."""
    meta = {} if at is None else {"meta": {"sentAt": sent(at)}}
    return {"role": "user", "content": _parts(parts or ("count the crates",)), **meta, **more}


def assistant(*parts: Any, **more: Any) -> dict[str, Any]:
    state = {"type": "complete", "stopReason": "end_turn"}
    return {
        "role": "assistant",
        "content": _parts(parts or ("There are two.",)),
        "state": state,
        **more,
    }


def call(name: str = "Bash", call_id: str = "toolu_1", **given: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": given or {"cmd": "ls crates"},
        "complete": True,
    }


def result(result: Any = None, call_id: str = "toolu_1", **run: Any) -> dict[str, Any]:
    told = {"output": "one\ntwo", "exitCode": 0} if result is None and not run else result
    return {
        "type": "tool_result",
        "toolUseID": call_id,
        "run": {"status": "done", "result": told, **run},
    }


def usage(model: str = "claude-sonnet-4-5", **more: Any) -> dict[str, Any]:
    counts = {
        "inputTokens": 10,
        "outputTokens": 5,
        "cacheCreationInputTokens": 20,
        "cacheReadInputTokens": 100,
    }
    return {"model": model, **counts, "totalInputTokens": 130, "credits": 1.5, **more}


def thread(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    tree = {
        "displayName": "shop",
        "uri": "file:///home/ada/shop",
        "repository": {
            "type": "git",
            "url": "https://git.example/ada/shop",
            "ref": "refs/heads/main",
            "sha": "c0ffee",
        },
    }
    platform = {"os": "linux", "client": "CLI", "clientVersion": "0.0.1760000000"}
    numbered = [{"messageId": number, **message} for number, message in enumerate(messages)]
    known = {
        "v": len(messages),
        "id": THREAD,
        "created": CREATED_MS,
        "title": "Crates",
        "agentMode": "smart",
    }
    return {
        **known,
        "messages": numbered,
        "env": {"initial": {"trees": [tree], "platform": platform}},
        **more,
    }


def log(root: Path, given: dict[str, Any], folder: str = "threads") -> Path:
    path = root / folder / f"{given['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(given, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def _parts(parts: tuple[Any, ...]) -> list[Any]:
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
