"""What is answered before the SDK is loaded, compared with what the SDK answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.mcp.pipes import META, PREBUILT
from tests.serve.mcp.clients import MODERN, Json, Pipes, initialize, meta
from tests.serve.mcp.conftest import Start

OPTIONS = [["--read-only"], ["--distill", "--episodes"]]
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: int | str, method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def old_talk(version: str, *requests: tuple[str, Json]) -> list[Json]:
    """What a client sends that shakes hands."""
    asked = [request(f"n{number}", *one) for number, one in enumerate(requests)]
    return [request(0, "initialize", initialize(version)), INITIALIZED, *asked]


def modern_talk(*requests: tuple[str, Json]) -> list[Json]:
    """What a client sends that needs no handshake."""
    return [
        request(number, method, {**params, "_meta": meta()})
        for number, (method, params) in enumerate(requests)
    ]


class SdkPipes(Pipes):
    """The SDK's server, started in the same way."""

    command = ("-m", "tests.serve.mcp.sdk_server")


def answers(server: Pipes, talk: list[Json]) -> list[Json]:
    """The answers, one after the other."""
    found = []
    for message in talk:
        server.send(json.dumps(message).encode())
        if "id" in message:
            found.append(server.receive())
    return found


def compared(talk: list[Json], store: Path, *options: str) -> tuple[list[Json], list[Json]]:
    """What we answer, and what the SDK does."""
    ours, theirs = Pipes(*options, store=store), SdkPipes(*options, store=store)
    try:
        return answers(ours, talk), answers(theirs, talk)
    finally:
        ours.kill()
        theirs.kill()


def modules(server: Pipes) -> set[str]:
    """What a server has loaded, as far as it is a file of somebody else's."""
    maps = Path(f"/proc/{server.process.pid}/maps").read_text()
    return {name for name in ("pydantic_core", "uvicorn", "faiss") if name in maps}


def test_the_prebuilt_file_is_what_the_sdk_answers(
    store: Path, request: pytest.FixtureRequest
) -> None:
    """`pytest tests/serve/mcp --update-golden` writes it again."""
    made = build(store)
    if request.config.getoption("--update-golden"):
        Path(PREBUILT).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")

    assert json.loads(Path(PREBUILT).read_text()) == made


def build(store: Path) -> Json:
    """All prebuilt answers, from the SDK's server."""
    pings = [("ping", {}), *((method, {}) for method in LISTS)]
    lists = [("server/discover", {}), *((method, {}) for method in LISTS)]
    handshakes, tools = {}, {}
    for version in VERSIONS:
        handshakes[version] = sdk(old_talk(version), store)[0]
    old, modern = sdk(old_talk(VERSIONS[-1], *pings), store)[1:], sdk(modern_talk(*lists), store)
    read = len(sdk(old_talk(VERSIONS[-1], pings[1]), store, "--read-only")[1]["tools"])
    write = len(old[1]["tools"])
    for group, options, first in (
        ("read", ["--read-only"], 0),
        ("write", [], read),
        ("distill", ["--distill"], write),
        ("episodes", ["--episodes"], write),
    ):
        listed = sdk(old_talk(VERSIONS[-1], pings[1]), store, *options)[1]["tools"]
        tools[group] = listed[first:]
    del old[1]["tools"], modern[1]["tools"]
    called = sdk(
        modern_talk(("tools/call", {"name": "search", "arguments": {"query": "x"}})), store
    )
    return {
        "initialize": handshakes,
        "old": dict(zip([method for method, _ in pings], old, strict=True)),
        "modern": dict(zip([method for method, _ in lists], modern, strict=True)),
        "complete": {name: called[0][name] for name in ("resultType", "_meta")},
        "tools": tools,
    }


def sdk(talk: list[Json], store: Path, *options: str) -> list[Any]:
    server = SdkPipes(*options, store=store)
    try:
        return [answer["result"] for answer in answers(server, talk)]
    finally:
        server.kill()


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_a_client_that_shakes_hands_gets_the_sdks_answers(options: list[str], store: Path) -> None:
    """Which of the two answers is nothing that an agent should have to know."""
    ours, theirs = compared(
        old_talk("2025-06-18", ("ping", {}), *((method, {}) for method in LISTS)), store, *options
    )

    assert ours == theirs


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_a_modern_client_gets_the_sdks_answers(options: list[str], store: Path) -> None:
    """The same for those that begin with any message."""
    talk = modern_talk(("server/discover", {}), *((method, {}) for method in LISTS))

    ours, theirs = compared(talk, store, *options)

    assert ours == theirs


CALLS: list[tuple[str, Json]] = [
    ("tools/call", {"name": "search", "arguments": {"query": "tulips"}}),
    ("tools/call", {"name": "search", "arguments": {"query": "tulips", "limit": "2"}}),
    ("tools/call", {"name": "search", "arguments": {"query": "x", "limit": 51}}),
    ("tools/call", {"name": "search", "arguments": {}}),
    ("tools/call", {"name": "search"}),
    ("tools/call", {"name": "get", "arguments": {"ref": "codex:a"}}),
    ("tools/call", {"name": "recall", "arguments": {"prompt": "", "project": None}}),
    ("tools/call", {"name": "fix", "arguments": {"error": "No module named 'stripe'"}}),
    ("tools/call", {"name": "nope", "arguments": {}}),
    ("tools/call", {"name": "how", "arguments": ["pytest"]}),
    ("tools/call", {}),
]


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1], MODERN])
def test_calls_are_answered_alike_by_both(version: str, store: Path) -> None:
    """Also calls that make no sense, wherever in a connection the SDK has to take over."""
    talk = modern_talk(*CALLS) if version == MODERN else old_talk(version, *CALLS)

    ours, theirs = compared(talk, store)

    assert ours == theirs


FRESH: list[Json] = []
OLD, NEW = old_talk("2025-11-25"), modern_talk(("tools/list", {}))


@pytest.mark.parametrize(
    ("before", "odd"),
    [
        (FRESH, request(1, "tools/list", {})),
        (FRESH, request(1, "initialize", {})),
        (FRESH, request(1, "initialize", initialize("1999-01-01"))),
        (FRESH, request(1, "tools/list", {"_meta": {f"{META}protocolVersion": MODERN}})),
        (OLD, request(1, "initialize", initialize("2025-11-25"))),
        (OLD, request(1, "tools/list", {"_meta": 7})),
        (OLD, request(1, "tools/list", {"_meta": meta()})),
        (OLD, request(1, "resources/read", {"uri": "recollect://session/a"})),
        (NEW, request(1, "no/such/method", {"_meta": meta()})),
        (NEW, request(1, "initialize", initialize("2025-11-25"))),
        (NEW, request(1, "tools/list", {"_meta": meta("2031-01-01")})),
    ],
    ids=str,
)
def test_what_is_unusual_is_answered_by_the_sdk(before: list[Json], odd: Json, store: Path) -> None:
    """It knows how the connection began, and the client does not notice."""
    then = request(9, "tools/list", {"_meta": meta()} if before is NEW else {})

    ours, theirs = compared([*before, odd, then], store)

    assert ours == theirs


def test_the_sdk_is_not_loaded_for_what_agents_do(start: Start, store: Path) -> None:
    """It takes most of a second and sixty megabytes, in every session of every agent."""
    server = start(store=store)

    server.begin()
    server.ask("tools/list")
    server.ask("tools/call", {"name": "search", "arguments": {"query": "tulips"}})
    before = modules(server)
    server.ask("no/such/method")

    assert before == set()
    assert "pydantic_core" in modules(server)


def test_a_list_of_tools_loads_little(store: Path) -> None:
    """An agent waits for it at its start; what searches need comes afterwards."""
    talk = "\n".join(map(json.dumps, old_talk("2025-11-25")))
    names = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "recollect", "mcp", "--store", str(store)],
        input=talk.encode(), capture_output=True, check=True,
    ).stderr.decode()  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in names.splitlines()}

    heavy = {"mcp", "mcp_types", "pydantic", "asyncio", "anyio", "starlette", "uvicorn", "httpx"}
    assert loaded & (heavy | {"numpy", "faiss", "recollect.serve.mcp.tools"}) == set()


@pytest.mark.parametrize("before", [[], modern_talk(("no/such/method", {}))], ids=["ours", "sdk"])
def test_a_line_that_is_no_message_is_said_to_be_none(
    before: list[Json], start: Start, store: Path
) -> None:
    """A client that made a mistake can find it."""
    server = start(store=store)
    answers(server, before)
    errors = []
    for line in (b"{", b"\xff\xfe", b"[]", b'"text"'):
        server.send(line)
        errors.append(server.receive())

    assert [(one["id"], one["error"]["code"]) for one in errors] == [
        (None, -32700), (None, -32700), (None, -32600), (None, -32600),
    ]  # fmt: skip


@pytest.mark.parametrize("before", [[], modern_talk(("no/such/method", {}))], ids=["ours", "sdk"])
def test_an_answer_in_flight_at_the_end_is_delivered(
    before: list[Json], start: Start, store: Path
) -> None:
    """A script may send its question and close its end at once."""
    server = start(store=store)
    answers(server, before)
    call = {"name": "search", "arguments": {"query": "tulips"}, "_meta": meta()}

    server.send(json.dumps(request(7, "tools/call", call)).encode())
    code, logged = server.end()

    assert (code, logged) == (0, "")
    answer = json.loads(server.lines[-1])
    assert (answer["id"], answer["result"]["isError"]) == (7, False)
