"""A log of JSON lines that is appended to, read from where the last pass ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

import msgspec

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.lines import Unreadable, blocks, records
from recollect.capture.logs.oddities import Oddities
from recollect.model.logs import Checkpoint, Item, Problem, Source

Record = TypeVar("Record")
Taken = TypeVar("Taken", contravariant=True)
State = TypeVar("State")


class Reader(Protocol[Taken]):
    """Makes items of a format's records."""

    def take(self, record: Taken) -> None:
        """One more record of the file."""

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""

    def save(self) -> bytes:
        """What must be remembered to go on from here."""


class TalkReader:
    """What readers of one conversation have in common.

    One that keeps no state is to read from the start each time.
    """

    def __init__(self, path: str, talk: Dialogue, state: msgspec.Struct | None = None) -> None:
        self.path, self.talk = path, talk
        self.odd = Oddities()
        self._kept = state

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        return self.talk.drain()

    def problems(self) -> list[Problem]:
        """What was odd, at the end of the pass."""
        return self.odd.problems(self.path)

    def save(self) -> bytes:
        """What must be remembered to go on from here."""
        return b"" if self._kept is None else msgspec.msgpack.encode(self._kept)


def resumed(since: Checkpoint | None, shape: type[State]) -> tuple[int, State | None]:
    """Where to go on and with which state.

    The start of the file and none when that cannot be told.
    """
    if since is None or not since.state:
        return 0, None
    try:
        return since.position, msgspec.msgpack.decode(since.state, type=shape)
    except (msgspec.MsgspecError, UnicodeError):
        return 0, None


def read_appended(
    source: Source, position: int, decoder: msgspec.json.Decoder[Record], reader: Reader[Record]
) -> Iterator[Item]:
    """The items of a file from a byte on, with a checkpoint for each block of it."""
    begun = False
    try:
        for block in blocks(source.path, position):
            if isinstance(block, Problem):
                yield block
                continue
            if begun:
                # Held back until there is more: the last one of a file is that of its end.
                yield Checkpoint(position, reader.save())
            for record in records(source.path, block, decoder):
                if isinstance(record, Problem):
                    yield record
                else:
                    reader.take(record)
            yield from reader.drain()
            begun, position = True, block.end
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
    # A reader may have held something back for a record that did not come.
    yield from reader.drain()
    yield from reader.problems()
    yield Checkpoint(position, reader.save())
