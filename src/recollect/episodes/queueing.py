"""A bounded queue with a writer: what is put in is written within 50 ms, or now by `flush`.

The writer is a thread that comes with the first thing to write and ends when
there was nothing for a while. It lets things gather for a moment and writes them
as batches. Whoever flushes writes in his own thread; there is one lock around
writing, so batches never overlap.

A full queue makes room in one of two ways. `block`: the one who puts something
in writes first, so he waits exactly as long as the store is slower than he is.
`drop-oldest`: the oldest goes, and is counted. What cannot be written goes back
into the queue, in order, and is tried again.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Literal, TypeVar

from recollect.model.episodes import Flushed

log = logging.getLogger(__name__)

WhenFull = Literal["block", "drop-oldest"]
Item = TypeVar("Item")

# With the write itself, well below 50 ms.
GATHER_SECONDS = 0.02
LINGER_SECONDS = 5.0
RETRY_SECONDS = 1.0
# A transaction of so many is a few milliseconds.
BATCH = 256


class Queue(Generic[Item]):
    """What waits to be written.

    Whoever puts something in sees to it that there is room (`most`,
    `make_room`), appends it to `waiting`, and calls `stir` unless `stirred`
    says that the writer knows. That takes no lock while there is room and the
    writer is awake, and no call where every call counts.
    """

    def __init__(
        self, write: Callable[[list[Item]], None], *, most: int, when_full: WhenFull
    ) -> None:
        self._write, self.most, self._drops = write, max(1, most), when_full == "drop-oldest"
        self.waiting: deque[Item] = deque()
        self._kept = self._dropped = 0
        # The writer has been told of what is in the queue.
        self.stirred = False
        self._writing, self._gate = threading.Lock(), threading.Lock()
        self._wake, self._closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def make_room(self) -> None:
        """Write, or drop the oldest, until something fits in.

        Raises when nothing can be written.
        """
        if not self._drops:
            self._drain()
            return
        with self._gate:
            while len(self.waiting) >= self.most:
                self.waiting.popleft()
                self._dropped += 1

    def warm_up(self, get_ready: Callable[[], None]) -> None:
        """Do what the first write would have to wait for, on a thread of its own.

        What is wrong is told by that write.
        """

        def run() -> None:
            with self._writing, suppress(Exception):
                # Whoever closes has the lock after that, and lets go of what was opened.
                if not self._closing.is_set():
                    get_ready()

        threading.Thread(target=run, name="episodes-ready", daemon=True).start()

    def flush(self) -> Flushed:
        """Write everything that was put in before.

        What came of it since the last time this was asked.
        """
        self._drain()
        with self._gate:
            told = Flushed(kept=self._kept, dropped=self._dropped)
            self._kept = self._dropped = 0
        if told.dropped:
            log.warning("attempts were dropped", extra={"dropped": told.dropped})
        return told

    def settle(self) -> None:
        """Write everything that was put in before; `flush` still tells of it."""
        if self.waiting or self._writing.locked():
            self._drain()

    def close(self) -> None:
        """Write what is left and let the writer end; raises when it cannot be written."""
        self._closing.set()
        self._wake.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        # Whoever comes from now on finds no writer, and writes himself.
        self.stirred = False
        try:
            self.flush()
        except BaseException:
            log.error("attempts are lost", extra={"count": len(self.waiting)})
            raise

    def _drain(self) -> None:
        with self._writing:
            left = len(self.waiting)
            while left > 0:
                batch = self._take(min(left, BATCH))
                if not batch:
                    break
                try:
                    self._write(batch)
                except BaseException:
                    self.waiting.extendleft(reversed(batch))
                    raise
                left -= len(batch)
                with self._gate:
                    self._kept += len(batch)

    def _take(self, count: int) -> list[Item]:
        batch: list[Item] = []
        try:
            for _ in range(count):
                batch.append(self.waiting.popleft())
        except IndexError:
            # Somebody dropped the oldest meanwhile.
            pass
        return batch

    def stir(self) -> None:
        """Tell the writer that there is something to write."""
        if self._closing.is_set():
            self._drain()
            return
        with self._gate:
            self.stirred = True
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_on, name="episodes", daemon=True)
                self._thread.start()

    def _write_on(self) -> None:
        while not self._may_end():
            self._wake.clear()
            self._closing.wait(GATHER_SECONDS)
            # Before the queue is looked at: whoever comes later stirs again.
            self.stirred = False
            try:
                self._drain()
            except Exception as error:
                log.warning(
                    "attempts wait to be written",
                    extra={"fault": str(error), "waiting": len(self.waiting)},
                )
                self.stirred = True
                self._wake.set()
                self._closing.wait(RETRY_SECONDS)

    def _may_end(self) -> bool:
        """Wait for something to write.

        True when there was nothing for long, or nothing will come any more.
        """
        came = self._wake.wait(LINGER_SECONDS)
        with self._gate:
            if self._closing.is_set() or not (came or self._wake.is_set()):
                self._thread = None
                return True
        return False
