"""JSON lines that are read whole each time, up to what may be held of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from recollect.capture.logs.documents import MAX_DOCUMENT_BYTES
from recollect.capture.logs.lines import blocks, records
from recollect.model import Problem

Record = TypeVar("Record")


class Lines:
    """The lines of one file after the other; `position` is how many bytes that were in all."""

    def __init__(self) -> None:
        self.position = 0

    def read(self, path: str, decoder: msgspec.json.Decoder[Record], take: Callable[[Record], None]) -> Iterator[Problem]:
        """Hand over the records of a file; what is wrong with it comes back. `Unreadable` when it cannot be read at all."""
        before = self.position
        for block in blocks(path):
            if isinstance(block, Problem):
                yield block
                continue
            if self.position > MAX_DOCUMENT_BYTES:
                yield Problem(path=path, kind="too_large", reason=f"only the first {self.position} bytes were read")
                return
            for record in records(path, block, decoder):
                if isinstance(record, Problem):
                    yield record
                else:
                    take(record)
            self.position = before + block.end
