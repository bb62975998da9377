"""Grok: xAI's Grok Build, and the grok-cli of the community that shares its folder.

Grok Build keeps a folder with several files for each session; `session`
makes one session of them, with a part for each file beside it. The community's
grok-cli keeps one database, read by `database`. What we rely on, and how
we know, is written down in docs/formats/grok.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.grok.database import Database, is_ours
from recollect.capture.adapters.grok.folders import Tree, is_group, sessions_in
from recollect.capture.adapters.grok.session import (
    CHAT_FILE,
    SUMMARY_FILE,
    UPDATES_FILE,
    SessionFolder,
)
from recollect.capture.logs.databases import read_changed
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.folders import list_folder
from recollect.capture.logs.lines import first_objects
from recollect.capture.logs.sqlite import MAGIC, sqlite_companions
from recollect.capture.logs.values import Fields, fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Source

DATABASE = "grok.db"
SESSIONS = "sessions"


class Grok:
    """Reads the sessions under a Grok home, of either program."""

    agent = "grok"
    name = "Grok"
    version = 1
    endings = (".json", ".jsonl", ".db")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """In `~/.grok` on every system.

        `GROK_HOME` moves it for Grok Build; grok-cli does not know the variable.

        Not all of that folder: Grok Build works in copies of projects that are below it.
        """
        usual = os.path.join(home, ".grok")
        homes = [*filter(None, [environ.get("GROK_HOME")]), usual]
        return [
            *(os.path.join(folder, SESSIONS) for folder in homes),
            os.path.join(usual, DATABASE),
        ]

    def sources(self, root: str) -> Iterator[Source]:
        """The database of grok-cli, and each session of Grok Build."""
        if os.path.isfile(root):
            yield _database(root)
            return
        database = os.path.join(root, DATABASE)
        if database in list_folder(root).files:
            yield _database(database)
        yield from Tree(sessions_in(root)).sources()

    def find_source(self, path: str, head: bytes) -> Source | None:
        """The session that a file belongs to, by the file's name and several of its fields.

        Or a database, by its tables.
        """
        if head.startswith(MAGIC):
            return _database(path) if is_ours(path) else None
        folder, name = os.path.split(path)
        if name not in _TELLS or not _TELLS[name](folder, head):
            return None
        # Who started whom is told by the folders around it.
        around = (
            sessions_in(os.path.dirname(os.path.dirname(folder)))
            if is_group(os.path.dirname(folder))
            else {}
        )
        return Tree({**around, folder: list_folder(folder)}).source(folder)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new in a database; a session's folder whole."""
        if source.path.endswith(".db"):
            return read_changed(source, since, Database(source.path))
        return SessionFolder(source).read()


def _database(path: str) -> Source:
    return Source("grok", path, sqlite_companions(path), appended=False)


# What each file of a session is known by -----------------------------------------


def _is_summary(folder: str, head: bytes) -> bool:
    try:
        told = fields_of(parse_json(head))
    except BrokenDocument:
        return False
    info = fields_of(told.get("info"))
    named = text_of(info.get("id")) is not None and text_of(info.get("cwd")) is not None
    return named and "created_at" in told and ("current_model_id" in told or "num_messages" in told)


def _are_updates(folder: str, head: bytes) -> bool:
    for line in first_objects(head):
        told = fields_of(line.get("params")) or line
        return text_of(told.get("sessionId")) is not None and "sessionUpdate" in fields_of(
            told.get("update")
        )
    return False


def _is_chat(folder: str, head: bytes) -> bool:
    return any(_is_item(line, folder) for line in first_objects(head))


def _is_item(line: Fields, folder: str) -> bool:
    if "content" not in line:
        return False
    if "type" in line:
        return line["type"] in ("system", "user")
    # A plain message is what many programs write; the summary beside it tells whose it is.
    return (
        line.get("role") in ("system", "user")
        and os.path.join(folder, SUMMARY_FILE) in list_folder(folder).files
    )


_TELLS = {SUMMARY_FILE: _is_summary, UPDATES_FILE: _are_updates, CHAT_FILE: _is_chat}
