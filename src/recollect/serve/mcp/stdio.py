"""The SDK's server over pipes, for what `pipes` leaves to it.

The SDK reads its input on a thread that cannot be interrupted, so that a signal would wait for
one more line; here a thread of our own hands lines over, and nobody waits for it. It would also
drop a line that is no message without a word, and an answer that is being made when the input
ends.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, cast

import anyio
from mcp.server.stdio import stdio_server

from recollect.serve.mcp.lines import Lines, message_of
from recollect.serve.signals import on_signals

if TYPE_CHECKING:
    from recollect.serve.mcp.server import Server

# An answer that takes longer than this after the input ended is not waited for.
MOST_WAIT_SECONDS = 30


async def serve(
    server: Server,
    lines: Lines,
    out: int,
    *,
    opening: Iterable[bytes] = (),
    first: bytes | None = None,
) -> None:
    """Answer until there is nobody left to answer to.

    `opening` is how the connection began; it was answered already. `first` is the next line.
    """
    with anyio.CancelScope() as scope:
        on_signals(scope.cancel)
        pipe = _Pipe(lines, out, list(opening), [first] if first else [])
        file = cast("anyio.AsyncFile[str]", pipe)
        try:
            async with stdio_server(file, file) as (read, write):
                await server.serve(read, write)
        except* BrokenPipeError:
            # The agent is gone, and what we wanted to tell it with it.
            pass


class _Pipe:
    """Both ends as the SDK wants them: lines of text to go through, and a file to write to."""

    def __init__(self, lines: Lines, out: int, opening: list[bytes], first: list[bytes]) -> None:
        self._lines, self._out = lines, out
        self._opening, self._first = opening, first
        # Requests that wait for their answer, and whether somebody else gave it already.
        self._asked: dict[int | str, bool] = {}
        self._answered = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._opening:
            yield self._taken(line, answered=True)
        # What it has to say to that is not for the client, and must not come later.
        await self._all_answered()
        for line in self._first:
            yield self._taken(line)
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes]()
        threading.Thread(target=_hand_on, args=(self._lines, loop, queue), daemon=True).start()
        while line := await queue.get():
            if fault := message_of(line)[1]:
                await self.write(fault.decode() + "\n")
            else:
                yield self._taken(line)
        with anyio.move_on_after(MOST_WAIT_SECONDS):
            await self._all_answered()

    def _taken(self, line: bytes, *, answered: bool = False) -> str:
        message, _ = message_of(line)
        number = message.get("id")
        if message.get("method") == "notifications/cancelled":
            self._asked.pop(message.get("params", {}).get("requestId"), None)
        elif "method" in message and isinstance(number, (int, str)):
            self._asked[number] = answered
        return line.decode("utf-8", "replace")

    async def _all_answered(self) -> None:
        while self._asked:
            self._answered.clear()
            await self._answered.wait()

    async def write(self, text: str) -> None:
        """One message, unless it answers what was answered before the SDK came."""
        number = message_of(text.encode())[0].get("id")
        if not (number is not None and self._asked.get(number)):
            # On a thread that is left alone if need be: the agent may not be reading.
            await anyio.to_thread.run_sync(
                _write_all, self._out, text.encode(), abandon_on_cancel=True
            )
        if number is not None:
            self._asked.pop(number, None)
            self._answered.set()

    async def flush(self) -> None:
        """Nothing is kept back."""


def _hand_on(lines: Lines, loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[bytes]) -> None:
    try:
        for line in lines:
            loop.call_soon_threadsafe(queue.put_nowait, line)
        loop.call_soon_threadsafe(queue.put_nowait, b"")
    except RuntimeError:
        pass  # The loop has ended before its input.


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
