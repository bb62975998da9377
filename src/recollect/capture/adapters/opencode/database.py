"""OpenCode's database: sessions, messages and parts, each a row with JSON in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from recollect.capture.adapters.opencode.reader import (
    OpenCodeSession,
    OpenCodeWholeMessage,
    created_at,
    items_of,
)
from recollect.capture.adapters.opencode.records import (
    OpenCodeMessage,
    OpenCodePart,
    message_of,
    part_of,
)
from recollect.capture.logs.databases import SessionTable
from recollect.capture.logs.documents import BrokenDocument
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile
from recollect.capture.logs.values import json_of, moment_of, text_of
from recollect.model.logs import Item

TABLES = (
    SessionTable("session", "id", "time_updated"),
    SessionTable("message", "session_id", "time_updated"),
    SessionTable("part", "session_id", "time_updated"),
)
_COLUMNS = (
    "parent_id", "directory", "title", "version", "time_created", "permission", "revert",
    "summary_additions", "summary_deletions", "summary_files",
)  # fmt: skip


class OpenCodeDatabase:
    """Reads one session of OpenCode's database after the other."""

    tables: Sequence[SessionTable] = TABLES

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems = ProblemCounter(path)
        self.read_bytes = 0

    def session(self, file: SqliteFile, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile, or is still empty."""
        columns = file.selected("session", *_COLUMNS)
        row = file.one(f"select {columns} from session where id = ?", (session,))
        if row is None:
            return []
        info = self._info(file, session, row)
        parts = self._parts(file, session)
        # A blob is taken as it is: text would be decoded twice.
        rows = file.all(
            """
            select id, cast(data as blob)
              from message
             where session_id = ?
             order by time_created, id
            """,
            (session,),
        )
        messages = [
            OpenCodeWholeMessage(id_, id_, self._message(data), parts.get(id_, []))
            for id_, data in rows
            if isinstance(id_, str)
        ]
        return items_of(info, _with_first_keys(file, info, messages), self.problems)

    def _info(self, file: SqliteFile, session: str, row: tuple[Any, ...]) -> OpenCodeSession:
        parent, directory, title, version, created, permission, revert, *changes = row
        parent = text_of(parent)
        above = None
        if parent:
            above = file.one("select parent_id from session where id = ?", (parent,))
        counts = zip(("lines_added", "lines_removed", "files_changed"), changes, strict=True)
        return OpenCodeSession(
            id=session,
            parent=parent,
            grandparent=text_of(above[0]) if above else None,
            directory=directory,
            title=title,
            version=version,
            created=created,
            permission=json_of(permission),
            revert=json_of(revert),
            changes={name: n for name, n in counts if isinstance(n, int) and n > 0},
        )

    def _parts(self, file: SqliteFile, session: str) -> dict[str, list[OpenCodePart]]:
        """A session's parts by their message, in the order of their ids."""
        found = file.all(
            "select id, message_id, cast(data as blob) from part where session_id = ?", (session,)
        )
        # Nearly in order already, which SQLite does not know: it would copy every row to sort them.
        found.sort(key=lambda row: str(row[0]))
        parts: dict[str, list[OpenCodePart]] = {}
        for id_, message, data in found:
            try:
                part = part_of(self._counted(data))
            except BrokenDocument as reason:
                self.problems.bad(f"a part: {reason}")
                continue
            part.id = id_
            parts.setdefault(message, []).append(part)
        return parts

    def _message(self, data: bytes | None) -> OpenCodeMessage | None:
        try:
            return message_of(self._counted(data))
        except BrokenDocument as reason:
            self.problems.bad(f"a message: {reason}")
            return None

    def _counted(self, data: bytes | None) -> bytes:
        """What a row holds; nothing where it is null."""
        self.read_bytes += len(data or b"")
        return data or b""


def _with_first_keys(
    file: SqliteFile, info: OpenCodeSession, messages: list[OpenCodeWholeMessage]
) -> list[OpenCodeWholeMessage]:
    """The messages of a fork under the ids that they were copied from, if those still exist.

    A fork gets new ids and does not say whose copy it is. But a copied
    message keeps its time to the millisecond, and so is older than its session.
    """
    begun = moment_of(info.created) or 0
    copied: dict[int, str] = {}
    for told in messages:
        at = created_at(told.message)
        if at is not None and at < begun:
            copied[at] = told.id
    if not copied:
        return messages
    found = file.all(
        """
        select id, time_created, session_id
          from message
         where session_id <> ?
           and time_created in (select value from json_each(?))
        """,
        (info.id, msgspec.json.encode(list(copied)).decode()),
    )
    older = [(str(id_), at, str(session)) for id_, at, session in found if str(id_) < copied[at]]
    first: dict[int | None, tuple[str, list[str]]] = {}
    shared: dict[str, int] = {}
    # Ids grow with time, so younger ones are copies of these. Two messages may have the same time.
    for id_, at, session in sorted(older):
        shared[session] = shared.get(session, 0) + 1
        oldest, ids = first.setdefault(at, (session, []))
        if session == oldest:
            ids.append(id_)
    # It was forked from the one that has most of them; the oldest, when several have.
    info.forked_from = max(shared, key=lambda session: shared[session]) if shared else None
    renamed = []
    for told in messages:
        _, ids = first.get(created_at(told.message), ("", []))
        renamed.append(told._replace(key=ids.pop(0)) if ids else told)
    return renamed
