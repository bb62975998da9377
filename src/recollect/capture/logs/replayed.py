"""Logs that are read whole each time: JSON lines that change
what earlier ones said, and documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

from recollect.capture.logs.documents import MAX_DOCUMENT_BYTES, Broken, contents, parsed
from recollect.capture.logs.lines import Unreadable, blocks, records
from recollect.model.logs import Checkpoint, Item, Problem, Source

Record = TypeVar("Record")
Taken = TypeVar("Taken", contravariant=True)


class Replayer(Protocol[Taken]):
    """Makes items of all records of a log, once the last one is known."""

    def take(self, record: Taken) -> None:
        """One more record."""

    def items(self) -> Iterable[Item]:
        """Everything that the log tells, and what is odd in it."""


class Lines:
    """The lines of one file after the other, up to what may be held of them.

    `position` is how many bytes that were.
    """

    def __init__(self) -> None:
        self.position = 0

    def read(
        self, path: str, decoder: msgspec.json.Decoder[Record], take: Callable[[Record], None],
        mend: Callable[[bytes], bytes] = lambda data: data,
    ) -> Iterator[Problem]:  # fmt: skip
        """Hand over the records of a file.

        What is wrong with it comes back. `Unreadable` when it cannot be read at all.

        Some agents need their lines mended before they are decoded.
        """
        before = self.position
        for block in blocks(path):
            if isinstance(block, Problem):
                yield block
                continue
            if self.position > MAX_DOCUMENT_BYTES:
                yield Problem(
                    path=path,
                    kind="too_large",
                    reason=f"only the first {self.position - before} bytes were read",
                )
                return
            for record in records(path, block._replace(data=mend(block.data)), decoder):
                if isinstance(record, Problem):
                    yield record
                else:
                    take(record)
            self.position = before + block.end


def replay_lines(
    source: Source, since: Checkpoint | None, decoder: msgspec.json.Decoder[Record],
    replayer: Replayer[Record],
    mend: Callable[[bytes], bytes] = lambda data: data,
) -> Iterator[Item]:  # fmt: skip
    """The items of a log of lines."""
    lines = Lines()
    try:
        yield from lines.read(source.path, decoder, replayer.take, mend)
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    yield from replayer.items()
    yield Checkpoint(lines.position)


def replay_document(
    source: Source, since: Checkpoint | None, shape: type[Record], replayer: Replayer[Record]
) -> Iterator[Item]:
    """The items of a document, which is one record."""
    try:
        data = contents(source.path)
        replayer.take(parsed(data, shape))
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    except Broken as reason:
        yield Problem(path=source.path, kind="bad_record", reason=str(reason))
    yield from replayer.items()
    yield Checkpoint(len(data))
