"""A server from start to end: its lanes, what it does unasked, and one of the two ways in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from recollect.memory import Memory
from recollect.serve.cli.background import leave_work
from recollect.serve.mcp import http, stdio
from recollect.serve.mcp.lanes import Lane
from recollect.serve.mcp.resources import Resources
from recollect.serve.mcp.server import Server, make_server
from recollect.serve.mcp.tools import Tools

# Jobs wait until the agent has got under way; then a look now and then is enough.
FIRST_LOOK_SECONDS, LOOK_SECONDS = 20, 300


def run_stdio(
    memory: Memory, *, read_only: bool, distill: bool = False, episodes: bool = False
) -> None:
    """Serve the process that started us."""
    anyio.run(partial(_serve_stdio, memory, read_only, distill, episodes))


def run_http(
    memory: Memory, *, port: int, read_only: bool, distill: bool = False, episodes: bool = False
) -> None:
    """Serve whoever on this machine has the token."""
    door = http.open_door(memory.settings.home, port)
    anyio.run(partial(_serve_http, memory, read_only, distill, episodes, door))


async def _serve_stdio(memory: Memory, read_only: bool, distill: bool, episodes: bool) -> None:
    async with running(memory, read_only=read_only, distill=distill, episodes=episodes) as server:
        await stdio.serve(server)


async def _serve_http(
    memory: Memory, read_only: bool, distill: bool, episodes: bool, door: http.Door
) -> None:
    async with running(memory, read_only=read_only, distill=distill, episodes=episodes) as server:
        await http.serve(server, door)


@asynccontextmanager
async def running(
    memory: Memory, *, read_only: bool, distill: bool = False, episodes: bool = False
) -> AsyncIterator[Server]:
    """A server that is ready to answer with what is in this memory's store.

    Attempts are recorded by the memory itself.
    """
    folder = os.getcwd()
    reads, writes = Lane(memory, resident=True), None if read_only else Lane(memory)
    reads.leave(_warm_up)
    looking = asyncio.create_task(_look_for_jobs(writes)) if writes is not None else None
    try:
        tools = Tools(reads, writes, folder, distill=distill, records=memory if episodes else None)
        yield make_server(tools, Resources(reads))
    finally:
        if looking is not None:
            looking.cancel()
        for lane in filter(None, (reads, writes)):
            lane.close()


def _warm_up(memory: Memory) -> None:
    """Load what every search needs, and have the index of vectors
    made, before somebody waits for it.
    """
    memory.search("warm up", limit=1)


async def _look_for_jobs(writes: Lane) -> None:
    await asyncio.sleep(FIRST_LOOK_SECONDS)
    while True:
        writes.leave(_have_jobs_done)
        await asyncio.sleep(LOOK_SECONDS)


def _have_jobs_done(memory: Memory) -> None:
    """Take in what hooks left, and have waiting jobs done by another process: in
    this one they would hold up every answer.
    """
    memory.work(limit=0)
    leave_work(memory, gently=True)
