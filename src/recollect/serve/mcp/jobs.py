"""Two more tools, for an agent that is asked to distill: one hands out a job, the other
takes its answer.

Only `recollect mcp --distill` offers them, so that other sessions do not carry
their descriptions. A record is long, so it comes in pages.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Assignment
from recollect.serve.mcp.answers import PAGE_BYTES, harmless
from recollect.serve.memory_thread import MemoryThread

# A page is in the answer twice, as data and as text.
_ROOM = PAGE_BYTES // 2 - 750
_TEXT = {"type": "string"}
JOB_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": _TEXT, "subject": _TEXT, "state": _TEXT, "text": _TEXT, "cursor": _TEXT},
    "required": ["text"],
}
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"subject": _TEXT, "outcome": {"enum": ["kept", "unchanged"]}},
    "required": ["subject", "outcome"],
}


class JobTools:
    """The two tools; the job that is being read is kept, so that its pages are of one piece."""

    def __init__(self, thread: MemoryThread) -> None:
        self._thread = thread
        self._job: Assignment | None = None

    async def next_job(
        self,
        cursor: Annotated[
            str | None, Field(description="from the previous page of the same job")
        ] = None,
    ) -> CallToolResult:
        """Get a memory to write, page by page, with instructions.

        Use only when the user asks to distill sessions.
        """

        def answer(memory: Memory) -> CallToolResult:
            start, wanted = _position(cursor)
            if self._job is None or (self._job.kind, self._job.subject) != wanted:
                self._job = memory.old.next_job(*wanted)
            if self._job is None:
                return _said({"text": "Nothing to do."})
            return _said(_page(self._job, start))

        return await self._thread.ask(answer)

    async def answer_job(
        self,
        kind: Annotated[Literal["trace", "memory"], Field(description="from next_job")],
        subject: Annotated[str, Field(description="from next_job")],
        state: Annotated[str, Field(description="from next_job")],
        answer: Annotated[dict[str, Any], Field(description="the object that the job asks for")],
    ) -> CallToolResult:
        """Hand in the answer of a job. Use after reading all of its pages."""

        def keep(memory: Memory) -> CallToolResult:
            outcome = memory.old.answer_job(
                kind, subject.strip(), state.strip(), json.dumps(answer)
            )
            self._job = None
            return _said({"subject": subject.strip(), "outcome": outcome})

        return await self._thread.ask(keep)


def _position(cursor: str | None) -> tuple[int, tuple[str | None, str | None]]:
    """Where a page begins, and in which job."""
    if cursor is None:
        return 0, (None, None)
    start, kind, subject = [*cursor.split("@", 2), "", ""][:3]
    if not (start.isdecimal() and len(start) <= 9 and kind and subject):
        raise UsageError(
            f'"{cursor[:50]}" is not a cursor of this.',
            hint="Use the one that the last page ended with.",
        )
    return int(start), (kind, subject)


def _page(job: Assignment, start: int) -> dict[str, str]:
    text = harmless(job.text)[start : start + _ROOM]
    while len(msgspec.json.encode(text)) > _ROOM:
        text = text[: len(text) * 3 // 4]
    end = start + len(text)
    more = {"cursor": f"{end}@{job.kind}@{job.subject}"} if end < len(harmless(job.text)) else {}
    return {"kind": job.kind, "subject": job.subject, "state": job.state, "text": text, **more}


def _said(structured: dict[str, str]) -> CallToolResult:
    lines = [f"{name}: {value}" for name, value in structured.items() if name != "text"]
    text = "\n".join([*lines, "", structured["text"]] if "text" in structured else lines).strip()
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=dict(structured)
    )
