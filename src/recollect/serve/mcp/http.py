"""Serving over HTTP: on this machine only, and only for those who have the token.

A port on loopback is open to every user of the machine and to every web page
in its browsers. A page may send us requests, and with a DNS name that it has
pointed here it may even read the answers; so the first thing looked at is
whether the request was meant for us (Host) and comes from none but us
(Origin). Other users are kept out by the token, which is in a file that only
its owner can read.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.errors import EXIT_UNAVAILABLE, FileRefused, RecollectError
from recollect.serve.mcp.stdio import on_signals
from recollect.serve.output import say
from recollect.system import platforms

if TYPE_CHECKING:
    from asyncio import Transport
    from asyncio.events import TimerHandle
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from recollect.serve.mcp.server import Server

HOST, PATH = "127.0.0.1", "/mcp"
TOKEN_FILE = "mcp-token"
TOKEN_BYTES = 32
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


@dataclass
class Endpoint:
    """Where we listen, and the token that is asked for there."""

    socket: socket.socket
    token: str
    token_path: str

    @property
    def port(self) -> int:
        """The port, also when any free one was asked for."""
        return int(self.socket.getsockname()[1])

    @property
    def hosts(self) -> list[str]:
        """The names by which this machine calls us."""
        return [f"{name}:{self.port}" for name in (HOST, "localhost", "[::1]")]


def listen(home: str, port: int) -> Endpoint:
    """Take the port, on loopback alone, and find the token."""
    path = os.path.join(home, TOKEN_FILE)
    token = ensure_token(path)
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
    return Endpoint(listening, token, path)


def ensure_token(path: str) -> str:
    """The token, made at first use.

    A file that others could have written or can read is refused.
    """
    platforms.private_folder(os.path.dirname(path))
    if not os.path.lexists(path):
        _make_token(path)
    return _read_token(path)


def _make_token(path: str) -> None:
    partial = f"{path}.{secrets.token_hex(4)}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(TOKEN_BYTES))
        # All or nothing, and never over one that is there: two servers may start at once.
        os.link(partial, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(partial)


def _read_token(path: str) -> str:
    found = os.lstat(path)
    own = platforms.WINDOWS or found.st_uid == os.getuid()
    if not stat.S_ISREG(found.st_mode) or not own or platforms.open_to_others(path):
        raise FileRefused(
            f"{path} must be a file that only you can read.",
            hint="Delete it: the next start makes a new token.",
        )
    with open(path, encoding="ascii", errors="replace") as file:
        token = file.read().strip()
    if len(token) < TOKEN_BYTES:
        raise FileRefused(
            f"{path} contains no token.", hint="Delete it; the next start makes a new one."
        )
    return token


class Guard:
    """Turns away, in this order, what is not meant for us, what a web
    page sent, and who has no token.
    """

    def __init__(self, app: ASGIApp, endpoint: Endpoint) -> None:
        self._app, self._token = app, endpoint.token.encode()
        self._hosts = set(endpoint.hosts)
        self._origins = {f"http://{host}" for host in endpoint.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return PlainTextResponse("Call this server by the names of this machine only.\n", 421)
        if not self._origins.issuperset(origins):
            return PlainTextResponse("This server has no web pages.\n", 403)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not compare_digest(
            token.strip().encode("utf-8", "replace"), self._token
        ):
            return PlainTextResponse(
                "A bearer token is needed.\n", 401, {"WWW-Authenticate": "Bearer"}
            )
        return None


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


class _Listener(uvicorn.Server):
    """Ends when we say so; signals are ours."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def make_app(server: Server, endpoint: Endpoint) -> Guard:
    """The application behind its guard."""
    hosts = TransportSecuritySettings(
        allowed_hosts=endpoint.hosts, allowed_origins=[f"http://{host}" for host in endpoint.hosts]
    )
    return Guard(
        server.streamable_http_app(streamable_http_path=PATH, transport_security=hosts), endpoint
    )


def make_config(app: ASGIApp, *, request_seconds: float = REQUEST_SECONDS) -> uvicorn.Config:
    """How an application is served; who takes longer to ask than `request_seconds` is closed."""
    connection: Any = type("_TimedConnection", (_Connection,), {"request_seconds": request_seconds})
    return uvicorn.Config(
        app,
        http=connection,
        ws="none",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=FAREWELL_SECONDS,
    )


async def serve(server: Server, endpoint: Endpoint) -> None:
    """Answer until we are told to end."""
    listener = _Listener(make_config(make_app(server, endpoint)))

    def stop() -> None:
        listener.should_exit = True

    on_signals(stop)
    say(f"http://{HOST}:{endpoint.port}{PATH}  (the token is in {endpoint.token_path})")
    await listener.serve(sockets=[endpoint.socket])
