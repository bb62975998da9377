"""Goose's database: which sessions changed since the last pass, and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from recollect.capture.logs.rows import Rows
from recollect.capture.logs.values import moment_of

# Columns came one by one, with migrations: what a database does not have yet is null.
_SESSION_COLUMNS = (
    "id", "name", "description", "session_type", "working_dir", "created_at", "provider_name", "model_config_json", "goose_mode",
    "schedule_id", "total_tokens", "input_tokens", "output_tokens", "accumulated_total_tokens", "accumulated_input_tokens",
    "accumulated_output_tokens",
)  # fmt: skip
_MESSAGE_COLUMNS = ("role", "content_json", "created_timestamp", "metadata_json")
# A checkpoint holds one, and may not grow; goose's own have a dozen characters.
_LONGEST_ID = 500


class Marks(msgspec.Struct):
    """How far a database was read.

    `rows` and `updated` are the newest message and the newest change of a
    session that an earlier pass saw. While a pass is going on, `done` is the
    session it came to, in the order of their changes, and `newest` the row
    that `rows` will be when it is through.
    """

    rows: int = 0
    updated: int = 0
    done: tuple[int, str] | None = None
    newest: int = 0

    def through(self) -> Marks:
        """The marks at the end of a pass."""
        return Marks(rows=self.newest, updated=self.done[0] if self.done else self.updated)


class Changed(NamedTuple):
    """A session that must be read, and when it changed."""

    updated: int
    session: str


class Database:
    """The sessions of one database, for one pass over it."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.session_columns = _chosen(rows.columns("sessions"), _SESSION_COLUMNS)
        present = rows.columns("messages")
        self.message_columns = _chosen(present, _MESSAGE_COLUMNS)
        self.message_order = "created_timestamp, id" if "created_timestamp" in present else "id"

    def changed(self, marks: Marks) -> tuple[Marks, list[Changed]]:
        """The sessions with something new, the longest unchanged first; a pass that was stopped goes on where it was.

        Messages are replaced without a new time of the session when it is
        compacted, and a new name brings no message: either is a change. Times
        are in seconds, so what changed in the last one is read again.
        """
        newest = self._number("select max(id) from messages")
        sessions = sorted(self._sessions())
        if max(newest, self._last_number_given()) < marks.rows or (sessions and sessions[-1].updated < marks.updated):
            # Another database in the same place.
            marks = Marks()
        grown = {session for (session,) in self.rows.all("select distinct session_id from messages where id > ?", (marks.rows,))}
        marks.newest = marks.newest or newest
        return marks, [
            one
            for one in sessions
            if (one.updated >= marks.updated or one.session in grown) and (marks.done is None or one > marks.done)
        ]

    def session(self, session: str) -> dict[str, Any] | None:
        """What is known of a session; None when it was deleted meanwhile."""
        row = self.rows.one(f"select {self.session_columns} from sessions where id = ?", (session,))
        return dict(zip(_SESSION_COLUMNS, row, strict=True)) if row else None

    def messages(self, session: str) -> list[tuple[Any, ...]]:
        """Role, content, time and metadata of a session's messages, in the order that goose shows them."""
        return self.rows.all(
            f"select {self.message_columns} from messages where session_id = ? order by {self.message_order}", (session,)
        )

    def _sessions(self) -> Iterator[Changed]:
        for session, updated in self.rows.all("select id, updated_at from sessions"):
            if isinstance(session, str) and len(session) <= _LONGEST_ID:
                yield Changed(moment_of(updated) or 0, session)

    def _last_number_given(self) -> int:
        """The highest number that a message ever had: taking back a prompt deletes the newest ones."""
        counted = self._number("select 1 from sqlite_schema where name = 'sqlite_sequence'")
        return self._number("select seq from sqlite_sequence where name = 'messages'") if counted else 0

    def _number(self, sql: str) -> int:
        row = self.rows.one(sql)
        return row[0] if row and isinstance(row[0], int) else 0


def _chosen(present: list[str], wanted: tuple[str, ...]) -> str:
    return ", ".join(name if name in present else f"null as {name}" for name in wanted)
