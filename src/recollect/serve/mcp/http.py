"""Serving over HTTP: on this machine only, and only for those who have the token.

Other users of the machine are kept out by the token, which is in a file that
only its owner can read.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from recollect.errors import FileRefused
from recollect.memory import Memory
from recollect.serve import loopback
from recollect.serve.loopback import HOST
from recollect.serve.mcp.run import running_server
from recollect.system import platforms

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from recollect.serve.mcp.server import Server

PATH = "/mcp"
TOKEN_FILE = "mcp-token"
TOKEN_BYTES = 32


@dataclass
class Endpoint:
    """Where we listen, and the token that is asked for there."""

    socket: socket.socket
    token: str
    token_path: str

    @property
    def port(self) -> int:
        """The port, also when any free one was asked for."""
        return loopback.port_of(self.socket)

    @property
    def hosts(self) -> list[str]:
        """The names by which this machine calls us."""
        return loopback.hosts_of(self.port)


def listen(home: str, port: int) -> Endpoint:
    """Take the port, on loopback alone, and find the token."""
    path = os.path.join(home, TOKEN_FILE)
    token = ensure_token(path)
    return Endpoint(loopback.take_port(port), token, path)


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


def make_app(server: Server, endpoint: Endpoint) -> Guard:
    """The application behind its guard."""
    hosts = TransportSecuritySettings(
        allowed_hosts=endpoint.hosts, allowed_origins=[f"http://{host}" for host in endpoint.hosts]
    )
    return Guard(
        server.streamable_http_app(streamable_http_path=PATH, transport_security=hosts), endpoint
    )


def run(memory: Memory, port: int, *, read_only: bool, distill: bool, episodes: bool) -> None:
    """Serve whoever on this machine has the token."""
    endpoint = listen(memory.settings.home, port)

    async def answer() -> None:
        async with running_server(
            memory, read_only=read_only, distill=distill, episodes=episodes
        ) as server:
            await serve(server, endpoint)

    anyio.run(answer)


async def serve(server: Server, endpoint: Endpoint) -> None:
    """Answer until we are told to end."""
    where = f"http://{HOST}:{endpoint.port}{PATH}  (the token is in {endpoint.token_path})"
    await loopback.serve(make_app(server, endpoint), endpoint.socket, where=where)
