"""An agent that is asked to distill: it gets sessions in pages, and hands in what it made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from recollect.memory import Memory
from recollect.serve.mcp.running import running
from tests.builders.talks import Said, Talks
from tests.serve.mcp.asking import Asking

MEMORY = """# summary
tulips

Trace context: a post
User preferences: none observed

## Task: write a post
Outcome: success"""


@pytest.fixture
def asking(store: Path) -> Asking:
    return Asking(store, distill=True)


def tools(memory: Memory, *, distill: bool) -> list[dict[str, Any]]:
    async def ask() -> list[dict[str, Any]]:
        async with running(memory, read_only=False, distill=distill) as server:
            return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in await server.list_tools()]

    return anyio.run(ask)


def test_the_two_tools_are_there_only_when_asked_for(store: Path) -> None:
    """Every session of every agent pays for what is listed."""
    memory = Memory.open(store)

    plain, more = tools(memory, distill=False), tools(memory, distill=True)

    assert more[: len(plain)] == plain
    assert [tool["name"] for tool in more[len(plain) :]] == ["next_job", "answer_job"]
    assert len(msgspec.json.encode(more)) <= 10_000


def test_an_agent_sums_up_one_session_after_the_other(asking: Asking) -> None:
    """Until none is due; a job says all that is needed, and an answer becomes the memory of its session."""
    done = []
    while "session" in (job := asking.call("next_job")["structuredContent"]):
        assert "traceMemory" in job["text"]
        told = asking.call("answer_job", session=job["session"], state=job["state"], traceMemory=MEMORY, summary="tulips")[
            "structuredContent"
        ]
        done.append((told["session"], told["outcome"]))

    assert job == {"text": "No session is due."}
    assert sorted(done) == [("codex:a", "kept"), ("codex:b", "kept")]
    assert (asking.memory.trace("codex:b").engine, asking.memory.trace("codex:b").memory) == ("agent", MEMORY)


def test_a_long_record_comes_in_pages(tmp_path: Path) -> None:
    """All of it, none of it twice, and no answer longer than the protocol's promise."""
    made = Talks(tmp_path)
    made.tell("long", *(Said(f"question {number} " + "long " * 300, output="\t" * 300) for number in range(30)))
    made.close()
    asking = Asking(tmp_path / "recollect.db", distill=True)

    whole = asking.memory.next_job()
    assert whole is not None
    pages, cursor = [], None
    while True:
        page = asking.call("next_job", **({"cursor": cursor} if cursor else {}))["structuredContent"]
        pages.append(page["text"])
        cursor = page.get("cursor")
        if cursor is None:
            break

    assert len(pages) > 3
    assert "".join(pages) == whole.text


def test_a_bad_answer_is_refused_in_a_sentence(asking: Asking) -> None:
    """The agent can mend it and hand it in again."""
    job = asking.call("next_job")["structuredContent"]
    place = {"session": job["session"], "state": job["state"]}

    empty = asking.complaint("answer_job", **place, traceMemory=MEMORY, summary="")
    late = asking.complaint("answer_job", session=job["session"], state="another", traceMemory=MEMORY, summary="s")
    wrong = asking.complaint("next_job", cursor="nonsense")

    assert empty.startswith("summary is empty and the other is not")
    assert late.startswith("the session has changed since, or is gone")
    assert "is no cursor of this" in wrong
