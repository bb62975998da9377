"""Sums that take long, kept until something is written.

While an import writes, every look would find them out of date. So what was quick to make is made
again at once; of what was not, the page shows the last one, and a new one is made meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from recollect.memory import Memory
from recollect.serve.memory_thread import MemoryThread

Answer = TypeVar("Answer")

# What takes longer is not made while somebody waits, once there is one to show.
QUICK_SECONDS = 0.04
MOST_KEPT = 500


class KeptAnswer(NamedTuple):
    """An answer, how often the store had changed by then, and how long it took to make."""

    changes: int
    answer: Any
    seconds: float


class KeptAnswers:
    """Answers by name; asked from any thread, made again on the `sums` thread."""

    def __init__(self, sums: MemoryThread) -> None:
        self._sums = sums
        self._lock = threading.Lock()
        self._kept: dict[str, KeptAnswer] = {}
        self._making: set[str] = set()
        # Marks of the store differ from memory to memory, so changes are counted.
        self._marks: dict[int, str | None] = {}
        self._changes = 0

    def get(self, memory: Memory, name: str, make: Callable[[Memory], Answer]) -> Answer:
        """The answer of this name as of now, or the last one where a new one takes long."""
        changes = self._count_changes(memory)
        with self._lock:
            found = self._kept.get(name)
            is_due = found is not None and found.changes != changes and name not in self._making
            if is_due and found is not None and found.seconds > QUICK_SECONDS:
                self._making.add(name)
                self._sums.submit(lambda own: self._make(own, name, make))
        if found is None or (is_due and found.seconds <= QUICK_SECONDS):
            return self._make(memory, name, make)
        answer: Answer = found.answer
        return answer

    def _make(self, memory: Memory, name: str, make: Callable[[Memory], Answer]) -> Answer:
        changes, begun = self._count_changes(memory), time.perf_counter()
        try:
            answer = make(memory)
        finally:
            with self._lock:
                self._making.discard(name)
        with self._lock:
            self._kept[name] = KeptAnswer(changes, answer, time.perf_counter() - begun)
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return answer

    def _count_changes(self, memory: Memory) -> int:
        """How often somebody was seen to have written."""
        with self._lock:
            mark = memory.changed_since(self._marks.get(id(memory)))
            if mark is not None:
                self._marks[id(memory)] = mark
                self._changes += 1
            return self._changes
