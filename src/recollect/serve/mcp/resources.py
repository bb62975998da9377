"""What can be read by address: a session, and what is known about a project."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import ResourceSecurity

from recollect.errors import NotFound, RecollectError
from recollect.memory import Memory
from recollect.serve.mcp import pages
from recollect.serve.mcp.answers import harmless, said, text_of
from recollect.serve.memory_thread import MemoryThread

# Names in the store, looked up there and nowhere else: a project may well be called by its path.
_NAMES = ResourceSecurity(exempt_params=frozenset({"id", "key"}))


class Resources:
    """The two addresses, each answered with a page of Markdown."""

    def __init__(self, reads: MemoryThread) -> None:
        self._reads = reads

    def offer(self, server: MCPServer) -> None:
        """Have a server answer for these addresses."""
        for address, about, function in (
            ("recollect://session/{+id}", "the outline of a session", self.session),
            (
                "recollect://project/{+key}/memory",
                "what a session should know in a project, as an agent is told when it starts",
                self.project,
            ),
        ):
            server.resource(address, description=about, mime_type="text/markdown", security=_NAMES)(
                function
            )

    async def session(self, id: str) -> str:
        """The first page of a session's outline."""

        def answer(memory: Memory) -> str:
            page, following = pages.read_session(memory, id)
            text = f"# {harmless(id)}\n\n{text_of(memory, page)}"
            if following:
                text += f"\n\nThere is more: the tool get reads on with cursor {following}"
            return text

        return await self._answered(answer)

    async def project(self, key: str) -> str:
        """What an agent is told when it starts there."""

        def answer(memory: Memory) -> str:
            pack = memory.recall(project=memory.projects.get(key))
            return pack.text or "Nothing is known about this project yet."

        return await self._answered(answer)

    async def _answered(self, question: Callable[[Memory], str]) -> str:
        try:
            return await self._reads.ask(question)
        except NotFound as error:
            raise ResourceNotFoundError(said(error)) from error
        except RecollectError as error:
            raise ResourceError(said(error)) from error
