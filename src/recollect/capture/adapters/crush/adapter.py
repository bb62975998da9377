"""Crush: a database in each project, with a row for every message.

The Go program OpenCode of 2025, which became Crush, left the same tables in
`.opencode/opencode.db`; its sessions are Crush's. What we rely on is written
down in docs/formats/crush.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.capture.adapters.crush.talk import Info, Row, items_of, parts_of
from recollect.capture.logs.databases import Table, read_changed
from recollect.capture.logs.documents import Broken, document
from recollect.capture.logs.folders import files_in
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.rows import MAGIC, Rows, beside, tables_in
from recollect.capture.logs.values import count_of, fields_of, money_of, objects_of, text_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

# The name of a data folder in a project, and of the database in it.
_IN_PROJECT = {".crush": "crush.db", ".opencode": "opencode.db"}
_TABLES = (Table("sessions", "id", "updated_at"), Table("messages", "session_id", "updated_at"))
_LIST_BYTES = 4 << 20


class Crush:
    """The sessions in Crush's data folders."""

    agent = "crush"
    name = "Crush"
    version = 1
    endings = (".db",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The data folders that Crush has noted, wherever the projects are.

        Of a home that is a copy, those inside it.
        """
        found = []
        for folder in _global_folders(home, environ):
            found.append(folder)
            for data in _noted(os.path.join(folder, "projects.json")):
                if environ or os.path.abspath(data).startswith(os.path.join(home, "")):
                    found.append(data)
        return found

    def sources(self, root: str) -> Iterator[Source]:
        """The database of a data folder."""
        name = _IN_PROJECT.get(os.path.basename(root), "crush.db")
        for path in files_in(root, name):
            if os.path.basename(path) == name:
                yield self._database(path)

    def in_project(self, folder: str) -> Iterator[Source]:
        """The databases in a project's own data folders."""
        for data, name in _IN_PROJECT.items():
            path = os.path.join(folder, data, name)
            if os.path.exists(path):
                yield self._database(path)

    def _database(self, path: str) -> Source:
        return Source(self.agent, path, beside(path), appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A database with the tables of Crush."""
        tables = tables_in(path) if head.startswith(MAGIC) else {}
        ours = {"parent_session_id", "message_count", "prompt_tokens"} <= tables.get(
            "sessions", set()
        )
        ours = ours and {"session_id", "role", "parts"} <= tables.get("messages", set())
        return self._database(path) if ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The sessions that changed since a checkpoint."""
        yield from read_changed(source, since, Database(source.path))


def _global_folders(home: str, environ: Mapping[str, str]) -> list[str]:
    own = environ.get("CRUSH_GLOBAL_DATA")
    if own:
        return [own]
    local = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    share = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return [os.path.join(share, "crush"), os.path.join(local, "crush")]


def _noted(path: str) -> list[str]:
    """The data folders in Crush's list of projects; none when there is no such list."""
    try:
        projects = objects_of(fields_of(document(path, limit=_LIST_BYTES)).get("projects"))
    except (Broken, Unreadable):
        return []
    noted = []
    for project in projects:
        folder, data = text_of(project.get("path")), text_of(project.get("data_dir"))
        if data and os.path.isabs(data):
            noted.append(data)
        elif folder and os.path.isabs(folder):
            noted.append(os.path.join(folder, data or ".crush"))
    return noted


class Database:
    """Reads one session after the other."""

    tables: Sequence[Table] = _TABLES

    def __init__(self, path: str) -> None:
        self.path = path
        self.oddities = Oddities()
        self.read_bytes = 0
        folder = os.path.dirname(path)
        self.cwd = os.path.dirname(folder) if os.path.basename(folder) in _IN_PROJECT else None

    def session(self, rows: Rows, session: str) -> list[Item]:
        """Everything about a session; nothing when it was deleted meanwhile, or is still empty."""
        columns = rows.selected(
            "sessions", "parent_session_id", "title", "created_at", "cost", "prompt_tokens",
            "completion_tokens",
            "summary_message_id",
        )  # fmt: skip
        row = rows.one(f"select {columns} from sessions where id = ?", (session,))
        if row is None:
            return []
        parent, title, created, cost, prompt, completion, summary = row
        parent = text_of(parent)
        above = (
            rows.one("select parent_session_id from sessions where id = ?", (parent,))
            if parent
            else None
        )
        last = {
            "last_prompt_tokens": count_of(prompt),
            "last_completion_tokens": count_of(completion),
        }
        info = Info(
            id=session,
            parent=parent,
            grandparent=text_of(above[0]) if above else None,
            title=text_of(title),
            created=created,
            # What a sub-agent costs is added to its parent's cost when it is done.
            cost=None if parent else money_of(cost),
            cwd=self.cwd,
            meta={name: count for name, count in last.items() if count},
        )
        return items_of(info, self._messages(rows, session, summary), self.oddities)

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""
        return self.oddities.problems(self.path)

    def _messages(self, rows: Rows, session: str, summary: Any) -> list[Row]:
        columns = rows.selected(
            "messages", "id", "role", "model", "provider", "created_at", "is_summary_message"
        )
        found = []
        # Times are in seconds: within one, the rows are in the order they were written.
        for id_, role, model, provider, created, is_summary, data in rows.all(
            f"select {columns}, cast(parts as blob) from messages where session_id = ? order by "
            "created_at, rowid",
            (session,),
        ):
            self.read_bytes += len(data or b"")
            try:
                parts = parts_of(data or b"")
            except Broken as reason:
                self.oddities.bad(f"a message: {reason}")
                continue
            found.append(
                Row(
                    str(id_),
                    role,
                    model,
                    provider,
                    created,
                    bool(is_summary) or id_ == summary,
                    parts,
                )
            )
        return found
