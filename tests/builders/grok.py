"""Files of a Grok Build session, and the database of grok-cli, with readable defaults.

Times are seconds after the start of a session. A test says what it is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START_MS = 1_793_523_600_000  # 2026-11-01T09:00:00Z
SESSION = "019f8000-0000-7000-8000-00000000000a"
CHILD = "019f8000-0000-7000-8000-00000000000c"
GROUP = "%2Fhome%2Fada%2Fshop"
PROMPT = "11111111-0000-4000-8000-000000000001"
SECOND = "11111111-0000-4000-8000-000000000002"

Line = dict[str, Any]


def clock(second: float) -> str:
    """A time as the documents and events write it."""
    return (
        datetime.fromtimestamp(START_MS / 1000 + second, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


# updates.jsonl


def update(
    name: str,
    at: float,
    prompt: str | None = PROMPT,
    *,
    own: bool = False,
    session: str = SESSION,
    **fields: Any,
) -> Line:
    """A line; `own` says that the update is one of the vendor's."""
    moment = START_MS + round(at * 1000)
    meta = {
        "eventId": f"{session}-{moment}",
        "agentTimestampMs": moment,
        **({"promptId": prompt} if prompt else {}),
    }
    told = {"sessionId": session, "update": {"sessionUpdate": name, **fields}, "_meta": meta}
    return {
        "timestamp": moment // 1000,
        "method": f"{'_x.ai/' if own else ''}session/update",
        "params": told,
    }


def user(
    text: str = "count the crates",
    at: float = 0,
    prompt: str | None = PROMPT,
    index: int | None = 0,
    **meta: Any,
) -> Line:
    """What somebody typed; without an index it was sent in the middle of a turn, or long ago."""
    fields: Line = {"content": {"type": "text", "text": text}}
    if own := {**({} if index is None else {"promptIndex": index}), **meta}:
        fields["_meta"] = own
    return update("user_message_chunk", at, prompt, **fields)


def says(text: str = "Done.", at: float = 5, prompt: str | None = PROMPT, **fields: Any) -> Line:
    """A piece of an answer."""
    return update(
        "agent_message_chunk", at, prompt, content={"type": "text", "text": text}, **fields
    )


def thinks(text: str, at: float = 1, prompt: str | None = PROMPT) -> Line:
    """A piece of a thought."""
    return update("agent_thought_chunk", at, prompt, content={"type": "text", "text": text})


def calls(
    call: str, name: str, given: Any, at: float = 2, prompt: str | None = PROMPT, **fields: Any
) -> Line:
    """A tool is called."""
    told = {"title": name, "kind": "other", "status": "pending", "rawInput": given, **fields}
    return update("tool_call", at, prompt, toolCallId=call, **told)


def answered(
    call: str,
    text: str = "",
    at: float = 3,
    prompt: str | None = PROMPT,
    status: str = "completed",
    **fields: Any,
) -> Line:
    """What a tool gave back."""
    content = [{"type": "content", "content": {"type": "text", "text": text}}] if text else None
    return update(
        "tool_call_update",
        at,
        prompt,
        toolCallId=call,
        status=status,
        **{"content": content, **fields},
    )


def billed(
    at: float = 6,
    prompt: str = PROMPT,
    tokens: Line | None = None,
    stop_reason: str = "end_turn",
    **fields: Any,
) -> Line:
    """A turn has ended."""
    told = {
        "prompt_id": prompt,
        "stop_reason": stop_reason,
        **({"usage": tokens} if tokens else {}),
        **fields,
    }
    return update("turn_completed", at, prompt, own=True, **told)


def tokens(
    given: int = 1000,
    cached: int = 600,
    gave: int = 50,
    *,
    model: str | None = "grok-4.5-build",
    **more: Any,
) -> Line:
    """The figures of a prompt, by model unless there is none."""
    told = {
        "inputTokens": given,
        "cachedReadTokens": cached,
        "outputTokens": gave,
        "totalTokens": given + gave,
        **more,
    }
    row = {name: value for name, value in told.items() if name != "usageIsIncomplete"}
    return {**told, **({"modelUsage": {model: row}} if model else {}), "numTurns": 1}


def rewound(target: int, at: float) -> Line:
    """The conversation goes on from an earlier prompt."""
    return update(
        "rewind_marker", at, None, own=True, target_prompt_index=target, created_at=clock(at)
    )


def spawned(child: str = CHILD, at: float = 2, prompt: str = PROMPT) -> Line:
    """A sub-agent was started."""
    fields = {
        "subagent_id": child,
        "child_session_id": child,
        "parent_session_id": SESSION,
        "parent_prompt_id": prompt,
    }
    return update(
        "subagent_spawned",
        at,
        prompt,
        own=True,
        subagent_type="explore",
        description="look around",
        **fields,
    )


# chat_history.jsonl


def chat_user(
    text: str = "count the crates", index: int | None = None, reason: str | None = None
) -> Line:
    """A message in the user's name."""
    more = {"synthetic_reason": reason, "prompt_index": index}
    told = {name: value for name, value in more.items() if value is not None}
    return {"type": "user", "content": [{"type": "text", "text": text}], **told}


def asked(text: str = "count the crates", index: int | None = 0) -> Line:
    """A prompt as the model is shown it."""
    return chat_user(f"<user_query>\n{text}\n</user_query>", index)


def chat_says(text: str = "Done.", *tool_calls: tuple[str, str, Any], **more: Any) -> Line:
    """An answer, with the calls in it as (id, name, arguments)."""
    made = [
        {"id": call, "name": name, "arguments": json.dumps(given)}
        for call, name, given in tool_calls
    ]
    return {
        "type": "assistant",
        "content": text,
        **({"tool_calls": made} if made else {}),
        "model_id": "grok-4.5-build",
        **more,
    }


def chat_result(call: str, text: str) -> Line:
    """What a tool gave back, in full."""
    return {"type": "tool_result", "tool_call_id": call, "content": text}


# events.jsonl


def event(kind: str, at: float, **fields: Any) -> Line:
    """Something that was measured."""
    return {"ts": clock(at), "type": kind, **fields}


def tool_took(
    call: str, milliseconds: int, outcome: str = "success", at: float = 3, **fields: Any
) -> Line:
    """How a call went."""
    return event(
        "tool_completed",
        at,
        tool_name="x",
        duration_ms=milliseconds,
        outcome=outcome,
        tool_call_id=call,
        **fields,
    )


# A session's folder


def summary(session: str = SESSION, **more: Any) -> Line:
    """What a session is."""
    told = {
        "info": {"id": session, "cwd": "/home/ada/shop"},
        "session_summary": "",
        "created_at": clock(0),
    }
    return {
        **told,
        "updated_at": clock(60),
        "num_messages": 1,
        "current_model_id": "grok-4.5",
        "chat_format_version": 1,
        **more,
    }


def folder(
    root: Path,
    session: str = SESSION,
    *,
    updates: Iterable[Line] | None = None,
    chat: Iterable[Line] | None = None,
    events: Iterable[Line] | None = None,
    group: str = GROUP,
    facts: Line | None = None,
    signals: Line | None = None,
) -> Path:
    """A session on disk, under a home of Grok; it has the files that are given, and a summary."""
    made = root / "sessions" / group / session
    made.mkdir(parents=True, exist_ok=True)
    documents = {
        "summary.json": summary(session) if facts is None else facts,
        "signals.json": signals,
    }
    for name, told in documents.items():
        if told:
            (made / name).write_text(json.dumps(told, indent=1) + "\n")
    for name, lines in {
        "updates.jsonl": updates,
        "chat_history.jsonl": chat,
        "events.jsonl": events,
    }.items():
        if lines is not None:
            (made / name).write_text(text_of(lines))
    return made


def text_of(lines: Iterable[Line]) -> str:
    """Lines as they stand in a file."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def link(parent: Path, child: str = CHILD, **more: Any) -> None:
    """What a parent keeps about a sub-agent."""
    made = parent / "subagents" / child
    made.mkdir(parents=True)
    told = {
        "subagent_id": child,
        "parent_session_id": parent.name,
        "child_session_id": child,
        "subagent_type": "explore",
    }
    (made / "meta.json").write_text(
        json.dumps({**told, "description": "look around", "status": "completed", **more})
    )


# The database of grok-cli

SCHEMA = """
create table workspaces (id text primary key, scope_key text not null unique,
  canonical_path text not null, git_root text,
  display_name text not null, last_seen_at text not null) strict;
create table sessions (id text primary key, workspace_id text not null, title text,
  recap_text text, recap_model text,
  recap_updated_at text, model text not null, mode text not null, cwd_at_start text not null,
  cwd_last text not null,
  status text not null, created_at text not null, updated_at text not null) strict;
create table messages (session_id text not null, seq integer not null, role text not null,
  message_json text not null,
  created_at text not null, primary key (session_id, seq)) strict;
create table tool_calls (id integer primary key autoincrement, session_id text not null,
  message_seq integer not null,
  tool_call_id text not null, tool_name text not null, args_json text not null,
  status text not null,
  started_at text not null, completed_at text) strict;
create table tool_results (id integer primary key autoincrement, tool_call_row_id integer not null,
  output_kind text not null, output_json text not null, success integer not null,
  created_at text not null) strict;
create table usage_events (id integer primary key autoincrement, session_id text not null,
  message_seq integer,
  source text not null, model text not null, input_tokens integer not null default 0,
  output_tokens integer not null default 0, total_tokens integer not null default 0,
  cost_micros integer not null default 0, created_at text not null) strict;
create table compactions (id integer primary key autoincrement, session_id text not null,
  first_kept_seq integer not null,
  summary text not null, tokens_before integer not null default 0, created_at text not null) strict;
"""


def row(table: str, **values: Any) -> str:
    """A statement that adds a row."""
    shown = ", ".join("null" if value is None else _quoted(value) for value in values.values())
    return f"insert into {table} ({', '.join(values)}) values ({shown});\n"


def _quoted(value: Any) -> str:
    if isinstance(value, (int, float)):
        return str(value)
    text = value if isinstance(value, str) else json.dumps(value)
    return "'" + text.replace("'", "''") + "'"


def cli_session(session: str = "a1b2c3d4e5f6", at: float = 0, **more: Any) -> str:
    """A session of grok-cli."""
    told = {
        "id": session,
        "workspace_id": "w1",
        "title": "Count crates",
        "model": "grok-4",
        "mode": "agent",
    }
    places = {"cwd_at_start": "/home/ada/shop", "cwd_last": "/home/ada/shop", "status": "active"}
    return row(
        "sessions", **{**told, **places, "created_at": clock(0), "updated_at": clock(at), **more}
    )


def cli_message(
    seq: int, role: str, content: Any, at: float = 0, session: str = "a1b2c3d4e5f6"
) -> str:
    """A message of the AI SDK."""
    told = {"role": role, "content": content}
    return row(
        "messages", session_id=session, seq=seq, role=role, message_json=told, created_at=clock(at)
    )


def cli_usage(given: int, gave: int, at: float, session: str = "a1b2c3d4e5f6", **more: Any) -> str:
    """The tokens of a run."""
    told = {
        "source": "message",
        "model": "grok-4",
        "input_tokens": given,
        "output_tokens": gave,
        "total_tokens": given + gave,
    }
    return row(
        "usage_events",
        session_id=session,
        **{**told, "cost_micros": 0, "created_at": clock(at), **more},
    )
