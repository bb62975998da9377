"""A memory on a thread of its own, for servers.

A `Memory` belongs to one thread, and a server's own thread must stay free to
read and write messages. So questions wait for a thread that holds a memory:
those that read for one, those that write for another, because a write may have
to wait for an import to end and no search should wait with it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from recollect.errors import RecollectError
from recollect.memory import Memory

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class MemoryThread:
    """One thread with one memory, which is opened when the first question comes.

    A store that is not there yet, or was replaced by another file since, is
    looked for again at the next question.
    """

    def __init__(self, like: Memory, *, resident: bool = False) -> None:
        self._like, self._resident = like, resident
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memory")

    def start(self, question: Callable[[Memory], Answer]) -> Future[Answer]:
        """Have a memory answer, in the future that is returned."""
        return self._thread.submit(lambda: question(self._current()))

    async def ask(self, question: Callable[[Memory], Answer]) -> Answer:
        """What a memory answers; whatever it raises is raised here."""
        # Late: a server that waits for lines has no loop, and starts without this.
        import asyncio

        return await asyncio.wrap_future(self.start(question))

    def submit(self, task: Callable[[Memory], object]) -> None:
        """Have something done that nobody waits for; should it fail, the log says so."""
        self._thread.submit(self._run, task)

    def close(self) -> None:
        """Let go of the store once the question being answered is; may be called twice."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _run(self, task: Callable[[Memory], object]) -> None:
        try:
            task(self._current())
        except RecollectError as error:
            log.info("left undone", extra={"fault": str(error)})
        except Exception:
            log.exception("left undone")

    def _current(self) -> Memory:
        file = _identity(self._like.settings.store)
        if self._memory is None or file != self._file:
            if self._memory is not None:
                self._memory.close()
            self._memory = Memory(
                self._like.settings,
                environ=self._like.environ,
                resident=self._resident,
                headless=self._like.headless,
            )
            self._file = file
        return self._memory


def _identity(path: str) -> tuple[int, int] | None:
    """What tells a file from another that took its name."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
