"""A server from start to end: its threads, what it does unasked, and one of the two ways in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from recollect.memory import Memory
from recollect.serve.background import leave_work
from recollect.serve.mcp import http, stdio
from recollect.serve.mcp.resources import Resources
from recollect.serve.mcp.server import Server, make_server
from recollect.serve.mcp.tools import Tools
from recollect.serve.memory_thread import MemoryThread

# Jobs wait until the agent has got under way; then a look now and then is enough.
FIRST_LOOK_SECONDS, LOOK_SECONDS = 20, 300


def run(
    memory: Memory,
    *,
    port: int | None,
    read_only: bool,
    distill: bool = False,
    episodes: bool = False,
) -> None:
    """Serve the process that started us; with a port, whoever on this machine has the token."""
    endpoint = http.listen(memory.settings.home, port) if port is not None else None

    async def serve() -> None:
        async with running_server(
            memory, read_only=read_only, distill=distill, episodes=episodes
        ) as server:
            if endpoint is not None:
                await http.serve(server, endpoint)
            else:
                await stdio.serve(server)

    anyio.run(serve)


@asynccontextmanager
async def running_server(
    memory: Memory, *, read_only: bool, distill: bool = False, episodes: bool = False
) -> AsyncIterator[Server]:
    """A server that is ready to answer with what is in this memory's store.

    Attempts are recorded by the memory itself.
    """
    folder = os.getcwd()
    reads, writes = MemoryThread(memory, resident=True), None if read_only else MemoryThread(memory)
    reads.submit(_warm_up)
    looking = asyncio.create_task(_look_for_jobs(writes)) if writes is not None else None
    try:
        tools = Tools(reads, writes, folder, distill=distill, records=memory if episodes else None)
        yield make_server(tools, Resources(reads))
    finally:
        if looking is not None:
            looking.cancel()
        for thread in filter(None, (reads, writes)):
            thread.close()


def _warm_up(memory: Memory) -> None:
    """Load what every search needs, and have the index of vectors
    made, before somebody waits for it.
    """
    memory.search("warm up", limit=1)


async def _look_for_jobs(writes: MemoryThread) -> None:
    await asyncio.sleep(FIRST_LOOK_SECONDS)
    while True:
        writes.submit(have_jobs_done)
        await asyncio.sleep(LOOK_SECONDS)


def have_jobs_done(memory: Memory) -> None:
    """Take in what hooks left, and have waiting jobs done by another process: in
    this one they would hold up every answer.
    """
    memory.jobs.work(limit=0)
    leave_work(memory, gently=True)
