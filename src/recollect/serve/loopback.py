"""Listening on this machine alone, as `mcp --http` and `web` do.

A port on loopback is open to every user of the machine and to every web page
in its browsers. A page may send us requests, and with a DNS name that it has
pointed here it may even read the answers; so both servers first look at whether
a request was meant for us (Host) and comes from none but us (Origin), and then
ask for a token.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.errors import EXIT_UNAVAILABLE, RecollectError
from recollect.serve.output import say
from recollect.serve.signals import on_signals
from recollect.system import platforms

if TYPE_CHECKING:
    from asyncio import Transport
    from asyncio.events import TimerHandle
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

HOST = "127.0.0.1"
# A stream that a client keeps open must not keep us from ending.
FAREWELL_SECONDS = 1
# A request is sent by a program on this machine; one that takes longer is not meant to end.
REQUEST_SECONDS = 20.0


class PortTaken(RecollectError):
    """Somebody else listens there, perhaps an earlier server of ours."""

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, port: int, detail: str) -> None:
        super().__init__(
            f"Cannot listen on port {port}: {detail}.",
            hint="Choose another with --port; 0 takes any free one.",
        )


def take_port(port: int) -> socket.socket:
    """A socket that listens on loopback alone; 0 takes any free port."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if not platforms.WINDOWS:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        # Whoever reads where we are may come at once.
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        raise PortTaken(port, getattr(error, "strerror", None) or str(error)) from error
    return listening


def port_of(listening: socket.socket) -> int:
    """The port of a socket, also when any free one was asked for."""
    return int(listening.getsockname()[1])


def hosts_of(port: int) -> list[str]:
    """The names by which this machine calls whoever listens on a port."""
    return [f"{name}:{port}" for name in (HOST, "localhost", "[::1]")]


class _Connection(H11Protocol):
    """Closed when a request is not whole in time, its head and its body together.

    Otherwise anybody on this machine could hold all our connections open, with
    a byte now and then and without the token.
    """

    request_seconds = REQUEST_SECONDS
    _deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._keep_time()

    def handle_events(self) -> None:
        super().handle_events()
        self._keep_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_time()
        super().connection_lost(exc)

    def _keep_time(self) -> None:
        # Between two requests the time of `timeout_keep_alive` runs.
        waits = self.timeout_keep_alive_task is None
        if not waits or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_time()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self.transport.abort)

    def _stop_time(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Listener(uvicorn.Server):
    """Ends when we say so; signals are ours. While nobody asks it sleeps: uvicorn's own loop
    looks ten times a second whether it should end.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._told_to_end = asyncio.Event()

    def stop(self) -> None:
        """Have it end."""
        self.should_exit = True
        self._told_to_end.set()

    async def main_loop(self) -> None:
        """Wait until it should end."""
        await self._told_to_end.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def make_config(app: ASGIApp, *, request_seconds: float = REQUEST_SECONDS) -> uvicorn.Config:
    """How an application is served; who takes longer to ask than `request_seconds` is closed."""
    connection: Any = type("_TimedConnection", (_Connection,), {"request_seconds": request_seconds})
    return uvicorn.Config(
        app,
        http=connection,
        ws="none",
        log_level="warning",
        access_log=False,
        # Kept up to date by the loop that we do without.
        date_header=False,
        timeout_graceful_shutdown=FAREWELL_SECONDS,
    )


async def serve(
    app: ASGIApp,
    listening: socket.socket,
    *,
    where: str,
    stopping: Callable[[], object] | None = None,
) -> None:
    """Say where we are, and answer until we are told to end; who keeps a stream open is told."""
    listener = Listener(make_config(app))

    def stop() -> None:
        listener.stop()
        if stopping is not None:
            stopping()

    on_signals(stop)
    # Whoever reads this may tell us to end at once.
    say(where)
    await listener.serve(sockets=[listening])
