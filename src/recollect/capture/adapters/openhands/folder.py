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
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from recollect.capture.logs.appended import resumed
from recollect.capture.logs.documents import Broken, contents, parsed
from recollect.capture.logs.folders import listed
from recollect.capture.logs.lines import Unreadable
from recollect.model.logs import Checkpoint, Item, Problem, Source

# Told and committed at a time, where a turn ends.
_STRETCH_BYTES = 8 << 20
_EVENT_BYTES = 64 << 20
# What is between the number and the ending is the event's id, from version 1 on.
_NAME = re.compile(r"(?:event-)?(\d{1,12})(?:-([0-9a-fA-F-]{8,}))?\.json")


class EventFile(NamedTuple):
    """One event on disk."""

    number: int
    id: str
    path: str


class State(msgspec.Struct):
    """Where the next pass begins, and what the conversation must remember of what is before."""

    start: int
    name: str
    memory: bytes


class Conversation(Protocol):
    """Makes items of a conversation's events, turn by turn."""

    def take(self, event: Any, file: EventFile) -> None:
        """One more event; None for one that cannot be read."""

    def begins_turn(self, event: Any) -> bool:
        """Whether a turn begins with an event."""

    def follows(self, events: list[tuple[EventFile, Any]]) -> bool:
        """Whether these new events go on where the last pass ended, and
        need nothing that is before them.
        """

    def drain(self) -> list[Item]:
        """What was made since the last time."""

    def settle(self) -> list[Item]:
        """What is known about the turns so far, before they are committed."""

    def close(self) -> list[Item]:
        """What can be told only when everything was seen."""

    def save(self) -> bytes:
        """What must be remembered to go on from here; empty when it is better to begin again."""


class Maker(Protocol):
    """Makes the conversation of a source, as it stood at some event."""

    def __call__(self, source: Source, memory: bytes) -> Conversation: ...


def numbered(folder: str) -> list[EventFile]:
    """The events in a folder, in their order."""
    found = []
    for path in listed(folder).files:
        match = _NAME.fullmatch(os.path.basename(path))
        if match:
            found.append(EventFile(int(match[1]), match[2] or "", path))
    return sorted(found)


def read_folder(
    source: Source, since: Checkpoint | None, shape: type[Any], make: Maker
) -> Iterator[Item]:
    """The items of a folder; turns that were told and cannot have changed are left out."""
    files = numbered(source.path)
    _, state = resumed(since, State)
    position = since.position if since and state else 0
    if state is not None:
        rest = [file for file in files if file.number >= state.start]
        if rest and os.path.basename(rest[0].path) == state.name:
            loaded = [(file, _event(file, shape)) for file in rest]
            conversation = make(source, state.memory)
            if conversation.follows([(file, event) for file, (event, _) in loaded]):
                yield from _told(
                    conversation, iter([(file, *found) for file, found in loaded]), position
                )
                return
    yield from _told(make(source, b""), ((file, *_event(file, shape)) for file in files), position)


def _told(
    conversation: Conversation, events: Iterator[tuple[EventFile, Any, int | str]], position: int
) -> Iterator[Item]:
    # Where the last two turns begin; the first of them is where the next pass does.
    begun: list[State] = []
    broken: State | None = None
    pending_bytes = 0
    for file, event, size in events:
        if not begun or conversation.begins_turn(event):
            if pending_bytes > _STRETCH_BYTES:
                yield from conversation.settle()
                yield Checkpoint(position, _encoded(conversation, broken, begun))
                pending_bytes = 0
            begun = [
                *begun[-1:],
                State(file.number, os.path.basename(file.path), conversation.save()),
            ]
        if isinstance(size, str):
            yield Problem(path=file.path, kind="unreadable", reason=size)
            broken = broken or begun[-1]
        else:
            position, pending_bytes = position + size, pending_bytes + size
        conversation.take(event, file)
        yield from conversation.drain()
    yield from conversation.close()
    yield Checkpoint(position, _encoded(conversation, broken, begun))


def _encoded(conversation: Conversation, broken: State | None, begun: list[State]) -> bytes:
    """The state to leave; none when the next pass has to begin at the start."""
    return msgspec.msgpack.encode(broken or begun[0]) if begun and conversation.save() else b""


def _event(file: EventFile, shape: type[Any]) -> tuple[Any, int | str]:
    """An event and its size, or None and why it is none."""
    try:
        data = contents(file.path, _EVENT_BYTES)
        return parsed(data, shape), len(data)
    except (Broken, Unreadable) as reason:
        return None, str(reason)
