"""How logs are read: what an adapter's reader promises, and the loops that feed it records.

`read_appended` goes on where the last pass ended, for a file of JSON lines that
only grows. `replay_lines` and `replay_document` read everything each time, for
logs in which a later record changes what an earlier one said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import (
    MAX_DOCUMENT_BYTES,
    BrokenDocument,
    parse_json,
    read_bytes,
)
from recollect.capture.logs.lines import UnreadableSource, blocks, records
from recollect.capture.logs.problems import ProblemCounter
from recollect.model.logs import Checkpoint, Item, Problem, Source

Record = TypeVar("Record")
Taken = TypeVar("Taken", contravariant=True)
State = TypeVar("State")


# Logs that grow ------------------------------------------------------------------


class GrowingLogReader(Protocol[Taken]):
    """Makes items of the records of a log that grows."""

    # What could not be read, told at the end of the pass.
    problems: ProblemCounter

    def take(self, record: Taken) -> None:
        """One more record of the file."""

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""

    def save(self) -> bytes:
        """What must be remembered to go on from here."""


class DialogueReader:
    """What readers of one conversation have in common.

    One that keeps no state is to read from the start each time.
    """

    def __init__(self, path: str, dialogue: Dialogue, state: msgspec.Struct | None = None) -> None:
        self.path, self.dialogue = path, dialogue
        self.problems = ProblemCounter(path)
        self._saved = state

    def drain(self) -> list[Item]:
        """The items that were made since the last time."""
        return self.dialogue.drain()

    def save(self) -> bytes:
        """What must be remembered to go on from here."""
        return b"" if self._saved is None else msgspec.msgpack.encode(self._saved)


def resume(since: Checkpoint | None, shape: type[State]) -> tuple[int, State | None]:
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
    source: Source,
    position: int,
    decoder: msgspec.json.Decoder[Record],
    reader: GrowingLogReader[Record],
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
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
    # A reader may have held something back for a record that did not come.
    yield from reader.drain()
    yield from reader.problems.drain()
    yield Checkpoint(position, reader.save())


# Logs that are read whole each time -----------------------------------------------


class WholeLogReader(Protocol[Taken]):
    """Makes items of all records of a log, once the last one is known."""

    def take(self, record: Taken) -> None:
        """One more record."""

    def items(self) -> Iterable[Item]:
        """Everything that the log tells, and what is odd in it."""


class LimitedLines:
    """The lines of one file after the other, up to what may be held of them.

    `position` is how many bytes that were.
    """

    def __init__(self) -> None:
        self.position = 0

    def read(
        self,
        path: str,
        decoder: msgspec.json.Decoder[Record],
        take: Callable[[Record], None],
        mend: Callable[[bytes], bytes] = lambda data: data,
    ) -> Iterator[Problem]:
        """Hand over the records of a file; what is wrong with it comes back.

        `UnreadableSource` when it cannot be read at all. Some agents need their
        lines mended before they are decoded.
        """
        before = self.position
        for block in blocks(path):
            if isinstance(block, Problem):
                yield block
                continue
            if self.position > MAX_DOCUMENT_BYTES:
                reason = f"only the first {self.position - before} bytes were read"
                yield Problem(path=path, kind="too_large", reason=reason)
                return
            for record in records(path, block._replace(data=mend(block.data)), decoder):
                if isinstance(record, Problem):
                    yield record
                else:
                    take(record)
            self.position = before + block.end


def replay_lines(
    source: Source,
    since: Checkpoint | None,
    decoder: msgspec.json.Decoder[Record],
    reader: WholeLogReader[Record],
    mend: Callable[[bytes], bytes] = lambda data: data,
) -> Iterator[Item]:
    """The items of a log of lines."""
    lines = LimitedLines()
    try:
        yield from lines.read(source.path, decoder, reader.take, mend)
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    yield from reader.items()
    yield Checkpoint(lines.position)


def replay_document(
    source: Source, since: Checkpoint | None, shape: type[Record], reader: WholeLogReader[Record]
) -> Iterator[Item]:
    """The items of a document, which is one record."""
    try:
        data = read_bytes(source.path)
        reader.take(parse_json(data, shape))
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    except BrokenDocument as reason:
        yield Problem(path=source.path, kind="bad_record", reason=str(reason))
    yield from reader.items()
    yield Checkpoint(len(data))
