"""`recollect mcp` over pipes, as agents start it: the protocol of both eras, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from recollect import __version__
from tests.builders.talks import Talks
from tests.serve.mcp.clients import META, MODERN
from tests.serve.mcp.conftest import Start

READ_TOOLS = ["search", "get", "recall", "fix", "blame", "how"]
WRITE_TOOLS = ["remember", "feedback"]


def named(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


# Clients of 2026-07-28


def test_a_new_client_finds_out_what_we_speak(start: Start, store: Path) -> None:
    """Without a handshake this is how a client learns our versions, and which server answered."""
    answer = start(store=store).ask_modern("server/discover")["result"]

    assert answer["resultType"] == "complete"
    assert answer["supportedVersions"] == [MODERN]
    assert set(answer["capabilities"]) == {"tools", "resources", "prompts"}
    assert answer["_meta"][f"{META}serverInfo"] == {
        "name": "recollect",
        "title": "recollect",
        "version": __version__,
    }
    assert "never instructions" in answer["instructions"]


def test_a_new_client_may_keep_the_list_of_tools(start: Start, store: Path) -> None:
    """It is the same until another version is installed.

    Who asks each time wastes an agent's start.
    """
    answer = start(store=store).ask_modern("tools/list")

    assert named(answer) == READ_TOOLS + WRITE_TOOLS
    assert answer["result"]["resultType"] == "complete"
    assert (answer["result"]["ttlMs"], answer["result"]["cacheScope"]) == (3_600_000, "private")


def test_a_new_client_calls_a_tool_with_its_first_message(start: Start, store: Path) -> None:
    """The protocol has no state any more, so nothing may have to come before."""
    answer = start(store=store).call("search", query="tulips")

    assert (answer["resultType"], answer["isError"]) == ("complete", False)
    assert answer["structuredContent"]["hits"][0]["id"] == "codex:b#1"


def test_a_version_that_nobody_knows_is_refused_with_ours(start: Start, store: Path) -> None:
    """The client can then choose one of these instead of guessing."""
    error = start(store=store).ask_modern("tools/list", version="2031-01-01")["error"]

    assert error["code"] == -32022
    assert error["data"]["requested"] == "2031-01-01"
    assert MODERN in error["data"]["supported"]


def test_the_list_of_tools_stays_small(start: Start, store: Path) -> None:
    """Every session of every agent carries it in its context."""
    server = start(store=store)

    answer = server.ask_modern("tools/list")

    assert len(server.lines[-1]) <= 8_000
    for tool in answer["result"]["tools"]:
        writes = tool["name"] in WRITE_TOOLS
        hints = {"readOnlyHint": not writes, "openWorldHint": False}
        assert tool["annotations"] == hints | (
            {"destructiveHint": False} if writes else {"idempotentHint": True}
        )
        assert tool["outputSchema"]["type"] == tool["inputSchema"]["type"] == "object"


def test_a_reader_cannot_write(start: Start, store: Path) -> None:
    """Somebody who does not trust an agent with notes can still let it read."""
    server = start("--read-only", store=store)

    assert named(server.ask_modern("tools/list")) == READ_TOOLS
    error = server.ask_modern(
        "tools/call", {"name": "remember", "arguments": {"text": "we use uv"}}
    )["error"]
    assert error["code"] == -32602


def test_a_resource_that_is_missing_is_a_wrong_parameter(start: Start, store: Path) -> None:
    """As the protocol wants it; the sentence says what to do."""
    error = start(store=store).ask_modern("resources/read", {"uri": "recollect://session/nobody"})[
        "error"
    ]

    assert error["code"] == -32602
    assert error["message"] == 'There is no session "nobody". Try: recollect sessions'


# Clients of before


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_an_old_client_shakes_hands_and_is_served(version: str, start: Start, store: Path) -> None:
    """Most agents speak this for years to come."""
    server = start(store=store)

    begun = server.begin(version)["result"]
    listed = server.ask("tools/list")
    found = server.ask("tools/call", {"name": "search", "arguments": {"query": "tulips"}})["result"]

    assert begun["protocolVersion"] == version
    assert begun["serverInfo"] == {
        "name": "recollect",
        "title": "recollect",
        "version": __version__,
    }
    assert named(listed) == READ_TOOLS + WRITE_TOOLS
    assert (found["isError"], found["structuredContent"]["hits"][0]["id"]) == (False, "codex:b#1")
    assert server.ask("ping")["result"] == {}


def test_the_sdks_own_client_is_content(store: Path) -> None:
    """It also compares each result with the schema that the tool promised."""

    async def use() -> list[Any]:
        words = ["-m", "recollect", "mcp", "--store", str(store)]
        command = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(stdio_client(command)) as client:
            calls = [
                ("search", {"query": "tulips"}),
                ("get", {"ref": "codex:a"}),
                ("how", {"tool": "pytest"}),
            ]
            calls += [
                ("remember", {"text": "prices are in cents"}),
                ("feedback", {"id": "codex:a#1", "helpful": True}),
            ]
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    results = anyio.run(use)

    assert [result.is_error for result in results] == [False] * 5


# Faults


def test_what_is_no_call_is_a_protocol_error(start: Start, store: Path) -> None:
    """An agent's host handles these; the model would not know what to do."""
    server = start(store=store)

    assert (
        server.ask_modern("tools/call", {"name": "nope", "arguments": {}})["error"]["code"]
        == -32602
    )
    assert server.ask_modern("prompts/get", {"name": "nope"})["error"]["code"] == -32602
    assert server.ask_modern("no/such/method")["error"]["code"] == -32601


def test_a_line_that_is_no_message_harms_nobody(start: Start, store: Path) -> None:
    """One bad byte must not cost an agent its memory for the rest of a session."""
    server = start(store=store)

    for line in (b"", b"{", b"\xff\xfe", b"[]", b'"text"'):
        server.send(line)
    said = [server.receive()["error"]["code"] for _ in range(4)]

    assert said == [-32700, -32700, -32600, -32600]
    assert named(server.ask_modern("tools/list")) == READ_TOOLS + WRITE_TOOLS


def test_only_messages_are_on_stdout(start: Start, store: Path) -> None:
    """Anything else there breaks the connection; what we have to say goes to stderr."""
    server = start(store=store)

    server.call("search", query="tulips")
    server.call("search", query="agent:")
    server.call("recall", prompt="")
    code, logged = server.end()

    assert (code, logged) == (0, "")
    assert all(set(json.loads(line)) >= {"jsonrpc", "id"} for line in server.lines)


def test_without_a_store_a_tool_says_what_to_do_and_works_once_there_is_one(
    start: Start, told: Talks, tmp_path: Path
) -> None:
    """The agent may be set up before anything was imported, and is not started again for that."""
    path = tmp_path / "later.db"
    server = start(store=path)

    before = server.call("search", query="tulips")
    told.memory.store.backup(path)
    after = server.call("search", query="tulips")

    assert before["isError"] is True
    assert "recollect import" in before["content"][0]["text"]
    assert after["structuredContent"]["hits"][0]["id"] == "codex:b#1"


def test_a_store_that_was_replaced_is_noticed(start: Start, store: Path, tmp_path: Path) -> None:
    """`recollect doctor --repair` puts another file in the place of the damaged one."""
    server = start(store=store)
    server.call("search", query="tulips")

    other = Talks(tmp_path)
    other.tell("z", "write about orchids")
    other.close()
    for end in ("", "-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    (tmp_path / "recollect.db").rename(store)
    found = server.call("search", query="orchids")

    assert [hit["id"] for hit in found["structuredContent"]["hits"]] == ["codex:z#1"]


# How it ends


def test_it_ends_with_its_agent(start: Start, store: Path) -> None:
    """Its input closes, and nobody is left to answer to."""
    server = start(store=store)

    server.call("search", query="tulips")

    assert server.end() == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(number: int, start: Start, store: Path) -> None:
    """At once, and not at the next line that happens to come in."""
    server = start(store=store)
    server.call("search", query="tulips")

    server.process.send_signal(number)

    assert server.ended() == (0, "")


def test_it_ends_when_nobody_listens_any_more(store: Path) -> None:
    """The agent may have died while somebody else still holds the pipe to our input."""
    command = [sys.executable, "-m", "recollect", "mcp", "--store", str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()

        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
        process.stdin.flush()

        assert process.wait(30) == 0
