"""Tools asked without a process in between: the server is ours, only the wire is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import msgspec

from recollect.memory import Memory
from recollect.serve.mcp.run import running_server


class DirectClient:
    """A server over a store, in the folder that the test is in."""

    def __init__(
        self, store: Path | str, *, read_only: bool = False, distill: bool = False
    ) -> None:
        self.memory, self.read_only, self.distill = (
            Memory.open(store, environ=dict(os.environ)),
            read_only,
            distill,
        )

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """What a tool answers, as it goes over the wire."""

        async def ask() -> dict[str, Any]:
            async with running_server(
                self.memory, read_only=self.read_only, distill=self.distill
            ) as server:
                result = await server.call_tool(tool, arguments)
                return result.model_dump(by_alias=True, mode="json", exclude_none=True)

        answer = anyio.run(ask)
        # The protocol's promise to every agent; checked at each call of every test.
        assert len(msgspec.json.encode(answer)) <= 20_000
        return answer

    def hits(self, tool: str, /, **arguments: Any) -> list[dict[str, Any]]:
        """The hits alone, of a call that must succeed."""
        answer = self.call(tool, **arguments)
        assert not answer["isError"], answer
        found: list[dict[str, Any]] = answer["structuredContent"]["hits"]
        return found

    def pages(self, tool: str, /, **arguments: Any) -> list[list[dict[str, Any]]]:
        """The hits of every page, one after the other, as long as there is a cursor."""
        made, cursor = [], None
        while True:
            answer = self.call(tool, **arguments, **({"cursor": cursor} if cursor else {}))[
                "structuredContent"
            ]
            made.append(answer["hits"])
            cursor = answer.get("cursor")
            if cursor is None:
                return made

    def complaint(self, tool: str, /, **arguments: Any) -> str:
        """The sentence that says why a call cannot be answered."""
        answer = self.call(tool, **arguments)
        assert answer["isError"] is True
        assert "structuredContent" not in answer
        (said,) = answer["content"]
        text: str = said["text"]
        assert "\n" not in text
        return text
