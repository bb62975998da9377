"""`recollect mcp --http`: who is served, who is turned away, and the
protocol of both eras behind that.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from recollect.errors import FileRefused
from recollect.serve.cli import main
from recollect.serve.loopback import REQUEST_SECONDS, PortTaken, make_config
from recollect.serve.mcp.http import ensure_token, listen
from tests.serve.mcp.clients import MODERN, Json, initialize, meta

WAIT_SECONDS = 30


class Listening:
    """A server as somebody starts it by hand, and a client that sends exactly what a test says."""

    def __init__(self, store: Path, *options: str) -> None:
        command = [
            sys.executable, "-m", "recollect", "mcp", "--http", "--port", "0", "--store",
            str(store), *options,
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.fullmatch(
            r"http://127\.0\.0\.1:(\d+)/mcp  \(the token is in (.+)\)\n", self.said
        )
        assert found, self.said
        self.port, self.token_path = int(found[1]), Path(found[2])
        self.token = self.token_path.read_text()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def send(self, method: str, body: Json | None = None, **headers: str | None) -> tuple[int, str]:
        """Status and body; a header that is None is left out.

        What a client that belongs here sends is filled in.
        """
        sent: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        connection.putrequest(method, "/mcp", skip_host=True, skip_accept_encoding=True)
        data = b"" if body is None else json.dumps(body).encode()
        for name, value in {**sent, "Content-Length": str(len(data))}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def ask(
        self,
        method: str,
        params: Json | None = None,
        *,
        name: str | None = None,
        **headers: str | None,
    ) -> tuple[int, Json]:
        """A request of the new protocol.

        Its headers agree with its body unless a test says otherwise.
        """
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": method,
            "params": {**(params or {}), "_meta": meta()},
        }
        agreeing = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | (
            {"Mcp-Name": name} if name else {}
        )
        status, text = self.send("POST", body, **{**agreeing, **headers})
        return status, json.loads(text)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_SECONDS)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def listening(told: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    folder = tmp_path_factory.mktemp("listening")
    told.memory.store.backup(folder / "copy.db")
    before = os.environ.get("RECOLLECT_HOME")
    os.environ["RECOLLECT_HOME"] = str(folder / "home")
    made = Listening(folder / "copy.db")
    if before is None:
        del os.environ["RECOLLECT_HOME"]
    yield made
    made.close()


PING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-11-25")}


# Who is turned away


@pytest.mark.parametrize(
    "host", ["evil.example.com", "evil.example.com:{port}", "127.0.0.1", "127.0.0.1:1", ""]
)
def test_a_name_that_was_pointed_here_opens_nothing(host: str, listening: Listening) -> None:
    """DNS rebinding: a page's own name leads to this machine, and the browser
    thinks that we are the page's server.
    """
    status, text = listening.send("POST", PING, Host=host.format(port=listening.port))

    assert (status, text) == (421, "Call this server by the names of this machine only.\n")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example.com", "https://127.0.0.1:{port}", "http://localhost:3000",
        "http://127.0.0.1", "null", "file://",
    ],
)  # fmt: skip
def test_a_web_page_is_not_served(origin: str, listening: Listening) -> None:
    """Cross-origin: even with the token, which a page cannot have, and
    from another port of this machine.
    """
    status, _ = listening.send("POST", PING, Origin=origin.format(port=listening.port))

    assert status == 403


def test_a_browser_that_asks_beforehand_is_told_nothing(listening: Listening) -> None:
    """No header of ours may allow a page to go on."""
    status, text = listening.send(
        "OPTIONS", Origin="http://evil.example.com", Access_Control_Request_Method="POST"
    )

    assert (status, text) == (403, "This server has no web pages.\n")


@pytest.mark.parametrize(
    "given",
    [
        None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}",
        "Bearer {token}x", "Bearer é",
    ],
)  # fmt: skip
def test_without_the_token_nobody_is_served(given: str | None, listening: Listening) -> None:
    """Another user of the machine can reach the port, and cannot read the file."""
    status, text = listening.send(
        "POST", PING, Authorization=given.format(token=listening.token) if given else given
    )

    assert (status, text) == (401, "A bearer token is needed.\n")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT"])
def test_no_method_goes_around_the_guard(method: str, listening: Listening) -> None:
    """The stream of an old client is a GET, and ends with a DELETE."""
    assert listening.send(method, Authorization=None)[0] == 401
    assert listening.send(method, Host="evil.example.com")[0] == 421


def test_who_belongs_here_is_served_by_any_of_our_names(listening: Listening) -> None:
    """And a page that we might serve one day would be allowed to ask."""
    for name in ("127.0.0.1", "localhost", "[::1]"):
        host = f"{name}:{listening.port}"
        assert listening.send("POST", PING, Host=host, Origin=f"http://{host}")[0] == 200


def test_it_listens_on_this_machine_only(listening: Listening) -> None:
    """Nobody on the network can even knock."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("only Linux tells who listens where")

    local = [line.split()[1] for line in table.read_text().splitlines()[1:]]

    assert {address for address in local if address.endswith(f":{listening.port:04X}")} == {
        f"0100007F:{listening.port:04X}"
    }


# The token


def test_the_token_is_a_file_for_its_owner_and_is_not_shown(listening: Listening) -> None:
    """What is printed ends up in logs and screenshots."""
    assert stat.S_IMODE(listening.token_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(listening.token_path.parent.stat().st_mode) == 0o700
    assert listening.token not in listening.said
    assert len(listening.token) >= 40


def test_the_token_is_made_once(tmp_path: Path) -> None:
    """Clients have it in their settings."""
    path = tmp_path / "home" / "mcp-token"

    first = ensure_token(str(path))

    assert ensure_token(str(path)) == first
    assert os.listdir(path.parent) == ["mcp-token"]


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """It is no secret any more."""
    path = tmp_path / "mcp-token"
    ensure_token(str(path))
    path.chmod(0o644)

    with pytest.raises(FileRefused, match="must be a file that only you can read"):
        ensure_token(str(path))


def test_a_token_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    """Somebody may have put a link there, to a file that he knows."""
    known = tmp_path / "known"
    known.write_text("k" * 64)
    known.chmod(0o600)
    (tmp_path / "mcp-token").symlink_to(known)

    with pytest.raises(FileRefused):
        ensure_token(str(tmp_path / "mcp-token"))


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away"
)
def test_a_token_that_belongs_to_somebody_else_is_refused(tmp_path: Path) -> None:
    """He can read it, whatever its permissions say."""
    path = tmp_path / "mcp-token"
    ensure_token(str(path))
    os.chown(path, 65534, -1)

    with pytest.raises(FileRefused):
        ensure_token(str(path))


def test_an_empty_token_is_refused(tmp_path: Path) -> None:
    """It would let everybody in."""
    path = tmp_path / "mcp-token"
    path.touch(0o600)

    with pytest.raises(FileRefused, match="contains no token"):
        ensure_token(str(path))


def test_a_port_that_is_taken_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever listens there instead must not be mistaken for us."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        with pytest.raises(PortTaken):
            listen(str(tmp_path), port)
        assert main(["mcp", "--http", "--port", str(port)]) == 69
    assert main(["mcp", "--http", "--port", "70000"]) == 69

    assert capsys.readouterr().err.endswith("Choose another with --port; 0 takes any free one.\n")


# The protocol behind the guard


def test_old_and_new_clients_are_served_by_one_server(listening: Listening) -> None:
    """Agents change over at their own pace."""
    _, old = listening.send("POST", PING)
    status, new = listening.ask("server/discover")

    assert '"protocolVersion":"2025-11-25"' in old
    assert (status, new["result"]["supportedVersions"]) == (200, [MODERN])


def test_a_tool_answers_over_http_as_over_pipes(listening: Listening) -> None:
    """It is the same server."""
    call = {"name": "search", "arguments": {"query": "tulips"}}

    status, answer = listening.ask("tools/call", call, name="search")

    assert (status, answer["result"]["resultType"]) == (200, "complete")
    assert answer["result"]["structuredContent"]["hits"][0]["id"] == "codex:b#1"


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": None},
        {"Mcp-Name": "remember"},
        {"Mcp-Name": None},
    ],
)
def test_headers_that_disagree_with_the_body_are_refused(
    headers: dict[str, str | None], listening: Listening
) -> None:
    """Something on the way may have let it pass for what the headers said it was."""
    call = {"name": "search", "arguments": {"query": "tulips"}}

    status, answer = listening.ask("tools/call", call, name="search", **headers)

    assert (status, answer["error"]["code"]) == (400, -32020)


def test_a_version_that_nobody_knows_is_refused_with_ours(listening: Listening) -> None:
    """The client can choose one of these."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {"_meta": meta("2031-01-01")},
    }

    status, text = listening.send(
        "POST", body, **{"MCP-Protocol-Version": "2031-01-01", "Mcp-Method": "tools/list"}
    )

    error = json.loads(text)["error"]
    assert (status, error["code"], error["data"]["supported"]) == (400, -32022, [MODERN])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_own_client_is_content(mode: Any, listening: Listening) -> None:
    """In both eras; it compares each result with the schema that the tool promised."""

    async def use() -> list[Any]:
        headers = {"Authorization": f"Bearer {listening.token}"}
        async with (
            create_mcp_http_client(headers=headers) as sender,
            Client(
                streamable_http_client(listening.address, http_client=sender), mode=mode
            ) as client,
        ):
            tools = await client.list_tools()
            return [
                [tool.name for tool in tools.tools],
                await client.call_tool("search", {"query": "tulips"}),
            ]

    names, found = anyio.run(use)

    assert names[0] == "search"
    assert (found.is_error, found.structured_content["hits"][0]["id"]) == (False, "codex:b#1")


def test_it_ends_when_it_is_told_to(store: Path) -> None:
    """Also while a client keeps a stream open."""
    made = Listening(store)
    try:
        with socket.create_connection(("127.0.0.1", made.port)):
            assert made.end() == 0
    finally:
        made.close()


# Clients that take their time


async def closed_after(port: int, first: bytes, then: bytes, *, every: float = 0.05) -> float:
    """How long a client is listened to that goes on with a byte now and then."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    start = time.monotonic()
    writer.write(first)
    end = asyncio.create_task(reader.read())
    while not end.done() and time.monotonic() < start + WAIT_SECONDS:
        with contextlib.suppress(ConnectionError):
            writer.write(then)
            await writer.drain()
        await asyncio.wait([end], timeout=every)
    writer.close()
    return time.monotonic() - start


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers when the whole body is there, and takes longer for that than a client may."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(2 * SHORT_SECONDS)
    length = [(b"content-length", b"4")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": b"done"})


SHORT_SECONDS = 0.4
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


def test_a_client_that_never_ends_its_request_is_closed() -> None:
    """In its head or in its body, whatever it sends meanwhile; nobody needs the token for that.

    One whose request is whole waits as long as the answer takes, also on a
    connection that it used before.
    """

    async def use() -> tuple[list[float], list[bytes]]:
        config = make_config(echo, request_seconds=SHORT_SECONDS)
        config.load()
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(config)
        port = listening.getsockname()[1]
        running = asyncio.create_task(server._serve(sockets=[listening]))
        slow = await asyncio.gather(
            closed_after(port, b"", b""),
            closed_after(port, HEAD, b"x"),
            closed_after(port, HEAD + b"Content-Length: 9000\r\n\r\n", b"x"),
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answers = []
        for _ in range(2):
            writer.write(HEAD + b"Content-Length: 2\r\n\r\nab")
            answers.append((await reader.readuntil(b"done"))[:15])
        writer.close()
        server.should_exit = True
        await running
        return list(slow), answers

    slow, answers = asyncio.run(use())

    assert all(SHORT_SECONDS * 0.9 <= seconds < 5 for seconds in slow), slow
    assert answers == [b"HTTP/1.1 200 OK"] * 2


def test_a_request_has_twenty_seconds() -> None:
    """Enough for any program on this machine."""
    assert REQUEST_SECONDS == 20


def test_a_server_that_nobody_asks_sleeps(store: Path) -> None:
    """It may be left open for days."""
    server = Listening(store)
    try:
        time.sleep(3)
        before = slept(server.process.pid)
        time.sleep(2)
        woken = slept(server.process.pid) - before
    finally:
        server.process.terminate()
        server.process.communicate()

    assert woken <= 2


def slept(process: int) -> int:
    """How often the first thread of a process has given up its core by itself."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("counts what /proc tells")
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[0])
