"""Finds and recognises Crush's databases."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.crush.reader import DATABASES, CrushDatabase
from recollect.capture.logs.databases import read_changed
from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.folders import files_in
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.sqlite import MAGIC, sqlite_companions, tables_in
from recollect.capture.logs.values import fields_of, objects_of, text_of
from recollect.model.logs import Checkpoint, Item, Source

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

    def own_roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folders that Crush keeps for itself, without those that it has noted."""
        return _global_folders(home, environ)

    def sources(self, root: str) -> Iterator[Source]:
        """The database of a data folder."""
        name = DATABASES.get(os.path.basename(root), "crush.db")
        for path in files_in(root, name):
            if os.path.basename(path) == name:
                yield self._database(path)

    def in_project(self, folder: str) -> Iterator[Source]:
        """The databases in a project's own data folders."""
        for data, name in DATABASES.items():
            path = os.path.join(folder, data, name)
            if os.path.exists(path):
                yield self._database(path)

    def _database(self, path: str) -> Source:
        return Source(self.agent, path, sqlite_companions(path), appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A database with the tables of Crush."""
        tables = tables_in(path) if head.startswith(MAGIC) else {}
        columns = tables.get("sessions", frozenset())
        ours = {"parent_session_id", "message_count", "prompt_tokens"} <= columns
        ours = ours and {"session_id", "role", "parts"} <= tables.get("messages", set())
        return self._database(path) if ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The sessions that changed since a checkpoint."""
        yield from read_changed(source, since, CrushDatabase(source.path))


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
        projects = objects_of(fields_of(read_json(path, limit=_LIST_BYTES)).get("projects"))
    except (BrokenDocument, UnreadableSource):
        return []
    noted = []
    for project in projects:
        folder, data = text_of(project.get("path")), text_of(project.get("data_dir"))
        if data and os.path.isabs(data):
            noted.append(data)
        elif folder and os.path.isabs(folder):
            noted.append(os.path.join(folder, data or ".crush"))
    return noted
