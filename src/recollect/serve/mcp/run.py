"""What a server runs with: its threads, and what it does unasked."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from recollect.memory import Memory
from recollect.serve.background import leave_work
from recollect.serve.memory_thread import MemoryThread

if TYPE_CHECKING:
    from recollect.serve.mcp.server import Server

# Jobs wait until the agent has got under way; then a look now and then is enough.
FIRST_LOOK_SECONDS, LOOK_SECONDS = 20, 300


@contextmanager
def memory_threads(
    memory: Memory, *, read_only: bool
) -> Iterator[tuple[MemoryThread, MemoryThread | None]]:
    """The threads that answer: one reads, one writes, and a third has waiting jobs done."""
    reads, writes = MemoryThread(memory, resident=True), None if read_only else MemoryThread(memory)
    ended = threading.Event()
    if writes is not None:
        threading.Thread(
            target=_look_for_jobs, args=(writes, ended), name="jobs", daemon=True
        ).start()
    try:
        yield reads, writes
    finally:
        ended.set()
        for thread in filter(None, (reads, writes)):
            thread.close()


@asynccontextmanager
async def running_server(
    memory: Memory, *, read_only: bool, distill: bool = False, episodes: bool = False
) -> AsyncIterator[Server]:
    """The SDK's server, ready to answer with what is in this memory's store.

    Attempts are recorded by the memory itself.
    """
    from recollect.serve.mcp.resources import Resources
    from recollect.serve.mcp.server import make_server
    from recollect.serve.mcp.tools import Tools

    with memory_threads(memory, read_only=read_only) as (reads, writes):
        reads.submit(warm_up)
        tools = Tools(
            reads, writes, os.getcwd(), distill=distill, records=memory if episodes else None
        )
        yield make_server(tools, Resources(reads))


def warm_up(memory: Memory) -> None:
    """Load what every search needs, and have the index of vectors
    made, before somebody waits for it.
    """
    memory.search("warm up", limit=1)


def _look_for_jobs(writes: MemoryThread, ended: threading.Event) -> None:
    wait_seconds = FIRST_LOOK_SECONDS
    while not ended.wait(wait_seconds):
        writes.submit(have_jobs_done)
        wait_seconds = LOOK_SECONDS


def have_jobs_done(memory: Memory) -> None:
    """Take in what hooks left, and have waiting jobs done by another process: in
    this one they would hold up every answer.
    """
    memory.jobs.work(limit=0)
    leave_work(memory, gently=True)
