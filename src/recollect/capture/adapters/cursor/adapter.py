"""Finds and recognises Cursor's chats, in the three places where they are kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from recollect.capture.adapters.cursor.command_line import NOTE, meta_in, read_store
from recollect.capture.adapters.cursor.editor import TABLE, read_editor
from recollect.capture.adapters.cursor.transcripts import FOLDER, SUBAGENTS, read_lines, read_text
from recollect.capture.adapters.cursor.workspaces import DATABASE, STORAGE, has_items, stamps
from recollect.capture.adapters.cursor.workspaces import NOTE as WORKSPACE
from recollect.capture.logs.editors import user_folders
from recollect.capture.logs.folders import files_in, list_folder
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.sqlite import MAGIC, SqliteFile, open_sqlite, sqlite_companions
from recollect.capture.logs.values import fields_of
from recollect.model.logs import Checkpoint, Item, Source

_PRODUCTS = ("Cursor", "Cursor Nightly")
_STORE = "store.db"
_GLOBAL = "globalStorage"
_CHATS, _ACP, _PROJECTS = "chats", "acp-sessions", "projects"
# The editor knows times and tokens, the command line results; transcripts
# know the least, as text less still.
_EDITOR_RANK, _STORE_RANK, _LINES_RANK, _TEXT_RANK = range(4)
_MD5 = re.compile(r"^[0-9a-f]{32}$")
_TRIED_LINES = 25
# What lines of look-alikes have beside a role and a message.
_FOREIGN = {"uuid", "id", "timestamp", "sessionId", "parentUuid", "ts", "payload"}
_TEXT_MARKS = (b"<user_query>", b"\nassistant:\n", b"[Tool call] ", b"[Thinking]")


class Cursor:
    """Cursor's chats: the editor's, those of the command line, and transcripts of both."""

    agent = "cursor"
    name = "Cursor"
    version = 2
    endings = (".vscdb", ".db", ".jsonl", ".txt")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The editor's storage on every system, and the folders in `~/.cursor`."""
        users = user_folders(home, environ, _PRODUCTS)
        config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        moved = [folder for folder in [environ.get("CURSOR_CONFIG_DIR")] if folder]
        bases = [*moved, os.path.join(home, ".cursor"), os.path.join(config, "cursor")]
        roots = [os.path.join(user, name) for user in users for name in (_GLOBAL, STORAGE)]
        for base in bases:
            roots += [os.path.join(base, name) for name in (_CHATS, _ACP, _PROJECTS)]
        return roots

    def sources(self, root: str) -> Iterator[Source]:
        """The logs in one of our roots, in a folder of such roots, or in a settings folder."""
        name = os.path.basename(root)
        if name in _LAYOUTS:
            yield from self._below(root, name)
            return
        for user in (root, *(os.path.join(root, product) for product in _PRODUCTS)):
            # VS Code and its other children have folders of the same names.
            if os.path.basename(user) in _PRODUCTS:
                for part in (_GLOBAL, STORAGE):
                    yield from self._below(os.path.join(user, "User", part), part)
        for base in (root, os.path.join(root, ".cursor")):
            for part in (_CHATS, _ACP, _PROJECTS):
                yield from self._below(os.path.join(base, part), part)

    def _below(self, folder: str, name: str) -> Iterator[Source]:
        for path in _LAYOUTS[name](folder):
            yield self._source(path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A database told by its tables and what is in them, a transcript by its first lines."""
        if head.startswith(MAGIC):
            return self._source(path) if _is_ours(path) else None
        ours = (path.endswith(".jsonl") and _is_lines(head)) or (
            path.endswith(".txt") and _is_text(head)
        )
        return self._source(path) if ours else None

    def _source(self, path: str) -> Source:
        folder = os.path.dirname(path)
        if path.endswith(".vscdb"):
            storage = os.path.join(os.path.dirname(folder), STORAGE)
            is_global = os.path.basename(folder) == _GLOBAL
            around = storage if is_global else os.path.join(folder, WORKSPACE)
            return Source(
                self.agent,
                path,
                (*sqlite_companions(path), around),
                appended=False,
                rank=_EDITOR_RANK,
            )
        if path.endswith(".db"):
            note = os.path.join(folder, NOTE)
            return Source(
                self.agent, path, (*sqlite_companions(path), note), appended=False, rank=_STORE_RANK
            )
        if path.endswith(".txt"):
            return Source(self.agent, path, appended=False, rank=_TEXT_RANK)
        return Source(self.agent, path, rank=_LINES_RANK)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new in a transcript, what changed in the editor's database, or all of a chat."""
        if source.path.endswith(".vscdb"):
            yield from read_editor(source, since)
        elif source.path.endswith(".db"):
            yield from read_store(source)
        elif source.path.endswith(".txt"):
            yield from read_text(source)
        else:
            yield from read_lines(source, since)


# Where things lie -------------------------------------------------------------------


def _global(folder: str) -> Iterator[str]:
    # Extensions have folders beside it.
    if _user_is_ours(folder):
        yield from _named(folder, DATABASE)


def _workspaces(folder: str) -> Iterator[str]:
    if _user_is_ours(folder):
        for workspace in list_folder(folder).folders:
            yield from _named(workspace, DATABASE)


def _user_is_ours(storage: str) -> bool:
    user = os.path.dirname(storage)
    product = os.path.basename(os.path.dirname(user))
    return os.path.basename(user) == "User" and product in (*_PRODUCTS, "user-data")


def _chats(folder: str) -> Iterator[str]:
    for project in list_folder(folder).folders:
        if _MD5.match(os.path.basename(project)):
            yield from _acp(project)


def _acp(folder: str) -> Iterator[str]:
    for chat in list_folder(folder).folders:
        yield from _named(chat, _STORE)


def _projects(folder: str) -> Iterator[str]:
    for project in list_folder(folder).folders:
        yield from _transcripts(os.path.join(project, FOLDER))


def _transcripts(folder: str) -> Iterator[str]:
    files, folders = list_folder(folder)
    yield from _preferred(files)
    for chat in folders:
        subagents = os.path.join(chat, SUBAGENTS)
        endings = (".jsonl", ".txt")
        yield from _preferred([*files_in(chat, *endings), *files_in(subagents, *endings)])


def _preferred(files: Iterable[str]) -> Iterator[str]:
    """Transcripts, without the text of one that is there as lines too."""
    files = list(files)
    for path in files:
        if path.endswith(".jsonl") or (path.endswith(".txt") and f"{path[:-4]}.jsonl" not in files):
            yield path


def _named(folder: str, name: str) -> Iterator[str]:
    path = os.path.join(folder, name)
    if path in list_folder(folder).files:
        yield path


_LAYOUTS = {
    _GLOBAL: _global,
    STORAGE: _workspaces,
    _CHATS: _chats,
    _ACP: _acp,
    _PROJECTS: _projects,
}


# What a single file is ----------------------------------------------------------------


def _is_ours(path: str) -> bool:
    try:
        with open_sqlite(path) as file:
            return _has_chats(file) if path.endswith(".vscdb") else "agentId" in meta_in(file)
    except UnreadableSource:
        return False


def _has_chats(file: SqliteFile) -> bool:
    """Every child of VS Code has a table of items.

    Cursor's has chats in it, or a table of its own.
    """
    if {"key", "value"} <= set(file.columns(TABLE)):
        return True
    return has_items(file) and bool(stamps(file))


def _is_lines(head: bytes) -> bool:
    """Whether there are lines with a role and a message, and none of another agent's."""
    met = False
    for line in head.split(b"\n")[:_TRIED_LINES]:
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        fields = fields_of(value)
        if fields.keys() & _FOREIGN:
            return False
        if fields.get("role") in ("user", "assistant"):
            content = fields_of(fields.get("message")).get("content")
            if "type" in fields or not isinstance(content, (list, str)):
                return False
            met = True
    return met


def _is_text(head: bytes) -> bool:
    return head.lstrip().startswith(b"user:\n") and any(mark in head for mark in _TEXT_MARKS)
