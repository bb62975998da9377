"""What can be read by address."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.memory import Memory
from tests.builders.hooks import within_frame
from tests.builders.talks import SHOP
from tests.serve.mcp.clients import Pipes
from tests.serve.mcp.conftest import Start


@pytest.fixture
def server(start: Start, store: Path) -> Pipes:
    with Memory.open(store) as memory:
        memory.notes.add("prices are kept in cents", category="decision", project=SHOP, by="person")
        memory.notes.add("prices may be negative", category="decision", project=SHOP, by="agent")
    return start(store=store)


def read(server: Pipes, uri: str) -> str:
    result = server.ask_modern("resources/read", {"uri": uri})["result"]
    (content,) = result["contents"]
    assert (result["resultType"], result["cacheScope"], content["mimeType"]) == (
        "complete",
        "private",
        "text/markdown",
    )
    text: str = content["text"]
    return text


def test_the_addresses_are_listed(server: Pipes) -> None:
    """A host can offer them to its user."""
    listed = server.ask_modern("resources/templates/list")["result"]

    assert [template["uriTemplate"] for template in listed["resourceTemplates"]] == [
        "recollect://session/{+id}",
        "recollect://project/{+key}/memory",
    ]
    assert (listed["ttlMs"], listed["cacheScope"]) == (3_600_000, "private")


def test_a_session_is_its_outline(server: Pipes) -> None:
    """Framed like everything else that comes from a log."""
    lines = read(server, "recollect://session/codex:b").splitlines()

    assert lines[:2] == ["# codex:b", ""]
    assert within_frame("\n".join(lines[2:])) == lines[3:-1]
    assert [line.partition("): ")[2] for line in lines[4:-1]] == [
        "write a post about tulips",
        "and about daffodils",
    ]


@pytest.mark.parametrize("key", [SHOP, "%2Fhome%2Fada%2Fshop"])
def test_a_project_is_what_an_agent_is_told_there(key: str, server: Pipes) -> None:
    """The same text as at its start; a key may be a path, written as it is or encoded."""
    told = within_frame(read(server, f"recollect://project/{key}/memory"))

    assert "- Checks: `pytest -q hooks`" in told
    assert "prices may be negative" not in "".join(told)


@pytest.mark.parametrize(
    "uri",
    [
        "recollect://session/gone",
        "recollect://project/gone/memory",
        "recollect://nothing/x",
        "file:///etc/passwd",
    ],
)
def test_what_is_not_there_is_a_wrong_parameter(uri: str, server: Pipes) -> None:
    """And nothing outside the store ever is there."""
    assert server.ask_modern("resources/read", {"uri": uri})["error"]["code"] == -32602
