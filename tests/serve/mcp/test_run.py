"""What a server does besides answering: work that waits, and a memory for each thread."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import anyio
import pytest

from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.serve.mcp.run import have_jobs_done
from recollect.serve.memory_thread import MemoryThread
from recollect.system import platforms
from recollect.system.clock import now_ms

WAIT_SECONDS = 30


def test_waiting_jobs_are_done_by_another_process(store: Path) -> None:
    """In this one they would hold up every answer."""
    with Memory.open(store) as memory:
        memory._shared.store().jobs.enqueue("optimize", "")

        have_jobs_done(memory)

        until = time.monotonic() + WAIT_SECONDS
        while memory.jobs.all() and time.monotonic() < until:
            time.sleep(0.05)
        assert memory.jobs.all() == []


def test_no_process_is_started_for_jobs_that_are_not_due(store: Path) -> None:
    """A server looks every few minutes, and mostly there is nothing to do."""
    with Memory.open(store) as memory:
        memory.jobs.work()
        memory._shared.store().jobs.enqueue("optimize", "", at=now_ms() + 3_600_000)
        before = list(platforms._started)

        have_jobs_done(memory)

        assert platforms._started == before


def test_a_memory_thread_answers_on_one_thread_of_its_own(store: Path) -> None:
    """A memory belongs to the thread that opened it."""

    async def ask() -> set[int]:
        thread = MemoryThread(Memory.open(store))
        seen: set[int] = set()

        async def one() -> None:
            seen.add(await thread.ask(lambda memory: threading.get_ident()))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(one)
        thread.close()
        return seen

    (thread,) = anyio.run(ask)

    assert thread != threading.get_ident()


def test_a_task_that_fails_costs_nothing_else(store: Path, tmp_path: Path) -> None:
    """Nobody waits for it, so nobody could be told."""

    async def ask() -> int:
        thread = MemoryThread(Memory.open(tmp_path / "missing.db"))
        thread.submit(lambda memory: memory.search("x"))
        with pytest.raises(RecollectError):
            await thread.ask(lambda memory: memory.search("x"))
        answer = await thread.ask(lambda memory: 7)
        thread.close()
        thread.close()
        return answer

    assert anyio.run(ask) == 7
