"""Claude Code transcripts, line by line, with readable defaults.

A `Conversation` chains its records the way the client does: each gets the
next id and time and hangs on the one before, unless a test says otherwise.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "5e551011-0000-4000-8000-000000000001"
MODEL = "claude-opus-4-5"
START = 1_767_258_000  # 2026-01-01T09:00:00Z


def at(second: int) -> str:
    """The time of a record, as many seconds after nine o'clock."""
    hours, rest = divmod(second, 3600)
    return f"2026-01-01T{9 + hours:02d}:{rest // 60:02d}:{rest % 60:02d}.000Z"


def ms(second: int) -> int:
    """The same time as items carry it."""
    return (START + second) * 1000


def tokens(
    fresh: int = 4, *, read: int = 2000, write: int = 100, output: int = 50, **more: Any
) -> dict[str, Any]:
    """The usage object of an API message."""
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "output_tokens": output,
        **more,
    }


class Conversation:
    """One file being written; `lines` is what is in it so far."""

    def __init__(
        self,
        session: str = SESSION,
        *,
        prefix: str = "r",
        agent: str | None = None,
        **envelope: Any,
    ) -> None:
        self.session, self.prefix, self.agent = session, prefix, agent
        self.envelope = {
            "cwd": "/home/ada/shop",
            "version": "2.1.232",
            "gitBranch": "main",
            **envelope,
        }
        self.lines: list[str] = []
        self.second = 0
        self.count = 0
        self.tip: str | None = None

    def add(self, type: str, *, parent: Any = "tip", uuid: str | None = None, **fields: Any) -> str:
        """A record of the chain; it becomes the tip."""
        self.count += 1
        self.second += 1
        uuid = uuid or f"{self.prefix}{self.count}"
        record: dict[str, Any] = {
            "parentUuid": self.tip if parent == "tip" else parent,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "sessionId": self.session,
            **self.envelope,
            "type": type,
            "uuid": uuid,
            "timestamp": at(self.second),
        }
        if self.agent is not None:
            record["agentId"] = self.agent
        record.update(fields)
        self.tip = uuid
        self.bare(record)
        return uuid

    def bare(self, record: Any) -> None:
        """A line as it is, outside the chain."""
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def assistant(
        self, *blocks: dict[str, Any], message: str = "", usage: Any = None, **fields: Any
    ) -> str:
        """A line of an API message; give the same `message` id to split one over lines."""
        body: dict[str, Any] = {
            "id": message or f"msg_{self.prefix}{self.count + 1}",
            "type": "message",
            "role": "assistant",
            "model": fields.pop("model", MODEL),
            "content": list(blocks),
            "stop_reason": fields.pop("stop_reason", None),
            "usage": usage if usage is not None else tokens(),
        }
        return self.add(
            "assistant",
            message=body,
            requestId=fields.pop("requestId", f"req_{body['id']}"),
            **fields,
        )

    def reply(self, text: str, **fields: Any) -> str:
        return self.assistant(said(text), **fields)

    def call(self, name: str, arguments: dict[str, Any], id: str, **fields: Any) -> str:
        return self.assistant(used(name, arguments, id), **fields)

    def result(
        self, call: str, content: Any, outcome: Any = None, *, error: bool = False, **fields: Any
    ) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if error:
            block["is_error"] = True
        if outcome is not None:
            fields["toolUseResult"] = outcome
        return self.user([block], **fields)

    def system(self, subtype: str, **fields: Any) -> str:
        return self.add("system", subtype=subtype, **fields)

    def attach(self, type: str, **fields: Any) -> str:
        return self.add("attachment", attachment={"type": type, **fields})

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)
        return path


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def thought(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def used(name: str, arguments: dict[str, Any], id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def image(data: str = "aGVsbG8=") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
