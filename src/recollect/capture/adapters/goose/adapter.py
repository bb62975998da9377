"""Finds and recognises goose's sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.goose.database import GooseDatabase
from recollect.capture.adapters.goose.files import LINES, GooseFileReader, is_session_file
from recollect.capture.logs.databases import read_changed
from recollect.capture.logs.folders import files_in
from recollect.capture.logs.readers import replay_lines
from recollect.capture.logs.sqlite import MAGIC, sqlite_companions, tables_in
from recollect.model.logs import Checkpoint, Item, Source

_DATABASE = "sessions.db"
_LEGACY_NAME = re.compile(r"\d{8}_\d{6}\.jsonl$")


class Goose:
    """Goose's sessions in its data folder."""

    agent = "goose"
    name = "Goose"
    version = 1
    endings = (".db", ".jsonl")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The `sessions` folder of goose's data, as it is on every system.

        A home may be a copy from another one.
        """
        if moved := environ.get("GOOSE_PATH_ROOT"):
            return [os.path.join(moved, "data", "sessions")]
        data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
        roaming = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
        return [
            os.path.join(data, "goose", "sessions"),
            os.path.join(roaming, "Block", "goose", "data", "sessions"),
        ]

    def sources(self, root: str) -> Iterator[Source]:
        """The database and the older files, in a `sessions` folder or the one around it."""
        folder = root if os.path.basename(root) == "sessions" else os.path.join(root, "sessions")
        files = list(files_in(folder, *self.endings))
        database = os.path.join(folder, _DATABASE)
        if database in files:
            yield self._database(database)
        # Sessions could be given any name; in a folder that only looks
        # like goose's it must be a time.
        ours = database in files or os.path.basename(os.path.dirname(folder)) == "goose"
        for path in files:
            if path.endswith(".jsonl") and (ours or _LEGACY_NAME.search(path)):
                yield self._legacy(path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A database, known by its tables, or a file of lines, known by its first two."""
        if head.startswith(MAGIC):
            tables = tables_in(path)
            ours = {"working_dir", "accumulated_total_tokens"} <= tables.get("sessions", set())
            ours = ours and {"content_json", "created_timestamp"} <= tables.get("messages", set())
            return self._database(path) if ours else None
        return self._legacy(path) if path.endswith(".jsonl") and is_session_file(head) else None

    def _database(self, path: str) -> Source:
        return Source(self.agent, path, companions=sqlite_companions(path), appended=False)

    def _legacy(self, path: str) -> Source:
        # Its first line is written again with each message.
        return Source(self.agent, path, appended=False, rank=1)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The sessions of a database that changed, whole; or all of a legacy file."""
        if source.path.endswith(".jsonl"):
            yield from replay_lines(source, since, LINES, GooseFileReader(source.path))
        else:
            yield from read_changed(source, since, GooseDatabase(source.path))
