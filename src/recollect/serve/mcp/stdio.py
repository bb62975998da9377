"""Serving the agent that started us, over its pipes.

We end when the agent closes our input, when it no longer takes our output, or
when we are told to. The SDK reads its input on a thread that cannot be
interrupted, so that a signal would wait for one more line; here a thread of
our own hands lines over, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

import anyio
from mcp.server.stdio import stdio_server

from recollect.serve.signals import on_signals

if TYPE_CHECKING:
    from recollect.serve.mcp.server import Server

CHUNK_BYTES = 1 << 16


async def serve(server: Server) -> None:
    """Answer until there is nobody left to answer to."""
    with anyio.CancelScope() as scope:
        on_signals(scope.cancel)
        lines = cast("anyio.AsyncFile[str]", _lines(sys.stdin.fileno()))
        try:
            async with stdio_server(lines) as (read, write):
                await server.serve(read, write)
        except* BrokenPipeError:
            # The agent is gone, and what we wanted to tell it with it.
            pass


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """The lines that come in, until there are no more."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        # Unbuffered: a buffer would be locked by this thread when Python ends.
        while True:
            try:
                chunk = os.read(descriptor, CHUNK_BYTES)
            except OSError:
                chunk = b""
            try:
                loop.call_soon_threadsafe(queue.put_nowait, chunk)
            except RuntimeError:
                return
            if not chunk:
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    rest = bytearray()
    while chunk := await queue.get():
        rest += chunk
        if b"\n" in chunk:
            *whole, tail = bytes(rest).split(b"\n")
            rest = bytearray(tail)
            for line in filter(bytes.strip, whole):
                yield line.decode("utf-8", "replace")
    if rest.strip():
        yield rest.decode("utf-8", "replace")
