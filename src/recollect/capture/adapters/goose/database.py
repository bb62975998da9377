"""Goose's database: sessions and messages, each a row."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.capture.adapters.goose.talk import Talk
from recollect.capture.logs.databases import Table
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.rows import Rows
from recollect.capture.logs.values import decoded, fields_of, moment_of, text_of
from recollect.model.logs import Author, Item, Origin, Problem

_COLUMNS = (
    "name", "description", "session_type", "working_dir", "created_at", "provider_name",
    "model_config_json", "goose_mode",
    "schedule_id", "input_tokens", "output_tokens", "accumulated_input_tokens",
    "accumulated_output_tokens",
)  # fmt: skip
# Names that goose gives a session before it has one.
_NAMELESS = {"", "CLI Session", "ACP Session", "New Chat", "New chat", "New session", "New Session"}
_ORIGINS: dict[str, Origin] = {
    "scheduled": "headless",
    "hidden": "headless",
    "sub_agent": "subagent",
}
_AUTHORS: dict[str, Author] = {"scheduled": "system", "sub_agent": "agent"}


class Database:
    """Reads one session after the other."""

    # Compacting replaces messages without a new time of the session, and a new name
    # brings no message: either is a change.
    tables: Sequence[Table] = (
        Table("sessions", "id", "updated_at"),
        Table("messages", "session_id"),
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.oddities = Oddities()
        self.read_bytes = 0

    def session(self, rows: Rows, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile, or is still empty."""
        row = rows.one(
            f"select {rows.selected('sessions', *_COLUMNS)} from sessions where id = ?", (session,)
        )
        columns = rows.selected(
            "messages", "role", "content_json", "created_timestamp", "metadata_json"
        )
        # By their times, which are in seconds, and then as they were written:
        # the order that goose shows them in.
        messages = rows.all(
            f"select {columns} from messages where session_id = ? order by 3, rowid", (session,)
        )
        if row is None or not messages:
            return []
        facts = dict(zip(_COLUMNS, row, strict=True))
        kind = text_of(facts["session_type"]) or "user"
        model = text_of(fields_of(decoded(facts["model_config_json"])).get("model_name"))
        name = text_of(facts["name"]) or text_of(facts["description"]) or ""
        meta = {
            "session_type": kind,
            "provider": text_of(facts["provider_name"]),
            "model": model,
            "mode": text_of(facts["goose_mode"]),
            "schedule_id": text_of(facts["schedule_id"]),
        }
        talk = Talk(session, _AUTHORS.get(kind, "human"), self.oddities)
        talk.dialogue.facts(
            whole=True,
            origin=_ORIGINS.get(kind, "interactive"),
            cwd=text_of(facts["working_dir"]),
            title=None if name in _NAMELESS else name,
            started_at=moment_of(facts["created_at"]),
            meta={key: value for key, value in meta.items() if value},
        )
        for role, content, created, metadata in messages:
            if isinstance(content, (str, bytes)):
                self.read_bytes += len(content)
                talk.take(role, content, created, metadata)
            else:
                self.oddities.bad("a message without content")
        talk.count(facts, model)
        return talk.dialogue.drain()

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""
        return self.oddities.problems(self.path)
