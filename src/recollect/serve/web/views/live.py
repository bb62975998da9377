"""What changes while a page is open: one stream of events for each page.

A session that somebody looks at is followed: when its log has grown, that log is read again.
Other logs are read by whoever imports.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from recollect.memory import Memory
    from recollect.serve.web.app import Web

# How often somebody else's writing is looked for; a look costs microseconds.
LOOK_SECONDS = 0.5
# A line now and then, so that a page that is gone is noticed.
ALIVE_LOOKS = 40


def routes(web: Web) -> list[Route]:
    """The stream: `changed` when anything was written, with the turns of a session it names."""

    async def events(request: Request) -> Response:
        return StreamingResponse(
            _events(web, request, request.query_params.get("session", "")),
            media_type="text/event-stream",
        )

    return [Route("/events", events)]


async def _events(web: Web, request: Request, session: str) -> AsyncIterator[str]:
    mark, looks, turns = None, 0, None
    log = _FollowedLog(await web.reads.ask(lambda memory: _log_of(memory, session)))
    while not (web.stopping.is_set() or await request.is_disconnected()):
        if web.tasks is not None and log.has_grown():
            web.tasks.follow(log.path)
        # The first look says how it is: something may have been written since the page was made.
        now = await web.reads.ask(_Look(mark))
        looks += 1
        if now is not None:
            mark = now
            turns = await web.reads.ask(lambda memory: _turns(memory, session)) if session else None
            yield f"event: changed\ndata: {json.dumps({'turns': turns, 'first': looks == 1})}\n\n"
        elif looks % ALIVE_LOOKS == 0:
            yield ": still here\n\n"
        with suppress(TimeoutError):
            await asyncio.wait_for(web.stopping.wait(), LOOK_SECONDS)


class _FollowedLog:
    """The log of a session on this machine, or none."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: tuple[tuple[int, int], ...] = ()

    def has_grown(self) -> bool:
        """Whether it is another one than at the last look; the first look says yes."""
        if not self.path:
            return False
        found = []
        # A database grows in the log beside it first.
        for path in (self.path, self.path + "-wal"):
            with suppress(OSError):
                stat = os.stat(path)
                found.append((stat.st_mtime_ns, stat.st_size))
        before, self._seen = self._seen, tuple(found)
        return bool(found) and self._seen != before


class _Look:
    """Asks whether anything was written since a mark."""

    def __init__(self, mark: str | None) -> None:
        self.mark = mark

    def __call__(self, memory: Memory) -> str | None:
        return memory.changed_since(self.mark)


def _turns(memory: Memory, session: str) -> int | None:
    try:
        return memory.session(session).turns
    except RecollectError:
        return None


def _log_of(memory: Memory, session: str) -> str:
    """The log of a session that is read again when it grows; what came with a project is not."""
    if not session:
        return ""
    try:
        found = memory.session(session)
    except RecollectError:
        return ""
    return "" if found.external or found.source is None else found.source
