"""Logs that are read whole each time: JSON lines that change what earlier ones said, and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import msgspec

from recollect.capture.logs.documents import Broken, contents, parsed
from recollect.capture.logs.lines import Unreadable, blocks, records
from recollect.model import Checkpoint, Item, Problem, Source

Record = TypeVar("Record")
Taken = TypeVar("Taken", contravariant=True)


class Replayer(Protocol[Taken]):
    """Makes items of all records of a log, once the last one is known."""

    def take(self, record: Taken) -> None:
        """One more record."""

    def items(self) -> list[Item]:
        """Everything that the log tells, and what is odd in it."""


def replay_lines(
    source: Source, since: Checkpoint | None, decoder: msgspec.json.Decoder[Record], replayer: Replayer[Record],
    mend: Callable[[bytes], bytes] = lambda data: data,
) -> Iterator[Item]:  # fmt: skip
    """The items of a log of lines. Some agents need their lines mended before they are decoded."""
    position = 0
    try:
        for block in blocks(source.path):
            if isinstance(block, Problem):
                yield block
                continue
            for record in records(source.path, block._replace(data=mend(block.data)), decoder):
                if isinstance(record, Problem):
                    yield record
                else:
                    replayer.take(record)
            position = block.end
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield since or Checkpoint(0)
        return
    yield from replayer.items()
    yield Checkpoint(position)


def replay_document(source: Source, since: Checkpoint | None, shape: type[Record], replayer: Replayer[Record]) -> Iterator[Item]:
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
