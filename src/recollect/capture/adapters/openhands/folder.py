"""A conversation that is a folder with one file for each event.

Files are added, numbered from 0, and never changed, so a folder that was read
is read again from the second to last turn on: a result, or a figure in the
state beside the folder, may come that late. Everything before stays as it is.

A file that does not decode is mostly one that is being written. Nothing tells
when it is whole, because a folder looks the same then, so the source counts
as failed and is tried again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.folders import list_folder
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.readers import resume
from recollect.model.logs import Checkpoint, Item, Problem, Source

# Told and committed at a time, where a turn ends.
_COMMIT_BYTES = 8 << 20
_EVENT_BYTES = 64 << 20
# What is between the number and the ending is the event's id, from version 1 on.
_NAME = re.compile(r"(?:event-)?(\d{1,12})(?:-([0-9a-fA-F-]{8,}))?\.json")


class OpenHandsEventFile(NamedTuple):
    """One event on disk."""

    number: int
    id: str
    path: str


class _FolderState(msgspec.Struct):
    """Where the next pass begins, and what the conversation must remember of what is before."""

    start: int
    name: str
    memory: bytes


class OpenHandsConversation(Protocol):
    """Makes items of a conversation's events, turn by turn."""

    def take(self, event: Any, file: OpenHandsEventFile) -> None:
        """One more event; None for one that cannot be read."""

    def begins_turn(self, event: Any) -> bool:
        """Whether a turn begins with an event."""

    def follows(self, events: list[tuple[OpenHandsEventFile, Any]]) -> bool:
        """Whether these new events go on where the last pass ended and need nothing before."""

    def drain(self) -> list[Item]:
        """What was made since the last time."""

    def settle(self) -> list[Item]:
        """What is known about the turns so far, before they are committed."""

    def close(self) -> list[Item]:
        """What can be told only when everything was seen."""

    def save(self) -> bytes:
        """What must be remembered to go on from here; empty when it is better to begin again."""


# Makes the reader of a source, as it stood at some event.
MakeReader = Callable[[Source, bytes], OpenHandsConversation]


def numbered(folder: str) -> list[OpenHandsEventFile]:
    """The events in a folder, in their order."""
    found = []
    for path in list_folder(folder).files:
        match = _NAME.fullmatch(os.path.basename(path))
        if match:
            found.append(OpenHandsEventFile(int(match[1]), match[2] or "", path))
    return sorted(found)


def read_folder(
    source: Source, since: Checkpoint | None, shape: type[Any], make: MakeReader
) -> Iterator[Item]:
    """The items of a folder; turns that were told and cannot have changed are left out."""
    files = numbered(source.path)
    _, state = resume(since, _FolderState)
    position = since.position if since and state else 0
    if state is not None:
        rest = [file for file in files if file.number >= state.start]
        if rest and os.path.basename(rest[0].path) == state.name:
            loaded = [(file, _event(file, shape)) for file in rest]
            reader = make(source, state.memory)
            if reader.follows([(file, event) for file, (event, _) in loaded]):
                events = ((file, *found) for file, found in loaded)
                yield from _read_events(reader, events, position)
                return
    events = ((file, *_event(file, shape)) for file in files)
    yield from _read_events(make(source, b""), events, position)


def _read_events(
    reader: OpenHandsConversation,
    events: Iterator[tuple[OpenHandsEventFile, Any, int | str]],
    position: int,
) -> Iterator[Item]:
    # Where the last two turns begin; the first of them is where the next pass does.
    begun: list[_FolderState] = []
    broken: _FolderState | None = None
    pending_bytes = 0
    for file, event, size in events:
        if not begun or reader.begins_turn(event):
            if pending_bytes > _COMMIT_BYTES:
                yield from reader.settle()
                yield Checkpoint(position, _encoded(reader, broken, begun))
                pending_bytes = 0
            start = _FolderState(file.number, os.path.basename(file.path), reader.save())
            begun = [*begun[-1:], start]
        if isinstance(size, str):
            yield Problem(path=file.path, kind="unreadable", reason=size)
            broken = broken or begun[-1]
        else:
            position, pending_bytes = position + size, pending_bytes + size
        reader.take(event, file)
        yield from reader.drain()
    yield from reader.close()
    yield Checkpoint(position, _encoded(reader, broken, begun))


def _encoded(
    reader: OpenHandsConversation, broken: _FolderState | None, begun: list[_FolderState]
) -> bytes:
    """The state to leave; none when the next pass has to begin at the start."""
    return msgspec.msgpack.encode(broken or begun[0]) if begun and reader.save() else b""


def _event(file: OpenHandsEventFile, shape: type[Any]) -> tuple[Any, int | str]:
    """An event and its size, or None and why it is none."""
    try:
        data = read_bytes(file.path, _EVENT_BYTES)
        return parse_json(data, shape), len(data)
    except (BrokenDocument, UnreadableSource) as reason:
        return None, str(reason)
