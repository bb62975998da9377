"""OpenCode: a database since February 2026, and a JSON file for every message and part before that.

The old files were copied into the database once, and are still there. Both
are read: whoever came late to the database has sessions that are only in
files. Of a session that is in both, the database is believed.

What we rely on is written down in docs/formats/opencode.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.opencode.database import TABLES, Database
from recollect.capture.adapters.opencode.storage import places_of, read_session
from recollect.capture.logs.databases import read_changed
from recollect.capture.logs.folders import files_in, listed
from recollect.capture.logs.rows import MAGIC, beside, tables_in
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
        """The data folder, the same on every system, and a database
        elsewhere that the environment names.
        """
        data = os.path.join(
            environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "opencode"
        )
        database = environ.get("OPENCODE_DB")
        named = os.path.join(data, database) if database and database != ":memory:" else data
        return (
            [data]
            if named == data or (os.path.dirname(named) == data and _is_database(named))
            else [data, named]
        )

    def sources(self, root: str) -> Iterator[Source]:
        """The databases and the session files of a data folder, or the one
        database that the environment names.
        """
        if os.path.isfile(root):
            yield self._database(root)
            return
        databases = [path for path in files_in(root, ".db") if _is_database(path)]
        for path in databases:
            yield self._database(path)
        for folder in listed(os.path.join(root, "storage", "session")).folders:
            for path in files_in(folder, ".json"):
                yield self._session(path, in_use=not databases)
        for project in listed(os.path.join(root, "project")).folders:
            for path in files_in(os.path.join(project, "storage", "session", "info"), ".json"):
                yield self._session(path, in_use=not databases)

    def _database(self, path: str) -> Source:
        return Source(self.agent, path, beside(path), appended=False)

    def _session(self, path: str, session: str = "", *, in_use: bool) -> Source:
        """Once there is a database nobody writes to the files any more, so
        only their folders are looked at.
        """
        places = places_of(path, session or os.path.basename(path).removesuffix(".json"))
        recent = places.recent if in_use else ()
        return Source(self.agent, path, (*places, *recent), appended=False, rank=1)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A database with our tables, or a session's file with the folder
        of its messages where it must be.
        """
        if head.startswith(MAGIC):
            tables = tables_in(path)
            ours = all(
                {table.session, table.changed} <= tables.get(table.name, set()) for table in TABLES
            )
            return self._database(path) if ours and "message_id" in tables["part"] else None
        named = _ID.search(head)
        above = os.path.basename(os.path.dirname(os.path.dirname(path)))
        if (
            named is None
            or above != "session"
            or not all(field in head for field in _SESSION_FIELDS)
        ):
            return None
        return self._session(path, named[1].decode(), in_use=True)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What changed since a checkpoint."""
        if source.path.endswith(".json"):
            yield from read_session(source, since)
        else:
            yield from read_changed(source, since, Database(source.path))


def _is_database(path: str) -> bool:
    """Whether a file is called as OpenCode calls its databases, and is not where
    another program has one of that name.
    """
    folder, name = os.path.split(path)
    return _DATABASE.fullmatch(name) is not None and os.path.basename(folder) != _OTHER_PROGRAM
