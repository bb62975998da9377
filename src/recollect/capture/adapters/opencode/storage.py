"""OpenCode's JSON files, before there was a database: one for each session, message and part.

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

from recollect.capture.adapters.opencode.records import (
    Part,
    Times,
    message_of,
    part_of,
    parts_within,
)
from recollect.capture.adapters.opencode.talk import Info, Told, created_at, items_of
from recollect.capture.logs.documents import Broken, contents, parsed
from recollect.capture.logs.folders import files_in, listed, name_in_text
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import Fields, count_of, fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

_ID = re.compile(r"[\w-]+")
# An answer takes several messages, and those of the last few may still be written to.
_RECENT = 8


class Places(NamedTuple):
    """Where the messages and the parts of a session are."""

    messages: str
    parts: str

    @property
    def recent(self) -> list[str]:
        """The newest messages with their parts: these files are rewritten in
        place, which their folders do not show.
        """
        messages = list(files_in(self.messages, ".json"))[-_RECENT:]
        folders = [
            os.path.join(self.parts, os.path.basename(path).removesuffix(".json"))
            for path in messages
        ]
        parts = [path for folder in folders for path in listed(folder).files]
        if messages and not parts:
            # Somebody named the files otherwise than by their ids: these may be the folders.
            folders = listed(self.parts).folders[-_RECENT:]
            parts = [path for folder in folders for path in listed(folder).files]
        return [*messages, *folders, *parts]


def places_of(path: str, session: str) -> Places:
    """The folders that belong to a session's file, in either layout."""
    folder = os.path.dirname(path)
    above = os.path.dirname(folder)
    if os.path.basename(folder) == "info":
        return Places(os.path.join(above, "message", session), os.path.join(above, "part", session))
    storage = os.path.dirname(above)
    return Places(os.path.join(storage, "message", session), os.path.join(storage, "part"))


class Session(Struct):
    """A session's file, and what it names."""

    id: Any = None
    parentID: Any = None
    directory: Any = None
    title: Any = None
    version: Any = None
    time: Times | list[Any] | str | float | bool | None = None
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
    files = Files(source)
    try:
        yield from files.items()
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    except Broken as reason:
        yield Problem(path=source.path, kind="bad_record", reason=str(reason))
    yield from files.problems()
    yield Checkpoint(files.read_bytes, stamp)


def _stamp(source: Source) -> bytes:
    """What the files of this session, and of no other, look like."""
    places = _places(source)
    looks = []
    for path in (source.path, places.messages, *places.recent):
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            continue
        looks.append((found.st_size if path.endswith(".json") else 0, found.st_mtime_ns))
    return msgspec.msgpack.encode(hashlib.sha256(msgspec.msgpack.encode(looks)).hexdigest())


def _places(source: Source) -> Places:
    messages, parts, *_ = source.companions if len(source.companions) > 1 else ("", "")
    return Places(messages, parts)


class Files:
    """The files of one session."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.places = _places(source)
        self.oddities = Oddities()
        self.broken: list[Problem] = []
        self.read_bytes = 0

    def items(self) -> list[Item]:
        """A session's items; `Broken` or `Unreadable` when its own file is."""
        session = parsed(self._contents(self.path), Session)
        name = name_in_text(self.path).removesuffix(".json")
        info = Info(
            id=text_of(session.id) or name,
            parent=text_of(session.parentID),
            directory=session.directory,
            title=session.title,
            version=session.version,
            created=session.time.created if isinstance(session.time, Times) else None,
            permission=session.permission,
            revert=session.revert,
            changes=_changes(fields_of(session.summary)),
        )
        return items_of(info, sorted(self._messages(), key=_order), self.oddities)

    def problems(self) -> list[Problem]:
        """What was odd, file by file and then by sort."""
        return [*self.broken, *self.oddities.problems(self.path)]

    def _messages(self) -> Iterator[Told]:
        for path in files_in(self.places.messages, ".json"):
            name = name_in_text(path).removesuffix(".json")
            try:
                message = message_of(self._contents(path))
                parts = parts_within(message)
            except (Broken, Unreadable) as reason:
                self._skip(path, reason)
                yield Told(name, name, None, [])
                continue
            # It is the name of a folder too, so it must not lead anywhere else.
            id_ = message.id if isinstance(message.id, str) and _ID.fullmatch(message.id) else name
            yield Told(id_, id_, message, [*parts, *self._parts(id_)])

    def _parts(self, message: str) -> Iterator[Part]:
        for path in files_in(os.path.join(self.places.parts, message), ".json"):
            try:
                yield part_of(self._contents(path))
            except (Broken, Unreadable) as reason:
                self._skip(path, reason)

    def _contents(self, path: str) -> bytes:
        data = contents(path)
        self.read_bytes += len(data)
        return data

    def _skip(self, path: str, reason: Exception) -> None:
        self.broken.append(Problem(path=path, kind="bad_record", reason=str(reason)))


def _order(told: Told) -> tuple[int, str]:
    return created_at(told.message) or 0, told.id


def _changes(summary: Fields) -> dict[str, int]:
    named = {"additions": "lines_added", "deletions": "lines_removed", "files": "files_changed"}
    return {
        ours: count for theirs, ours in named.items() if (count := count_of(summary.get(theirs)))
    }
