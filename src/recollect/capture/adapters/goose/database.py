"""Goose's database: sessions and messages, each a row."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.capture.adapters.goose.reader import GooseReader
from recollect.capture.logs.databases import SessionTable
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile
from recollect.capture.logs.values import fields_of, json_of, moment_of, non_empty, text_of
from recollect.model.logs import Author, Item, Origin

_COLUMNS = (
    "name", "description", "session_type", "working_dir", "created_at", "provider_name",
    "model_config_json", "goose_mode", "schedule_id", "input_tokens", "output_tokens",
    "accumulated_input_tokens", "accumulated_output_tokens",
)  # fmt: skip
# Names that goose gives a session before it has one.
_NAMELESS = {"", "CLI Session", "ACP Session", "New Chat", "New chat", "New session", "New Session"}
_ORIGINS: dict[str, Origin] = {
    "scheduled": "headless",
    "hidden": "headless",
    "sub_agent": "subagent",
}
_AUTHORS: dict[str, Author] = {"scheduled": "system", "sub_agent": "agent"}


class GooseDatabase:
    """Reads one session of goose's database after the other."""

    # Compacting replaces messages without a new time of the session, and a new name
    # brings no message: either is a change.
    tables: Sequence[SessionTable] = (
        SessionTable("sessions", "id", "updated_at"),
        SessionTable("messages", "session_id"),
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems = ProblemCounter(path)
        self.read_bytes = 0

    def session(self, file: SqliteFile, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile, or is still empty."""
        row = file.one(
            f"select {file.selected('sessions', *_COLUMNS)} from sessions where id = ?", (session,)
        )
        columns = file.selected(
            "messages", "role", "content_json", "created_timestamp", "metadata_json"
        )
        # By their times, which are in seconds, and then as they were written:
        # the order that goose shows them in.
        messages = file.all(
            f"select {columns} from messages where session_id = ? order by 3, rowid", (session,)
        )
        if row is None or not messages:
            return []
        facts = dict(zip(_COLUMNS, row, strict=True))
        kind = text_of(facts["session_type"]) or "user"
        model = text_of(fields_of(json_of(facts["model_config_json"])).get("model_name"))
        name = text_of(facts["name"]) or text_of(facts["description"]) or ""
        meta = {
            "session_type": kind,
            "provider": text_of(facts["provider_name"]),
            "model": model,
            "mode": text_of(facts["goose_mode"]),
            "schedule_id": text_of(facts["schedule_id"]),
        }
        reader = GooseReader(session, _AUTHORS.get(kind, "human"), self.problems)
        reader.dialogue.facts(
            whole=True,
            origin=_ORIGINS.get(kind, "interactive"),
            cwd=text_of(facts["working_dir"]),
            title=None if name in _NAMELESS else name,
            started_at=moment_of(facts["created_at"]),
            meta=non_empty(meta),
        )
        for role, content, created, metadata in messages:
            if isinstance(content, (str, bytes)):
                self.read_bytes += len(content)
                reader.take(role, content, created, metadata)
            else:
                self.problems.bad("a message without content")
        reader.count(facts, model)
        return reader.dialogue.drain()
