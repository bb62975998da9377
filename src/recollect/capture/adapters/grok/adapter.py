"""Finds and recognises the sessions of Grok Build, and the database of grok-cli.

`sessions/<group>/<session>/` is a session of Grok Build. A group is a working
directory, percent-encoded, or a shortened name with the directory in a file
`.cwd`. Sub-agents are sessions like others, anywhere in the tree; their parent
has a folder `subagents/<session>` for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import chain

from recollect.capture.adapters.grok.database import GrokCliDatabase, is_ours
from recollect.capture.adapters.grok.reader import GrokReader
from recollect.capture.adapters.grok.records import (
    CHAT_FILE,
    EVENTS_FILE,
    PROMPTS_FOLDER,
    SIGNALS_FILE,
    SUMMARY_FILE,
    UPDATES_FILE,
)
from recollect.capture.adapters.grok.session import LINK
from recollect.capture.logs.databases import read_changed
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.folders import FolderListing, list_folder
from recollect.capture.logs.lines import first_objects
from recollect.capture.logs.sqlite import MAGIC, sqlite_companions
from recollect.capture.logs.values import Fields, fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Source

DATABASE = "grok.db"
SESSIONS = "sessions"
_READ = (SUMMARY_FILE, UPDATES_FILE, CHAT_FILE, EVENTS_FILE, SIGNALS_FILE)
_SUBAGENTS = "subagents"
_MOST_LINKS = 8

# Session folders with what is in them.
_Sessions = dict[str, FolderListing]


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
        yield from _SessionTree(sessions_in(root)).sources()

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
        group = os.path.dirname(folder)
        around = sessions_in(os.path.dirname(group)) if is_group(group) else {}
        return _SessionTree({**around, folder: list_folder(folder)}).source(folder)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new in a database; a session's folder whole."""
        if source.path.endswith(".db"):
            return read_changed(source, since, GrokCliDatabase(source.path))
        return GrokReader(source).read()


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
        updates = "sessionUpdate" in fields_of(told.get("update"))
        return updates and text_of(told.get("sessionId")) is not None
    return False


def _is_chat(folder: str, head: bytes) -> bool:
    return any(_is_item(line, folder) for line in first_objects(head))


def _is_item(line: Fields, folder: str) -> bool:
    if "content" not in line:
        return False
    if "type" in line:
        return line["type"] in ("system", "user")
    # A plain message is what many programs write; the summary beside it tells whose it is.
    summary = os.path.join(folder, SUMMARY_FILE)
    return line.get("role") in ("system", "user") and summary in list_folder(folder).files


_TELLS = {SUMMARY_FILE: _is_summary, UPDATES_FILE: _are_updates, CHAT_FILE: _is_chat}


# Sessions in folders -----------------------------------------------------------


class _SessionTree:
    """Sessions that may have started one another, told by the names of folders alone."""

    def __init__(self, sessions: _Sessions) -> None:
        self._sessions = sessions
        self._by_name = {os.path.basename(folder): folder for folder in sessions}
        self._started = {
            folder: _started_in(folder, listing) for folder, listing in sessions.items()
        }
        links = chain.from_iterable(self._started.values())
        self._links = {os.path.basename(link): link for link in links}

    def sources(self) -> Iterator[Source]:
        """Each session, with all that is read to tell it."""
        for folder in self._sessions:
            yield self.source(folder)

    def source(self, folder: str) -> Source:
        """A session with its files, what its parents keep of it, and its sub-agents' updates."""
        files, folders = self._sessions[folder]
        own = [path for path in files if os.path.basename(path) in _READ]
        own += [path for path in folders if os.path.basename(path) == PROMPTS_FOLDER]
        links = [os.path.join(link, LINK) for link in self._above(os.path.basename(folder))]
        started = (self._by_name.get(os.path.basename(link)) for link in self._started[folder])
        updates: list[str] = []
        for child in filter(None, started):
            listed = self._sessions[child].files
            updates += [path for path in listed if os.path.basename(path) == UPDATES_FILE]
        return Source("grok", folder, (*own, *links, *updates), appended=False)

    def _above(self, session: str) -> Iterator[str]:
        for _ in range(_MOST_LINKS):
            link = self._links.get(session)
            if link is None:
                return
            yield link
            session = os.path.basename(os.path.dirname(os.path.dirname(link)))


def _started_in(folder: str, listing: FolderListing) -> list[str]:
    """The folders that a session keeps about its sub-agents."""
    inside = os.path.join(folder, _SUBAGENTS)
    return list_folder(inside).folders if inside in listing.folders else []


def sessions_in(root: str) -> _Sessions:
    """The session folders under a root: a home, its `sessions`, a group or a session."""
    listing = list_folder(root)
    if _is_session(listing, in_group=is_group(os.path.dirname(root))):
        return {root: listing}
    inside = os.path.join(root, "sessions")
    groups = list_folder(inside).folders if inside in listing.folders else [root, *listing.folders]
    return {folder: files for group in groups for folder, files in _sessions_of(group)}


def _sessions_of(group: str) -> Iterator[tuple[str, FolderListing]]:
    files, folders = list_folder(group)
    ours = _is_group(group, files)
    for folder in folders:
        listing = list_folder(folder)
        if _is_session(listing, in_group=ours):
            yield folder, listing


def is_group(folder: str) -> bool:
    """Whether a folder is one that Grok keeps the sessions of a working directory in."""
    return _is_group(folder, list_folder(folder).files)


def _is_group(folder: str, files: list[str]) -> bool:
    return "%" in os.path.basename(folder) or os.path.join(folder, ".cwd") in files


def _is_session(listing: FolderListing, *, in_group: bool) -> bool:
    """Other programs have a summary.json too, so alone it counts only where a session would be."""
    names = {os.path.basename(path) for path in listing.files}
    talks, summed = bool(names & {UPDATES_FILE, CHAT_FILE}), SUMMARY_FILE in names
    return talks or summed if in_group else talks and summed
