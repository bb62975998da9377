"""Reads `state.vscdb`, the SQLite file in which the editor keeps its chats.

The global one reaches gigabytes, so a pass reads only the chats that have rows
it has not seen. Cursor replaces rows, and a replaced row gets a new, higher
row number: one number is enough to remember. It means something as long as the
row that had it is where it was, or was replaced since. When the rows were
numbered anew, as a VACUUM may do it, that does not hold, and all is read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from recollect.capture.adapters.cursor.bubbles import (
    CursorBubble,
    CursorComposer,
    CursorComposerReader,
    CursorStoredBubble,
    shown,
    undone,
)
from recollect.capture.adapters.cursor.session import owner_of
from recollect.capture.adapters.cursor.workspaces import (
    MAX_VALUE_BYTES,
    CursorWorkspaces,
    ItemStamps,
    chats,
    folder_told,
    has_items,
    stamps,
)
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import resume
from recollect.capture.logs.sqlite import SqliteFile, open_sqlite
from recollect.capture.logs.values import text_of
from recollect.model.logs import Checkpoint, Event, Item, Problem, Source

TABLE = "cursorDiskKV"
# Enough to be worth a commit, little enough to be held in memory.
_COMMIT_BYTES = 8 << 20
_BUBBLES_AT_A_TIME = 200
_MAX_KEY_BYTES = 512

Shape = TypeVar("Shape", CursorBubble, CursorComposer)
_WORDS: dict[type[Struct], str] = {CursorBubble: "bubble", CursorComposer: "composer"}

_NEWEST = f"""
    select cast(composer as blob), max(row), cast(key as blob) from (
        select substr(key, 14) as composer, rowid as row, key from {TABLE}
         where {{newer}} {{key}} >= 'composerData:' and {{key}} < 'composerData;'
         union all
        select substr(key, 10, instr(substr(key, 10), ':') - 1), rowid, key from {TABLE}
         where {{newer}} {{key}} >= 'bubbleId:' and {{key}} < 'bubbleId;'
    ) group by composer order by 2
"""
# Over the index of keys, which holds all that is asked for; and by number,
# which leads straight to what is new.
_ALL = _NEWEST.format(newer="", key="key")
_SINCE = _NEWEST.format(newer="rowid >= ?1 and", key="+key")


class _EditorMarks(msgspec.Struct):
    """How far a database was read: the highest row seen, its key, and the items seen."""

    row: int = 0
    key: str = ""
    items: ItemStamps = msgspec.field(default_factory=dict)


class _ChangedChat(NamedTuple):
    """A chat with rows that were not seen, and the highest of them."""

    composer: str
    row: int
    key: str


def read_editor(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    """The chats of a database that changed, whole."""
    position, known = resume(since, _EditorMarks)
    try:
        with open_sqlite(source.path) as file:
            yield from _EditorPass(source, file, known or _EditorMarks(), position).items()
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)


class _EditorPass:
    """One pass over a database."""

    def __init__(
        self, source: Source, file: SqliteFile, marks: _EditorMarks, position: int
    ) -> None:
        self.source, self.file, self.marks = source, file, marks
        self.position = self.committed = position
        self.problems = ProblemCounter(source.path)
        self.workspaces = CursorWorkspaces(source.companions)

    def items(self) -> Iterator[Item]:
        """The items of every chat that changed, with a checkpoint now and then."""
        if has_items(self.file):
            yield from self._legacy()
        if {"key", "value"} <= set(self.file.columns(TABLE)):
            for changed in self._changed():
                yield from self._chat(changed.composer)
                # What comes later has higher rows, so all up to this one is done.
                self.marks.row, self.marks.key = changed.row, changed.key
                if self.position - self.committed >= _COMMIT_BYTES:
                    yield self._checkpoint()
        yield from self.problems.drain()
        yield self._checkpoint()

    def _checkpoint(self) -> Checkpoint:
        self.committed = self.position
        # A source of which nothing is worth reading must not be read from its start each time.
        return Checkpoint(max(1, self.position), msgspec.msgpack.encode(self.marks))

    # The chats that have rows

    def _changed(self) -> list[_ChangedChat]:
        """The chats with something new, the longest unchanged first."""
        if self._still_counts():
            # From the row itself on: what is deleted and written anew may get its number.
            found = self.file.all(_SINCE, (self.marks.row,))
        else:
            self.marks.row, self.marks.key = 0, ""
            found = self.file.all(_ALL)
        return [
            _ChangedChat(_name(composer), row, _name(key))
            for composer, row, key in found
            if composer and len(key) <= _MAX_KEY_BYTES
        ]

    def _still_counts(self) -> bool:
        """Whether the number that we remember means what it meant."""
        if not self.marks.row:
            return False
        by_row = f"select cast(key as blob) from {TABLE} where rowid = ?"
        there = self.file.one(by_row, (self.marks.row,))
        if there is not None:
            return _name(there[0]) == self.marks.key
        now = self.file.one(f"select rowid from {TABLE} where key = ?", (self.marks.key,))
        return now is not None and now[0] > self.marks.row

    def _chat(self, name: str) -> Iterator[Item]:
        row = self.file.one(
            f"""
            select octet_length(value), iif(octet_length(value) <= ?2, cast(value as blob), null)
              from {TABLE}
             where key = ?1
            """,
            (f"composerData:{name}", MAX_VALUE_BYTES),
        )
        composer = self._decoded(row[1], row[0], CursorComposer) if row else None
        if composer is not None:
            yield from self._told(name, composer, list(self._bubbles(name)))

    def _bubbles(self, composer: str) -> Iterator[CursorStoredBubble]:
        first, last = f"bubbleId:{composer}:", f"bubbleId:{composer};"
        after = first.encode()
        while True:
            some = self.file.all(
                f"""
                select rowid, cast(key as blob), octet_length(value),
                       iif(octet_length(value) <= ?4, cast(value as blob), null)
                  from {TABLE}
                 where key > cast(?1 as text)
                   and key < ?2
                 order by key
                 limit ?3
                """,
                (after, last, _BUBBLES_AT_A_TIME, MAX_VALUE_BYTES),
            )
            for rowid, key, size, data in some:
                bubble, name = (
                    self._decoded(data, size, CursorBubble),
                    _name(key).removeprefix(first),
                )
                if bubble is not None:
                    bubble.bubbleId = name if bubble.bubbleId is None else bubble.bubbleId
                    yield CursorStoredBubble(rowid, name, bubble)
            # In a damaged file they may come in any order, and again for ever.
            if len(some) < _BUBBLES_AT_A_TIME or some[-1][1] <= after:
                return
            after = some[-1][1]

    def _decoded(self, data: bytes | None, size: int | None, shape: type[Shape]) -> Shape | None:
        if data is None:
            # A row that is null was deleted, but for its key.
            if size:
                reason = f"a {_WORDS[shape]} of more than {MAX_VALUE_BYTES} bytes"
                self.problems.add("too_large", reason)
            return None
        self.position += len(data)
        try:
            return parse_json(data, shape)
        except BrokenDocument as reason:
            self.problems.bad(f"a {_WORDS[shape]} is {reason}")
            return None

    # The chats of 2023 and 2024, in the items of a workspace

    def _legacy(self) -> Iterator[Item]:
        found = stamps(self.file)
        if found == self.marks.items:
            return
        self.marks.items = found
        self.position += sum(size for _, size in found.values())
        for composer in chats(self.file, found, self.problems):
            if name := text_of(composer.composerId):
                yield from self._told(name, composer, [])

    # Either

    def _told(
        self, name: str, composer: CursorComposer, kept: list[CursorStoredBubble]
    ) -> Iterator[Item]:
        owner = owner_of(name, composer.subagentInfo)
        chat = CursorComposerReader(owner, composer, self.problems)
        live = shown(composer, kept)
        items = chat.told(live, undone(kept, live))
        if items:
            chat.facts(cwd=self._folder(name, composer, items))
            yield from chat.dialogue.drain()
            yield from items

    def _folder(self, name: str, composer: CursorComposer, items: list[Item]) -> str | None:
        """The folder a chat tells, or of the workspace that names it or whose files it touched."""
        folder = folder_told(composer.workspaceIdentifier) or self.workspaces.folder_of(name)
        if folder is None:
            calls = [item for item in items if isinstance(item, Event) and item.target]
            targets = [call.target or "" for call in calls if call.tool_kind != "shell"]
            folder = next(filter(None, map(self.workspaces.around, targets)), None)
        return folder


def _name(key: bytes) -> str:
    return key.decode("utf-8", "replace")
