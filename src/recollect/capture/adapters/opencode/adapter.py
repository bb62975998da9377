"""Finds and recognises OpenCode's sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.opencode.database import TABLES, OpenCodeDatabase
from recollect.capture.adapters.opencode.files import folders_of, read_session
from recollect.capture.logs.databases import read_changed
from recollect.capture.logs.folders import files_in, list_folder
from recollect.capture.logs.sqlite import MAGIC, sqlite_companions, tables_in
from recollect.model.logs import Checkpoint, Item, Source

_DATABASE = re.compile(r"opencode(?:-[\w.-]+)?\.db")
# Where the Go program of the same name, which became Crush, kept another database of this name.
_OTHER_PROGRAM = ".opencode"
_ID = re.compile(rb'"id":\s*"([\w-]+)"')
_SESSION_FIELDS = (b'"title"', b'"version"', b'"time"', b'"created"')


class OpenCode:
    """The sessions in OpenCode's data folder."""

    agent = "opencode"
    name = "OpenCode"
    version = 1
    endings = (".db", ".json")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The data folder, the same on every system, and a database that the environment names."""
        data = os.path.join(
            environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "opencode"
        )
        database = environ.get("OPENCODE_DB")
        named = os.path.join(data, database) if database and database != ":memory:" else data
        if named == data or (os.path.dirname(named) == data and _is_database(named)):
            return [data]
        return [data, named]

    def sources(self, root: str) -> Iterator[Source]:
        """The databases and the session files of a data folder, or the one database named."""
        if os.path.isfile(root):
            yield self._database(root)
            return
        databases = [path for path in files_in(root, ".db") if _is_database(path)]
        for path in databases:
            yield self._database(path)
        for folder in list_folder(os.path.join(root, "storage", "session")).folders:
            for path in files_in(folder, ".json"):
                yield self._session(path, in_use=not databases)
        for project in list_folder(os.path.join(root, "project")).folders:
            for path in files_in(os.path.join(project, "storage", "session", "info"), ".json"):
                yield self._session(path, in_use=not databases)

    def _database(self, path: str) -> Source:
        return Source(self.agent, path, sqlite_companions(path), appended=False)

    def _session(self, path: str, session: str = "", *, in_use: bool) -> Source:
        """A session's file; once there is a database only the folders beside it are looked at."""
        folders = folders_of(path, session or os.path.basename(path).removesuffix(".json"))
        recent = folders.recent if in_use else ()
        return Source(self.agent, path, (*folders, *recent), appended=False, rank=1)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A database with our tables, or a session's file in its place."""
        if head.startswith(MAGIC):
            tables = tables_in(path)
            ours = all(
                {table.session, table.changed} <= tables.get(table.name, set()) for table in TABLES
            )
            return self._database(path) if ours and "message_id" in tables["part"] else None
        named = _ID.search(head)
        above = os.path.basename(os.path.dirname(os.path.dirname(path)))
        ours = above == "session" and all(field in head for field in _SESSION_FIELDS)
        if named is None or not ours:
            return None
        return self._session(path, named[1].decode(), in_use=True)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What changed since a checkpoint."""
        if source.path.endswith(".json"):
            yield from read_session(source, since)
        else:
            yield from read_changed(source, since, OpenCodeDatabase(source.path))


def _is_database(path: str) -> bool:
    """Whether a file is called like OpenCode's databases, and is no other program's."""
    folder, name = os.path.split(path)
    return _DATABASE.fullmatch(name) is not None and os.path.basename(folder) != _OTHER_PROGRAM
