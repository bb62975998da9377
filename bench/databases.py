"""The generated corpus as other agents would have stored it: in SQLite files.

One conversation after another is read out of the generated logs and written
with the tables and the JSON that each of these agents uses, as far as an
import reads them. What the reference reads are the same values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from bench.corpora import Corpus
from recollect.capture.adapters import get_adapter
from recollect.capture.assemble import assemble
from recollect.model.logs import Event, Source

MODEL = "gpt-5"


@dataclass
class Talk:
    """One session: its turns, each with when it began and what happened in it."""

    id: str
    cwd: str
    turns: list[tuple[int, list[Event]]] = field(default_factory=list)


@dataclass(frozen=True)
class Database:
    """How one agent stores talks: where, in which tables, and which of their values are JSON."""

    agent: str
    place: str
    schema: str
    write: Callable[[apsw.Connection, int, Talk], None]
    # What the reference reads: statements whose last column is JSON, or NULL.
    values: tuple[str, ...]


def talks(corpus: Corpus) -> Iterator[Talk]:
    """The sessions of a corpus that we generated."""
    adapter = get_adapter("codex" if (Path(corpus.folder) / "sessions").is_dir() else "claude-code")
    for number, path in enumerate(corpus.paths()):
        talk = Talk(f"{number:08d}-0000-4000-8000-{number:012d}", "/home/ada/shop")
        for batch in assemble(adapter.read(Source(adapter.agent, path), None)):
            for part in batch.turns.values():
                if part.events and part.facts.at is not None:
                    talk.turns.append((part.facts.at, part.events))
        if talk.turns:
            yield talk


def make(database: Database, corpus: Corpus, home: Path) -> Path:
    """The database of one agent in a home of its own, made unless it is there."""
    path = home / database.place
    done = home / "done"
    if not done.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        connection = apsw.Connection(str(path))
        connection.pragma("journal_mode", "wal")
        with connection:
            connection.execute(database.schema)
            for number, talk in enumerate(talks(corpus)):
                database.write(connection, number, talk)
        connection.close()
        done.touch()
    return path


def read(database: Database, path: str) -> int:
    """What the reference does: every value that an import reads, decoded where it is JSON.

    Says how many there were.
    """
    import orjson

    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    count = 0
    for statement in database.values:
        for *_, value in connection.execute(statement):
            if value is not None:
                orjson.loads(value)
            count += 1
    connection.close()
    return count


def _rows(talk: Talk) -> Iterator[tuple[str, int, Event]]:
    """Every event with an id and a time."""
    for turn, (at, events) in enumerate(talk.turns):
        for number, event in enumerate(events):
            yield f"{turn:04d}{number:04d}", event.at or at, event


# OpenCode ---------------------------------------------------------------------


def _opencode(db: apsw.Connection, number: int, talk: Talk) -> None:
    start, end = talk.turns[0][0], talk.turns[-1][0]
    session = f"ses_{number:08d}"
    db.execute(
        "insert into session values (?, 'shop', null, ?, ?, '1.17.0', ?, ?)",
        (session, talk.cwd, f"Talk {number}", start, end),
    )
    message = ""
    for row, at, event in _rows(talk):
        if event.kind == "prompt" or not message or not message.endswith("a"):
            user = event.kind == "prompt"
            message = f"msg_{number:08d}{row}{'u' if user else 'a'}"
            data = _opencode_message(talk, at, user=user)
            db.execute(
                "insert into message values (?, ?, ?, ?, ?)",
                (message, session, at, at, json.dumps(data)),
            )
        part = _opencode_part(row, at, event)
        db.execute(
            "insert into part values (?, ?, ?, ?, ?, ?)",
            (f"prt_{number:08d}{row}", message, session, at, at, json.dumps(part)),
        )


def _opencode_message(talk: Talk, at: int, *, user: bool) -> dict[str, Any]:
    if user:
        return {
            "role": "user",
            "time": {"created": at},
            "agent": "build",
            "model": {"providerID": "openai", "modelID": MODEL},
        }
    return {
        "role": "assistant", "parentID": "", "modelID": MODEL, "providerID": "openai",
        "mode": "build",
        "path": {"cwd": talk.cwd, "root": talk.cwd}, "cost": 0.01, "time": {"created": at,
        "completed": at},
        "tokens": {"input": 900, "output": 80, "reasoning": 20, "cache": {"read": 4000,
        "write": 0}}, "finish": "stop",
    }  # fmt: skip


def _opencode_part(row: str, at: int, event: Event) -> dict[str, Any]:
    if event.kind == "tool_call":
        state = {
            "status": "error" if event.ok is False else "completed", "input": event.input,
            "output": event.output or "",
            "title": event.target, "metadata": {"exit": event.exit_code}, "time": {"start": at,
            "end": at + 10},
        }  # fmt: skip
        return {"type": "tool", "callID": f"call_{row}", "tool": event.name, "state": state}
    if event.kind == "reasoning":
        return {"type": "reasoning", "text": event.text, "time": {"start": at, "end": at}}
    return {"type": "text", "text": event.text}


# Crush ------------------------------------------------------------------------


def _crush(db: apsw.Connection, number: int, talk: Talk) -> None:
    start, end = talk.turns[0][0] // 1000, talk.turns[-1][0] // 1000
    session = talk.id
    db.execute(
        "insert into sessions values (?, null, ?, 9, 4000, 80, 0.5, ?, ?, null)",
        (session, f"Talk {number}", end, start),
    )
    for row, at, event in _rows(talk):
        for role, parts in _crush_messages(row, event):
            values = (
                f"{number}-{row}-{role}",
                session,
                role,
                json.dumps(parts),
                MODEL,
                at // 1000,
                at // 1000,
                at // 1000,
            )
            db.execute("insert into messages values (?, ?, ?, ?, ?, ?, ?, ?, 'openai', 0)", values)


def _crush_messages(row: str, event: Event) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if event.kind == "prompt":
        yield "user", [{"type": "text", "data": {"text": event.text}}]
    elif event.kind == "tool_call":
        call = {
            "id": row,
            "name": event.name,
            "input": json.dumps(event.input),
            "type": "",
            "finished": True,
        }
        yield "assistant", [{"type": "tool_call", "data": call}]
        result = {
            "tool_call_id": row,
            "name": event.name,
            "content": event.output or "",
            "is_error": event.ok is False,
        }
        yield "tool", [{"type": "tool_result", "data": result}]
    elif event.kind == "reasoning":
        yield "assistant", [{"type": "reasoning", "data": {"thinking": event.text}}]
    else:
        finish = {"type": "finish", "data": {"reason": "end_turn", "time": 1}}
        yield "assistant", [{"type": "text", "data": {"text": event.text}}, finish]


# Goose ------------------------------------------------------------------------


def _goose(db: apsw.Connection, number: int, talk: Talk) -> None:
    session = f"20260101_{number}"
    db.execute(
        "insert into sessions values (?, ?, ?, 'user', ?, '2026-01-01 09:00:00', '2026-01-01 "
        "10:00:00', 100, 50, 50,"
        " 9000, 8000, 1000, 'openai', ?)",
        (session, f"Talk {number}", "", talk.cwd, json.dumps({"model_name": MODEL})),
    )
    for row, at, event in _rows(talk):
        for role, content in _goose_messages(row, event):
            db.execute(
                "insert into messages (message_id, session_id, role, content_json, "
                "created_timestamp, metadata_json)"
                " values (?, ?, ?, ?, ?, ?)",
                (
                    f"{number}-{row}-{role}",
                    session,
                    role,
                    json.dumps(content),
                    at // 1000,
                    '{"userVisible":true}',
                ),
            )


def _goose_messages(row: str, event: Event) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if event.kind == "tool_call":
        call = {"status": "success", "value": {"name": event.name, "arguments": event.input}}
        yield "assistant", [{"type": "toolRequest", "id": row, "toolCall": call}]
        value = {
            "content": [{"type": "text", "text": event.output or ""}],
            "isError": event.ok is False,
        }
        yield (
            "user",
            [
                {
                    "type": "toolResponse",
                    "id": row,
                    "toolResult": {"status": "success", "value": value},
                }
            ],
        )
    elif event.kind == "reasoning":
        yield "assistant", [{"type": "thinking", "thinking": event.text, "signature": ""}]
    else:
        yield (
            "user" if event.kind == "prompt" else "assistant",
            [{"type": "text", "text": event.text}],
        )


# Cursor -----------------------------------------------------------------------


def _cursor(db: apsw.Connection, number: int, talk: Talk) -> None:
    headers = []
    for row, at, event in _rows(talk):
        bubble: dict[str, Any] = {
            "_v": 3, "type": 1 if event.kind == "prompt" else 2, "bubbleId": row, "text": "",
            "createdAt": at,
            "tokenCount": {"inputTokens": 0, "outputTokens": 0},
            "timingInfo": {"clientRpcSendTime": at},
        }  # fmt: skip
        if event.kind == "tool_call":
            bubble |= {"capabilityType": 15, "toolFormerData": _cursor_tool(row, event)}
        elif event.kind == "reasoning":
            bubble["thinking"] = {"text": event.text}
        else:
            bubble["text"] = event.text
        headers.append({"bubbleId": row, "type": bubble["type"]})
        db.execute(
            "insert into cursorDiskKV values (?, ?)",
            (f"bubbleId:{talk.id}:{row}", json.dumps(bubble)),
        )
    composer = {
        "_v": 9, "composerId": talk.id, "name": f"Talk {number}", "createdAt": talk.turns[0][0],
        "lastUpdatedAt": talk.turns[-1][0], "fullConversationHeadersOnly": headers,
        "unifiedMode": "agent",
        "modelConfig": {"modelName": MODEL}, "workspaceIdentifier": {"id": "w",
        "uri": {"fsPath": talk.cwd}},
    }  # fmt: skip
    db.execute(
        "insert into cursorDiskKV values (?, ?)", (f"composerData:{talk.id}", json.dumps(composer))
    )


def _cursor_tool(row: str, event: Event) -> dict[str, Any]:
    given, result = json.dumps(event.input), json.dumps({"output": event.output or ""})
    return {
        "tool": 15, "name": event.name, "toolCallId": row,
        "status": "error" if event.ok is False else "completed",
        "rawArgs": given, "params": given, "result": result,
    }  # fmt: skip


# The community's grok-cli -----------------------------------------------------


def _grok(db: apsw.Connection, number: int, talk: Talk) -> None:
    times = ("2026-01-01T09:00:00.000Z",) * 2
    db.execute(
        "insert into sessions values (?, 'w', ?, null, ?, 'agent', ?, ?, 'active', ?, ?)",
        (talk.id, f"Talk {number}", MODEL, talk.cwd, talk.cwd, *times),
    )
    for seq, (row, _, event) in enumerate(_rows(talk)):
        role, content = (
            ("user", event.text) if event.kind == "prompt" else ("assistant", event.text)
        )
        if event.kind == "tool_call":
            part = {
                "type": "tool-call",
                "toolCallId": row,
                "toolName": event.name,
                "input": event.input,
            }
            role, content = "assistant", [part]  # type: ignore[assignment]
        message = json.dumps({"role": role, "content": content})
        db.execute(
            "insert into messages values (?, ?, ?, ?, ?)", (talk.id, seq, role, message, times[0])
        )
        if event.kind == "tool_call":
            db.execute(
                "insert into tool_calls (session_id, message_seq, tool_call_id, tool_name, "
                "args_json, status, started_at,"
                " completed_at) values (?, ?, ?, ?, ?, 'completed', ?, ?)",
                (talk.id, seq, row, event.name, json.dumps(event.input), *times),
            )
            output = json.dumps({"success": event.ok is not False, "output": event.output or ""})
            db.execute(
                "insert into tool_results values (?, 'text', ?, ?)",
                (db.last_insert_rowid(), output, int(event.ok is not False)),
            )
        elif role == "assistant":
            db.execute(
                "insert into usage_events values (?, ?, 'message', ?, 900, 80, 980, 1000, ?)",
                (talk.id, seq, MODEL, times[0]),
            )


DATABASES = (
    Database(
        "opencode", ".local/share/opencode/opencode.db",
        """
        create table project (
            id text primary key, worktree text, vcs text, name text, time_created integer
        );
        create table session (
            id text primary key, project_id text, parent_id text, directory text, title text,
            version text, time_created integer, time_updated integer
        );
        create table message (
            id text primary key, session_id text, time_created integer, time_updated integer,
            data text
        );
        create table part (
            id text primary key, message_id text, session_id text, time_created integer,
            time_updated integer, data text
        );
        create index message_session_idx on message (session_id);
        create index part_message_idx on part (message_id);
        create index part_session_idx on part (session_id);
        """,
        _opencode,
        (
            "select id, directory, title, version, time_created, time_updated, null from session",
            "select id, session_id, time_created, data from message",
            "select id, message_id, time_created, data from part",
        ),
    ),
    Database(
        "crush", "shop/.crush/crush.db",
        """
        create table sessions (
            id text primary key, parent_session_id text, title text not null,
            message_count integer, prompt_tokens integer, completion_tokens integer, cost real,
            updated_at integer, created_at integer, summary_message_id text
        );
        create table messages (
            id text primary key, session_id text, role text, parts text, model text,
            created_at integer, updated_at integer, finished_at integer, provider text,
            is_summary_message integer
        );
        create index idx_messages_session_id on messages (session_id);
        """,
        _crush,
        (
            "select id, title, cost, updated_at, created_at, null from sessions",
            "select id, session_id, role, model, created_at, parts from messages",
        ),
    ),
    Database(
        "goose", ".local/share/goose/sessions/sessions.db",
        """
        create table schema_version (version integer, applied_at text);
        create table sessions (
            id text primary key, name text, description text, session_type text,
            working_dir text, created_at text, updated_at text, total_tokens integer,
            input_tokens integer, output_tokens integer, accumulated_total_tokens integer,
            accumulated_input_tokens integer, accumulated_output_tokens integer,
            provider_name text, model_config_json text
        );
        create table messages (
            id integer primary key autoincrement, message_id text, session_id text, role text,
            content_json text, created_timestamp integer,
            timestamp text default current_timestamp, tokens integer, metadata_json text
        );
        create index idx_messages_session on messages (session_id);
        """,
        _goose,
        (
            "select id, name, working_dir, created_at, accumulated_input_tokens, model_config_json "
            "from sessions",
            "select id, session_id, role, created_timestamp, metadata_json, content_json from "
            "messages",
        ),
    ),
    Database(
        "cursor", ".config/Cursor/User/globalStorage/state.vscdb",
        """
        create table ItemTable (key text unique on conflict replace, value blob);
        create table cursorDiskKV (key text unique on conflict replace, value blob);
        """,
        _cursor,
        ("select key, value from cursorDiskKV where key >= 'bubbleId:' and key < 'composerData;'",),
    ),
    Database(
        "grok", ".grok/grok.db",
        """
        create table workspaces (
            id text primary key, scope_key text, canonical_path text, git_root text,
            display_name text
        );
        create table sessions (
            id text primary key, workspace_id text, title text, recap_text text, model text,
            mode text, cwd_at_start text, cwd_last text, status text, created_at text,
            updated_at text
        );
        create table messages (
            session_id text, seq integer, role text, message_json text, created_at text,
            primary key (session_id, seq)
        );
        create table tool_calls (
            id integer primary key autoincrement, session_id text, message_seq integer,
            tool_call_id text, tool_name text, args_json text, status text, started_at text,
            completed_at text
        );
        create index idx_tool_calls_session on tool_calls (session_id);
        create table tool_results (
            tool_call_row_id integer primary key, output_kind text, output_json text,
            success integer
        );
        create table usage_events (
            session_id text, message_seq integer, source text, model text, input_tokens integer,
            output_tokens integer, total_tokens integer, cost_micros integer, created_at text
        );
        create index idx_usage_session on usage_events (session_id);
        create table compactions (
            session_id text, first_kept_seq integer, summary text, tokens_before integer
        );
        """,
        _grok,
        (
            "select id, title, model, cwd_last, created_at, null from sessions",
            "select session_id, seq, role, created_at, message_json from messages",
            "select id, tool_call_id, tool_name, started_at, completed_at, args_json from "
            "tool_calls",
            "select tool_call_row_id, success, output_json from tool_results",
            "select session_id, message_seq, model, input_tokens, output_tokens, cost_micros, null "
            "from usage_events",
        ),
    ),
)  # fmt: skip
