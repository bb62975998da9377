"""Sessions as logs: in the formats of two agents that there are, and in one of
our own with the adapter that reads it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.habits import Call, Session
from recollect.capture.adapters import Adapter, get_adapter
from recollect.model.logs import Checkpoint, Event, Item, Origin, SessionFacts, Source, TurnFacts

CALL_S = 2


def write_logs(world: Sequence[Session], folder: Path) -> list[Path]:
    """Every session as the log of its agent; the logs, in the order of the sessions."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for session in world:
        path = folder / f"{_NAMES[session.agent].format(session.native_id)}.jsonl"
        lines = _WRITERS[session.agent](session)
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        found.append(path)
    return found


def adapters() -> dict[str, Adapter]:
    """What reads these logs."""
    return {
        "claude-code": get_adapter("claude-code"),
        "codex": get_adapter("codex"),
        Scribe.agent: Scribe(),
    }


def _clock(session: Session) -> Iterator[str]:
    second = session.begin
    while True:
        yield datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        second += CALL_S


def _transcript(session: Session) -> Iterator[dict[str, Any]]:
    """Records that hang on one another, as Claude Code writes them."""
    clock, count, tip = _clock(session), 0, None

    def record(kind: str, content: object, **more: Any) -> dict[str, Any]:
        nonlocal count, tip
        count += 1
        made = {
            "parentUuid": tip, "isSidechain": False, "userType": "external", "cwd": session.project,
            "sessionId": session.native_id, "version": "2.1.232", "type": kind,
            "uuid": f"{session.number}-{count}",
            "timestamp": next(clock),
            "message": {"role": kind, "content": content, **more},
        }  # fmt: skip
        tip = made["uuid"]
        return made

    def answered(*blocks: dict[str, Any]) -> dict[str, Any]:
        return record(
            "assistant",
            list(blocks),
            id=f"msg_{session.number}_{count}",
            model="claude-opus-4-5",
            type="message",
        )

    for turn in session.turns:
        yield record("user", turn.prompt)
        for call in turn.calls:
            number = f"toolu_{session.number}_{count}"
            name, given = {
                "shell": ("Bash", {"command": call.target}), "read": ("Read",
                {"file_path": call.target}),
                "edit": ("Edit", {"file_path": call.target, "old_string": "a", "new_string": "b"}),
            }[call.kind]  # fmt: skip
            yield answered({"type": "tool_use", "id": number, "name": name, "input": given})
            failed = bool(call.code)
            text = (
                f"Exit code {call.code}\n{call.output}"
                if failed and not call.declined
                else call.output
            )
            yield record(
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": number,
                        "content": text,
                        "is_error": failed,
                    }
                ],
            )
        yield answered({"type": "text", "text": turn.reply})


def _rollout(session: Session) -> Iterator[dict[str, Any]]:
    """Records in a row, as Codex writes them."""
    clock = _clock(session)

    def record(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": next(clock), "type": kind, "payload": payload}

    began = next(_clock(session))
    yield record(
        "session_meta", id=session.native_id, timestamp=began, cwd=session.project,
        originator="codex_cli_rs",
        cli_version="0.63.0", source="cli",
    )  # fmt: skip
    yield record("turn_context", cwd=session.project, model="gpt-5-codex", approval_policy="never")
    count = 0
    for turn in session.turns:
        yield record("event_msg", type="user_message", message=turn.prompt, images=[])
        for call in turn.calls:
            count += 1
            yield from (
                record("response_item", **payload)
                for payload in _codex_call(call, f"call_{session.number}_{count}")
            )
        yield record("event_msg", type="agent_message", message=turn.reply)


def _codex_call(call: Call, number: str) -> list[dict[str, Any]]:
    if call.kind == "edit":
        patch = f"*** Begin Patch\n*** Update File: {call.target}\n@@\n-a\n+b\n*** End Patch"
        made = {
            "type": "custom_tool_call",
            "name": "apply_patch",
            "call_id": number,
            "input": patch,
            "status": "completed",
        }
        done = json.dumps({"output": "Success", "metadata": {"exit_code": 0}})
        return [made, {"type": "custom_tool_call_output", "call_id": number, "output": done}]
    if call.kind == "read":
        given = json.dumps({"file_path": call.target})
        made = {"type": "function_call", "name": "read_file", "call_id": number, "arguments": given}
        return [made, {"type": "function_call_output", "call_id": number, "output": call.output}]
    given = json.dumps({"command": ["bash", "-lc", call.target]})
    done = json.dumps({"output": call.output, "metadata": {"exit_code": call.code}})
    told = "exec command rejected by user" if call.declined else done
    return [
        {"type": "function_call", "name": "shell", "call_id": number, "arguments": given},
        {"type": "function_call_output", "call_id": number, "output": told},
    ]


def _scribed(session: Session) -> Iterator[dict[str, Any]]:
    """One line a turn, in a format of our own."""
    yield {
        "scribe": 1,
        "session": session.native_id,
        "folder": session.project,
        "begin": session.begin,
        "parent": session.parent,
    }
    for number, turn in enumerate(session.turns, 1):
        calls = [[call.kind, call.target, call.output, call.code] for call in turn.calls]
        yield {"turn": number, "asked": turn.prompt, "calls": calls, "said": turn.reply}


_TOOLS = {"shell": "terminal", "edit": "change_file", "read": "look"}


class Scribe:
    """Reads the logs of an agent that nobody uses. A changed log is read again from its start."""

    agent, name, version, endings = "scribe", "Scribe", 1, (".jsonl",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        return [os.path.join(home, ".scribe")]

    def sources(self, root: str) -> Iterator[Source]:
        if os.path.isdir(root):
            for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
                if entry.name.endswith(".jsonl"):
                    yield Source(self.agent, entry.path, appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        return (
            Source(self.agent, path, appended=False)
            if head.startswith(b'{"scribe":1,"session":')
            else None
        )

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        with open(source.path, encoding="utf-8") as file:
            first, *rest = map(json.loads, file)
        session, at = first["session"], first["begin"] * 1000
        origin: Origin = "subagent" if first["parent"] else "interactive"
        yield SessionFacts(
            session=session,
            parent=first["parent"],
            cwd=first["folder"],
            started_at=at,
            origin=origin,
        )
        for line in rest:
            turn = f"{session}-{line['turn']}"
            yield TurnFacts(session=session, turn=turn, at=at, author="human", cwd=first["folder"])
            yield Event(session=session, turn=turn, kind="prompt", at=at, text=line["asked"])
            for number, (kind, target, output, code) in enumerate(line["calls"]):
                at += CALL_S * 1000
                yield Event(
                    session=session, turn=turn, kind="tool_call", at=at, call=f"{turn}-{number}",
                    name=_TOOLS[kind],
                    tool_kind=kind, target=target, input={"on": target}, output=output,
                    ok=code == 0,
                    exit_code=code if kind == "shell" else None,
                )  # fmt: skip
            yield Event(session=session, turn=turn, kind="reply", at=at, text=line["said"])
        yield Checkpoint(os.path.getsize(source.path))


_NAMES = {"claude-code": "{}", "codex": "rollout-2026-01-01T09-00-00-{}", "scribe": "scribe-{}"}
_WRITERS = {"claude-code": _transcript, "codex": _rollout, "scribe": _scribed}
