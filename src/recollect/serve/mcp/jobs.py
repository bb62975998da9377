"""Two more tools, for an agent that is asked to distill: one hands out sessions, the other takes in what it made of them.

They are offered only to a server that was started for that (`recollect mcp
--distill`): every other session would pay for their descriptions and never
call them. A record is long, so it comes in pages.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.reports import Job
from recollect.serve.mcp.answers import PAGE_BYTES, harmless
from recollect.serve.mcp.lanes import Lane

# A page is in the answer twice, as data and as text.
_ROOM = PAGE_BYTES // 2 - 750
_TEXT = {"type": "string"}
JOB_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"session": _TEXT, "state": _TEXT, "text": _TEXT, "cursor": _TEXT},
    "required": ["text"],
}
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"session": _TEXT, "outcome": {"enum": ["kept", "unchanged"]}},
    "required": ["session", "outcome"],
}


class JobTools:
    """The two tools; the job that is being read is kept, so that its pages are of one piece."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._job: Job | None = None

    async def next_job(
        self, cursor: Annotated[str | None, Field(description="from the previous page of the same job")] = None
    ) -> CallToolResult:
        """A session to sum up, page by page, with how to do it. Use only when the user asks to distill sessions."""

        def answer(memory: Memory) -> CallToolResult:
            start, session = _position(cursor)
            if self._job is None or self._job.session != session:
                self._job = memory.next_job(session)
            if self._job is None:
                return _said({"text": "No session is due."})
            return _said(_page(self._job, start))

        return await self._lane.ask(answer)

    async def answer_job(
        self,
        session: Annotated[str, Field(description="as next_job gave it")],
        state: Annotated[str, Field(description="as next_job gave it")],
        traceMemory: Annotated[str, Field(description="the memory; empty when nothing is worth keeping")],
        summary: Annotated[str, Field(description="one line; empty when the memory is")],
    ) -> CallToolResult:
        """Hand in the memory of a session. Use after reading all pages of its job."""

        def answer(memory: Memory) -> CallToolResult:
            outcome = memory.answer_job(session.strip(), state.strip(), traceMemory, summary)
            self._job = None
            return _said({"session": session.strip(), "outcome": outcome})

        return await self._lane.ask(answer)


def _position(cursor: str | None) -> tuple[int, str | None]:
    if cursor is None:
        return 0, None
    start, found, session = cursor.partition("@")
    if not found or not (start.isdecimal() and len(start) <= 9):
        raise UsageError(f"{cursor[:50]!r} is no cursor of this", hint="use the one that the page before ended with")
    return int(start), session


def _page(job: Job, start: int) -> dict[str, str]:
    text = harmless(job.text)[start : start + _ROOM]
    while len(msgspec.json.encode(text)) > _ROOM:
        text = text[: len(text) * 3 // 4]
    end = start + len(text)
    more = {"cursor": f"{end}@{job.session}"} if end < len(harmless(job.text)) else {}
    return {"session": job.session, "state": job.state, "text": text, **more}


def _said(structured: dict[str, str]) -> CallToolResult:
    lines = [f"{name}: {value}" for name, value in structured.items() if name != "text"]
    text = "\n".join([*lines, "", structured["text"]] if "text" in structured else lines).strip()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(structured))
