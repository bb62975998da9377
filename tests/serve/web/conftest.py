"""The page over a store with the sample sessions, asked without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from recollect.memory import Memory
from recollect.serve.web.app import Web
from recollect.serve.web.guard import PageGuard, PageKeys
from recollect.serve.web.routes import make_app

PORT = 4711


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str


class Browser:
    """Asks the page as a browser would, with the cookie that it got."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.app = PageGuard(make_app(web), PORT, web.keys)
        self.cookie = f"{web.keys.cookie_name(PORT)}={web.keys.cookie}"

    def get(self, place: str, **headers: str) -> Reply:
        return self.ask("GET", place, headers={"cookie": self.cookie, **headers})

    def post(self, place: str, **fields: str) -> Reply:
        """A form of the page's own, sent by a click on it."""
        form = urlencode({"change": self.web.keys.change, **fields})
        return self.ask("POST", place, headers={"cookie": self.cookie}, body=form)

    def ask(self, method: str, place: str, *, headers: dict[str, str], body: str = "") -> Reply:
        return asyncio.run(self._ask(method, place, headers, body))

    async def _ask(self, method: str, place: str, headers: dict[str, str], body: str) -> Reply:
        from urllib.parse import unquote

        path, _, query = place.partition("?")
        given = {"host": f"127.0.0.1:{PORT}", **headers}
        scope = {
            "type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "scheme": "http",
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
            "server": ("127.0.0.1", PORT), "client": ("127.0.0.1", 50_000), "http_version": "1.1",
        }  # fmt: skip
        sent = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": body.encode(), "more_body": False}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)  # type: ignore[arg-type]
        text = b"".join(one.get("body", b"") for one in sent[1:])  # type: ignore[misc]
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}  # type: ignore[attr-defined]
        return Reply(sent[0]["status"], found, text.decode("utf-8", "replace"))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample sessions and what is made of them, for tests that only look."""
    home = tmp_path_factory.mktemp("page")
    with Memory.open(home / "store.db", environ={"RECOLLECT_HOME": str(home)}) as memory:
        memory.import_logs([memory.agents.sample_logs()])
        memory.jobs.work()
    return home / "store.db"


@pytest.fixture
def browser(samples: Path) -> Iterator[Browser]:
    """Somebody who opened the link."""
    with Memory.open(samples, environ={"RECOLLECT_HOME": str(samples.parent)}) as memory:
        web = Web(memory, keys=PageKeys())
        try:
            yield Browser(web)
        finally:
            web.close()
