"""Sums that take long, kept until something is written.

While an import writes, every look would find them out of date. So what is quick to make is made
again at once; of what is not, the page shows the last one and of when it is, and a new one is
made meanwhile, on a thread that answers nobody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from recollect.memory import Memory
from recollect.serve.memory_thread import MemoryThread

Answer = TypeVar("Answer")

MOST_KEPT = 500


class KeptAnswer(NamedTuple, Generic[Answer]):
    """An answer, how often the store had changed by then, when it was made and in how long.

    One that `is_due` is of a moment ago: a new one is being made.
    """

    changes: int
    answer: Answer
    at: datetime
    seconds: float
    is_due: bool = False


class KeptAnswers:
    """Answers by name, for whichever thread asks."""

    def __init__(self, like: Memory) -> None:
        self._thread = MemoryThread(like)
        self._lock = threading.Lock()
        self._kept: dict[str, KeptAnswer[Any]] = {}
        self._making: dict[str, threading.Event] = {}
        # Marks of the store differ from memory to memory, so changes are counted.
        self._marks: dict[int, str | None] = {}
        self._changes = 0

    def close(self) -> None:
        """Make no more of them."""
        self._thread.close()

    def ahead(self, task: Callable[[Memory], object]) -> None:
        """Have something asked before anybody does."""
        self._thread.submit(task)

    def get(
        self, memory: Memory, name: str, make: Callable[[Memory], Answer], seconds: float
    ) -> KeptAnswer[Answer]:
        """The answer of this name as of now; the last one where it took more `seconds` than
        these to make. Nobody can have one that was never made without waiting for it.
        """
        changes = self._count_changes(memory)
        with self._lock:
            found, making = self._kept.get(name), self._making.get(name)
            is_due = found is not None and found.changes != changes
            if found is not None and is_due and found.seconds > seconds:
                if making is None:
                    self._making[name] = threading.Event()
                    self._thread.submit(lambda own: self._make(own, name, make))
                return found._replace(is_due=True)
        if found is not None and not is_due:
            return found
        if making is not None:
            making.wait()
            with self._lock:
                found = self._kept.get(name, found)
            if found is not None:
                return found
        return self._make(memory, name, make)

    def _make(
        self, memory: Memory, name: str, make: Callable[[Memory], Answer]
    ) -> KeptAnswer[Answer]:
        with self._lock:
            made = self._making.setdefault(name, threading.Event())
        changes, begun = self._count_changes(memory), time.perf_counter()
        try:
            answer = make(memory)
            found = KeptAnswer(
                changes, answer, datetime.now().astimezone(), time.perf_counter() - begun
            )
            with self._lock:
                self._kept[name] = found
                while len(self._kept) > MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
            return found
        finally:
            with self._lock:
                self._making.pop(name, None)
            made.set()

    def _count_changes(self, memory: Memory) -> int:
        """How often somebody was seen to have written."""
        with self._lock:
            mark = memory.changed_since(self._marks.get(id(memory)))
            if mark is not None:
                self._marks[id(memory)] = mark
                self._changes += 1
            return self._changes
