"""Two more tools, for an agent that is asked to write a project's memory: one hands out what
it is to be written from, the other takes what was written.

Only `recollect mcp --distill` offers them, so that other sessions do not carry their
descriptions. What is handed out is long, so it comes in pages.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.mcp.answers import PAGE_BYTES, ToolAnswer, harmless

# A page is in the answer twice, as data and as text.
_ROOM = PAGE_BYTES // 2 - 750
_TEXT = {"type": "string"}
RECORD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"project": _TEXT, "state": _TEXT, "text": _TEXT, "cursor": _TEXT},
    "required": ["text"],
}
WRITTEN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"project": _TEXT, "lines": {"type": "integer"}, "faults": _TEXT},
    "required": ["project", "lines"],
}


class MemoryTools:
    """The two tools; what is being read is kept, so that its pages are of one piece."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._pages: tuple[str, str, str] | None = None

    def read_record(
        self,
        memory: Memory,
        cursor: Annotated[
            str | None, Meta(description="from the previous page of the same record")
        ] = None,
    ) -> ToolAnswer:
        """Get what this project's memory is to be written from, page by page, with instructions.

        Use only when the user asks for it.
        """
        start = _position(cursor)
        if self._pages is None or start == 0:
            request = memory.engines.request(folder=self._folder)
            material = memory.engines.next_material(folder=self._folder)
            if request is None or material is None:
                return _said({"text": "Nothing is new since the memory was written."})
            self._pages = (material.project, material.state, harmless(request.text))
        return _said(_page(*self._pages, start))

    def write_memory(
        self,
        store: Memory,
        project: Annotated[str, Meta(description="from read_record")],
        state: Annotated[str, Meta(description="from read_record")],
        memory: Annotated[str, Meta(description="MEMORY and PACK, as the instructions say")],
    ) -> ToolAnswer:
        """Hand in a whole memory. Use after reading all pages of the record.

        Lines that do not stand in the logs are left out; `faults` names them.
        """
        run = store.engines.take(project.strip(), state.strip(), memory, by="agent")
        self._pages = None
        said: dict[str, Any] = {"project": project.strip(), "lines": run.lines}
        return _said(said | ({"faults": run.why} if run.why else {}))


def _position(cursor: str | None) -> int:
    """Where a page begins."""
    if cursor is None:
        return 0
    if not (cursor.isdecimal() and len(cursor) <= 9):
        raise UsageError(
            f'"{cursor[:50]}" is not a cursor of this.',
            hint="Use the one that the last page ended with.",
        )
    return int(cursor)


def _page(project: str, state: str, whole: str, start: int) -> dict[str, Any]:
    text = whole[start : start + _ROOM]
    while len(msgspec.json.encode(text)) > _ROOM:
        text = text[: len(text) * 3 // 4]
    end = start + len(text)
    more = {"cursor": str(end)} if end < len(whole) else {}
    return {"project": project, "state": state, "text": text, **more}


def _said(structured: dict[str, Any]) -> ToolAnswer:
    lines = [f"{name}: {value}" for name, value in structured.items() if name != "text"]
    text = "\n".join([*lines, "", structured["text"]] if "text" in structured else lines).strip()
    return ToolAnswer(text, structured)
