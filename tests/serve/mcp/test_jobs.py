"""An agent that is asked to distill: it gets sessions in pages,
and hands in what it made of them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from recollect.memory import Memory
from recollect.serve.mcp.run import running_server
from tests.builders.talks import Said, Talks
from tests.serve.mcp.direct_client import DirectClient

MEMORY = """# summary
tulips

Trace context: a post
User preferences: none observed

## Task: write a post
Outcome: success"""


@pytest.fixture
def client(store: Path) -> DirectClient:
    return DirectClient(store, distill=True)


def tools(memory: Memory, *, distill: bool) -> list[dict[str, Any]]:
    async def ask() -> list[dict[str, Any]]:
        async with running_server(memory, read_only=False, distill=distill) as server:
            return [
                tool.model_dump(by_alias=True, mode="json", exclude_none=True)
                for tool in await server.list_tools()
            ]

    return anyio.run(ask)


def test_the_two_tools_are_there_only_when_asked_for(store: Path) -> None:
    """Every session of every agent pays for what is listed."""
    memory = Memory.open(store)

    plain, more = tools(memory, distill=False), tools(memory, distill=True)

    assert more[: len(plain)] == plain
    assert [tool["name"] for tool in more[len(plain) :]] == ["next_job", "answer_job"]
    assert len(msgspec.json.encode(more)) <= 10_000


def test_an_agent_sums_up_one_session_after_the_other(client: DirectClient) -> None:
    """Until none is due; a job says all that is needed, and an answer
    becomes the memory of its session.
    """
    done = []
    while (job := client.call("next_job")["structuredContent"]).get("kind") == "trace":
        assert "traceMemory" in job["text"]
        place = {name: job[name] for name in ("kind", "subject", "state")}
        told = client.call(
            "answer_job", **place, answer={"traceMemory": MEMORY, "summary": "tulips"}
        )["structuredContent"]
        done.append((told["subject"], told["outcome"]))

    assert sorted(done) == [("codex:a", "kept"), ("codex:b", "kept")]
    assert (
        client.memory.old.trace("codex:b").engine,
        client.memory.old.trace("codex:b").memory,
    ) == (
        "agent",
        MEMORY,
    )


def test_then_it_writes_the_memory_of_each_project(client: DirectClient) -> None:
    """Which is checked as strictly, and is made of what it said of the sessions."""
    done: list[str] = []
    while len(done) < 9 and "kind" in (job := client.call("next_job")["structuredContent"]):
        place = {name: job[name] for name in ("kind", "subject", "state")}
        answer: dict[str, Any] = {"traceMemory": MEMORY, "summary": "tulips"}
        if job["kind"] == "memory":
            session = re.findall("^session (codex:[ab]),", job["text"], re.MULTILINE)[0]
            statement = {"text": "Tulips are wanted", "turns": [f"{session}#1"]}
            answer = {"sections": [{"heading": "Facts", "statements": [statement]}], "skills": []}
            uncited = {
                "sections": [{"heading": "Facts", "statements": [{**statement, "turns": []}]}],
                "skills": [],
            }
            assert client.complaint("answer_job", **place, answer=uncited).startswith(
                "nothing in the answer rests on turns"
            )
        client.call("answer_job", **place, answer=answer)
        done.append(job["kind"])

    assert job == {"text": "Nothing to do."}
    assert done == ["trace", "trace", "memory", "memory"]
    page = Path(client.memory.old.memory_folder(place["subject"])) / "MEMORY.md"
    assert f"- Tulips are wanted [{session}#1]" in page.read_text()


def test_a_long_record_comes_in_pages(tmp_path: Path) -> None:
    """All of it, none of it twice, and no answer longer than the protocol's promise."""
    made = Talks(tmp_path)
    made.tell(
        "long",
        *(Said(f"question {number} " + "long " * 300, output="\t" * 300) for number in range(30)),
    )
    made.close()
    client = DirectClient(tmp_path / "recollect.db", distill=True)

    whole = client.memory.old.next_job()
    assert whole is not None
    pages, cursor = [], None
    while True:
        page = client.call("next_job", **({"cursor": cursor} if cursor else {}))[
            "structuredContent"
        ]
        pages.append(page["text"])
        cursor = page.get("cursor")
        if cursor is None:
            break

    assert len(pages) > 3
    assert "".join(pages) == whole.text


def test_a_bad_answer_is_refused_in_a_sentence(client: DirectClient) -> None:
    """The agent can mend it and hand it in again."""
    job = client.call("next_job")["structuredContent"]
    place = {name: job[name] for name in ("kind", "subject", "state")}
    good = {"traceMemory": MEMORY, "summary": "s"}

    empty = client.complaint("answer_job", **place, answer={**good, "summary": ""})
    late = client.complaint("answer_job", **{**place, "state": "another"}, answer=good)
    wrong = client.complaint("next_job", cursor="nonsense")

    assert empty.startswith("summary is empty and the other is not")
    assert late.startswith("what it is about has changed since, or is gone")
    assert "is not a cursor of this" in wrong
