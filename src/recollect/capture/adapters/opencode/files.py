"""OpenCode's JSON files of the time before its database: one for each session, message, part.

Where they are changed once, and in the first places the parts of a session
had a folder of their own; the files are the same.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from recollect.capture.adapters.opencode.reader import (
    OpenCodeSession,
    OpenCodeWholeMessage,
    created_at,
    items_of,
)
from recollect.capture.adapters.opencode.records import (
    OpenCodePart,
    OpenCodeTimes,
    message_of,
    part_of,
    parts_within,
)
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.folders import files_in, list_folder, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import Fields, count_of, fields_of, non_empty, text_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

_ID = re.compile(r"[\w-]+")
# An answer takes several messages, and those of the last few may still be written to.
_RECENT = 8


class OpenCodeFolders(NamedTuple):
    """Where the messages and the parts of a session are."""

    messages: str
    parts: str

    @property
    def recent(self) -> list[str]:
        """The newest messages with their parts, which are rewritten in place.

        Their folders do not show that.
        """
        messages = list(files_in(self.messages, ".json"))[-_RECENT:]
        names = [os.path.basename(path).removesuffix(".json") for path in messages]
        folders = [os.path.join(self.parts, name) for name in names]
        parts = [path for folder in folders for path in list_folder(folder).files]
        if messages and not parts:
            # Somebody named the files otherwise than by their ids: these may be the folders.
            folders = list_folder(self.parts).folders[-_RECENT:]
            parts = [path for folder in folders for path in list_folder(folder).files]
        return [*messages, *folders, *parts]


def folders_of(path: str, session: str) -> OpenCodeFolders:
    """The folders that belong to a session's file, in either layout."""
    folder = os.path.dirname(path)
    above = os.path.dirname(folder)
    if os.path.basename(folder) == "info":
        return OpenCodeFolders(
            os.path.join(above, "message", session), os.path.join(above, "part", session)
        )
    storage = os.path.dirname(above)
    return OpenCodeFolders(os.path.join(storage, "message", session), os.path.join(storage, "part"))


class _SessionFile(Struct):
    """A session's file, and what it names."""

    id: Any = None
    parentID: Any = None
    directory: Any = None
    title: Any = None
    version: Any = None
    time: OpenCodeTimes | list[Any] | str | float | bool | None = None
    permission: Any = None
    revert: Any = None
    summary: Any = None


def read_session(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    """A session whole; nothing when only files of other sessions changed.

    All sessions share one folder of parts, so that a new message in one of
    them makes every source look changed.
    """
    stamp = _stamp(source)
    if since and since.state == stamp:
        yield since
        return
    files = _SessionFiles(source)
    try:
        yield from files.items()
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    except BrokenDocument as reason:
        yield Problem(path=source.path, kind="bad_record", reason=str(reason))
    yield from files.problems.drain()
    yield Checkpoint(files.read_bytes, stamp)


def _stamp(source: Source) -> bytes:
    """What the files of this session, and of no other, look like."""
    folders = _folders(source)
    looks = []
    for path in (source.path, folders.messages, *folders.recent):
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            continue
        looks.append((found.st_size if path.endswith(".json") else 0, found.st_mtime_ns))
    return msgspec.msgpack.encode(hashlib.sha256(msgspec.msgpack.encode(looks)).hexdigest())


def _folders(source: Source) -> OpenCodeFolders:
    messages, parts, *_ = source.companions if len(source.companions) > 1 else ("", "")
    return OpenCodeFolders(messages, parts)


class _SessionFiles:
    """The files of one session."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.folders = _folders(source)
        self.problems = ProblemCounter(source.path)
        self.read_bytes = 0

    def items(self) -> list[Item]:
        """A session's items; `BrokenDocument` or `UnreadableSource` when its own file is."""
        session = parse_json(self._contents(self.path), _SessionFile)
        name = name_in_text(self.path).removesuffix(".json")
        info = OpenCodeSession(
            id=text_of(session.id) or name,
            parent=text_of(session.parentID),
            directory=session.directory,
            title=session.title,
            version=session.version,
            created=session.time.created if isinstance(session.time, OpenCodeTimes) else None,
            permission=session.permission,
            revert=session.revert,
            changes=_changes(fields_of(session.summary)),
        )
        return items_of(info, sorted(self._messages(), key=_order), self.problems)

    def _messages(self) -> Iterator[OpenCodeWholeMessage]:
        for path in files_in(self.folders.messages, ".json"):
            name = name_in_text(path).removesuffix(".json")
            try:
                message = message_of(self._contents(path))
                parts = parts_within(message)
            except (BrokenDocument, UnreadableSource) as reason:
                self._skip(path, reason)
                yield OpenCodeWholeMessage(name, name, None, [])
                continue
            # It is the name of a folder too, so it must not lead anywhere else.
            id_ = message.id if isinstance(message.id, str) and _ID.fullmatch(message.id) else name
            yield OpenCodeWholeMessage(id_, id_, message, [*parts, *self._parts(id_)])

    def _parts(self, message: str) -> Iterator[OpenCodePart]:
        for path in files_in(os.path.join(self.folders.parts, message), ".json"):
            try:
                yield part_of(self._contents(path))
            except (BrokenDocument, UnreadableSource) as reason:
                self._skip(path, reason)

    def _contents(self, path: str) -> bytes:
        data = read_bytes(path)
        self.read_bytes += len(data)
        return data

    def _skip(self, path: str, reason: Exception) -> None:
        self.problems.keep(Problem(path=path, kind="bad_record", reason=str(reason)))


def _order(told: OpenCodeWholeMessage) -> tuple[int, str]:
    return created_at(told.message) or 0, told.id


def _changes(summary: Fields) -> dict[str, int]:
    counts = {
        "lines_added": count_of(summary.get("additions")),
        "lines_removed": count_of(summary.get("deletions")),
        "files_changed": count_of(summary.get("files")),
    }
    return non_empty(counts)
