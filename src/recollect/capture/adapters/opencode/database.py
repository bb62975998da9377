"""OpenCode's database: sessions, messages and parts, each a row with JSON in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from recollect.capture.adapters.opencode.records import Message, Part, message_of, part_of
from recollect.capture.adapters.opencode.talk import Info, Told, created_at, items_of
from recollect.capture.logs.databases import Table
from recollect.capture.logs.documents import Broken
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.rows import Rows
from recollect.capture.logs.values import decoded, moment_of, text_of
from recollect.model.logs import Item, Problem

TABLES = (
    Table("session", "id", "time_updated"),
    Table("message", "session_id", "time_updated"),
    Table("part", "session_id", "time_updated"),
)
_COLUMNS = (
    "parent_id", "directory", "title", "version", "time_created", "permission", "revert",
    "summary_additions", "summary_deletions", "summary_files",
)  # fmt: skip


class Database:
    """Reads one session after the other."""

    tables: Sequence[Table] = TABLES

    def __init__(self, path: str) -> None:
        self.path = path
        self.oddities = Oddities()
        self.read_bytes = 0

    def session(self, rows: Rows, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile, or is still empty."""
        row = rows.one(
            f"select {rows.selected('session', *_COLUMNS)} from session where id = ?", (session,)
        )
        if row is None:
            return []
        info = self._info(rows, session, row)
        parts = self._parts(rows, session)
        messages = [
            Told(id_, id_, self._message(data), parts.get(id_, []))
            for id_, data in rows.all(
                # A blob is taken as it is: text would be decoded twice.
                "select id, cast(data as blob) from message where session_id = ? order by "
                "time_created, id",
                (session,),
            )
            if isinstance(id_, str)
        ]
        return items_of(info, _with_first_keys(rows, info, messages), self.oddities)

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""
        return self.oddities.problems(self.path)

    def _info(self, rows: Rows, session: str, row: tuple[Any, ...]) -> Info:
        parent, directory, title, version, created, permission, revert, *changes = row
        parent = text_of(parent)
        above = (
            rows.one("select parent_id from session where id = ?", (parent,)) if parent else None
        )
        counts = dict(zip(("lines_added", "lines_removed", "files_changed"), changes, strict=True))
        return Info(
            id=session,
            parent=parent,
            grandparent=text_of(above[0]) if above else None,
            directory=directory,
            title=title,
            version=version,
            created=created,
            permission=decoded(permission),
            revert=decoded(revert),
            changes={
                name: count
                for name, count in counts.items()
                if isinstance(count, int) and count > 0
            },
        )

    def _parts(self, rows: Rows, session: str) -> dict[str, list[Part]]:
        """A session's parts by their message, in the order of their ids."""
        found = rows.all(
            "select id, message_id, cast(data as blob) from part where session_id = ?", (session,)
        )
        # Nearly in order already, which SQLite does not know: it would copy every row to sort them.
        found.sort(key=lambda row: str(row[0]))
        parts: dict[str, list[Part]] = {}
        for id_, message, data in found:
            try:
                part = part_of(self._counted(data))
            except Broken as reason:
                self.oddities.bad(f"a part: {reason}")
                continue
            part.id = id_
            parts.setdefault(message, []).append(part)
        return parts

    def _message(self, data: bytes | None) -> Message | None:
        try:
            return message_of(self._counted(data))
        except Broken as reason:
            self.oddities.bad(f"a message: {reason}")
            return None

    def _counted(self, data: bytes | None) -> bytes:
        """What a row holds; nothing where it is null."""
        self.read_bytes += len(data or b"")
        return data or b""


def _with_first_keys(rows: Rows, info: Info, messages: list[Told]) -> list[Told]:
    """The messages of a fork under the ids that they had where they were
    copied from, if that is still there.

    A fork gets new ids and does not say whose copy it is. But a copied
    message keeps its time to the millisecond, and so is older than its session.
    """
    begun = moment_of(info.created) or 0
    copied = {
        at: told.id
        for told in messages
        if (at := created_at(told.message)) is not None and at < begun
    }
    if not copied:
        return messages
    found = rows.all(
        """
        select time_created, id, session_id from message
         where session_id <> ? and time_created in (select value from json_each(?))
        """,
        (info.id, msgspec.json.encode(list(copied)).decode()),
    )
    first: dict[int | None, tuple[str, list[str]]] = {}
    shared: dict[str, int] = {}
    # Ids grow with time, so younger ones are copies of these. Two messages may have the same time.
    for id_, at, session in sorted(
        (str(id_), at, str(session)) for at, id_, session in found if str(id_) < copied[at]
    ):
        shared[session] = shared.get(session, 0) + 1
        oldest, ids = first.setdefault(at, (session, []))
        if session == oldest:
            ids.append(id_)
    # It was forked from the one that has most of them; the oldest, when several have.
    info.forked_from = max(shared, key=lambda session: shared[session]) if shared else None
    return [
        told._replace(key=ids.pop(0))
        if (ids := first.get(created_at(told.message), ("", []))[1])
        else told
        for told in messages
    ]
