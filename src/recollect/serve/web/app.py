"""The page as an application: which view answers which address, and what every view shares."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, quote

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recollect import __version__
from recollect.errors import NotFound, RecollectError, UsageError
from recollect.memory import Memory
from recollect.serve.cli.lists import project_names
from recollect.serve.memory_thread import MemoryThread
from recollect.serve.web import words
from recollect.serve.web.guard import PageKeys
from recollect.serve.web.kept import KeptAnswers
from recollect.serve.web.tasks import StoreTasks

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.model.search import Hit

    Context = Mapping[str, Any]
    Build = Callable[["PageRequest"], Context]
    Answer = Callable[["Request"], Awaitable[Response]]

Kept = TypeVar("Kept")

# The pages of the menu: name, label, address, and the key that goes there after g.
PAGES = (
    ("home", "Home", "/", "h"),
    ("search", "Search", "/search", "f"),
    ("sessions", "Sessions", "/sessions", "s"),
    ("review", "Review", "/review", "r"),
    ("told", "Told", "/told", "t"),
    ("file", "Files", "/file", "i"),
    ("usage", "Usage", "/usage", "u"),
    ("trouble", "Trouble", "/trouble", "e"),
    ("team", "Team", "/team", "m"),
    ("store", "Store", "/store", "o"),
)
# So long one request works on sums that somebody's writing outdated; the rest is shown as it was.
PATIENCE_SECONDS = 0.04
# Sums of a moment ago are as good as new.
OLD_SECONDS = 5
# Of a larger store the sums take seconds: they are made when somebody asks, so that Ctrl-C
# need not wait for those that nobody wanted.
MOST_BYTES_AHEAD = 1 << 30
# Nobody types more into a form than this.
MOST_FORM_BYTES = 64 << 10
MOST_SEARCHES_KEPT = 20


class View(NamedTuple):
    """A page: where it is, what it shows, and the part of it that comes again alone.

    `build` asks the memory on its thread; one that `takes_long` on another, so that no search
    waits with it; what it keeps can be made `ahead`, before anybody asks. One that `asks_hub`
    of the team has a thread for that, as an answer may be long in coming. A request of the
    script for `fragment` gets that part of the page, and everybody else the whole.
    """

    path: str
    template: str
    build: Build
    fragment: str | None = None
    takes_long: bool = False
    ahead: bool = False
    asks_hub: bool = False


class Form(NamedTuple):
    """A form: where it is sent, and what it does; the answer says where to go on."""

    path: str
    make: Callable[[PageRequest], str]


class PageRequest:
    """One request with the memory that answers it."""

    def __init__(self, web: Web, memory: Memory, request: Request, form: Mapping[str, str]) -> None:
        self.web, self.memory, self.request, self.form = web, memory, request, form
        self.patience = PATIENCE_SECONDS
        # Of when the oldest answer is that was not of now.
        self.as_of: datetime | None = None

    def value(self, name: str, default: str = "") -> str:
        """What the address says under a name."""
        return self.request.query_params.get(name, default).strip()

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def kept(self, name: str, make: Callable[[Memory], Kept]) -> Kept:
        """What `make` answers, as of now or, where that takes long, as of a moment ago."""
        begun = time.perf_counter()
        found = self.web.kept.get(self.memory, name, make, self.patience)
        self.patience -= time.perf_counter() - begun
        is_old = (
            found.is_due and (datetime.now().astimezone() - found.at).total_seconds() >= OLD_SECONDS
        )
        if is_old and (self.as_of is None or found.at < self.as_of):
            self.as_of = found.at
        return found.answer

    def side(self) -> dict[str, Any]:
        """The projects and counts beside every page."""
        found = self.kept("side", _side)
        self.web.project_names = found["names"]
        return found

    def number(self, name: str, default: int) -> int:
        """A number in the address; the default where there is none."""
        found = self.value(name)
        return int(found) if found.isdecimal() and len(found) < 10 else default


class Web:
    """What all views share: the memory's threads, the templates, the names of agents."""

    def __init__(self, memory: Memory, *, keys: PageKeys, read_only: bool = False) -> None:
        self.like, self.keys, self.folder = memory, keys, os.getcwd()
        self.read_only = read_only
        # Set when the page ends, for streams that would go on.
        self.stopping = asyncio.Event()
        self.reads = MemoryThread(memory, resident=True)
        self.writes = None if read_only else MemoryThread(memory)
        self.sums = MemoryThread(memory)
        self.hub = MemoryThread(memory)
        self.kept = KeptAnswers(memory)
        self._views_ahead: list[View] = []
        self._is_warm = False
        self._names: dict[str, str] = {}
        self.project_names: dict[str | None, str] = {}
        self._hits: dict[tuple[str, str], list[Hit]] = {}
        self.tasks = None if read_only else StoreTasks(memory)

    def close(self) -> None:
        """Let go of the store."""
        for one in (self.reads, self.writes, self.sums, self.hub, self.kept, self.tasks):
            if one is not None:
                one.close()

    @cached_property
    def templates(self) -> Environment:
        made = Environment(
            loader=PackageLoader("recollect.serve.web"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= words.FILTERS | {
            "agent": self.agent_name,
            "project": self.project_name,
            "turn_url": turn_url,
            "session_url": session_url,
            "project_url": project_url,
            "file_url": file_url,
        }
        made.globals |= {
            "trust_words": words.TRUST,
            "pages": PAGES,
            "static": static_url,
        }
        return made

    def agent_name(self, key: str) -> str:
        """What people call an agent."""
        if key not in self._names:
            # Only those that are asked for: each is a module of its own.
            try:
                self._names[key] = self.like.agents.adapters([key])[0].name
            except RecollectError:
                self._names[key] = key
        return self._names[key]

    def project_name(self, key: str | None) -> str:
        """What a project is called for short; two that end alike are told apart."""
        return self.project_names.get(key) or words.last_name(key)

    def keep_hits(self, text: str, mode: str, hits: list[Hit]) -> None:
        """Remember why the hits of a query are where they are, for whoever looks at one."""
        self._hits.pop((text, mode), None)
        self._hits[text, mode] = hits
        while len(self._hits) > MOST_SEARCHES_KEPT:
            del self._hits[next(iter(self._hits))]

    def kept_hits(self, text: str, mode: str) -> list[Hit]:
        """The hits of a query, if it was asked lately."""
        return self._hits.get((text, mode), [])

    # Answers

    def page(self, view: View) -> Answer:
        """What answers a view's address."""
        if view.ahead:
            self._views_ahead.append(view)

        async def answer(request: Request) -> Response:
            is_part = view.fragment is not None and "HX-Request" in request.headers

            def build(memory: Memory) -> Context:
                asked = PageRequest(self, memory, request, {})
                return {
                    **({} if is_part else asked.side()),
                    **view.build(asked),
                    "as_of": asked.as_of if view.takes_long else None,
                }

            thread = self._thread(view)
            context = await thread.ask(build)
            if not self._is_warm:
                self._is_warm = True
                self.get_ready()
            template = view.fragment if is_part else view.template
            return self.render(str(template), {**context, "part": view.fragment}, request)

        return self._answering(answer)

    def _thread(self, view: View) -> MemoryThread:
        if view.asks_hub:
            return self.hub
        return self.sums if view.takes_long else self.reads

    def change(self, change: Form) -> Answer:
        """What answers a form: the change, then the page that it was made on."""

        async def answer(request: Request) -> Response:
            form = await self.form(request)
            if self.writes is None:
                raise UsageError(
                    "This page may only be read.",
                    hint="Start it without --read-only to change things.",
                )
            place = await self.writes.ask(
                lambda memory: change.make(PageRequest(self, memory, request, form))
            )
            return RedirectResponse(place, 303)

        return self._answering(answer)

    async def form(self, request: Request) -> dict[str, str]:
        """What a form of our own pages says."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_FORM_BYTES:
                raise UsageError("That is too much text for one line.")
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        if form.pop("change", "") != self.keys.change:
            raise UsageError("This form is not from this page.", hint="Load the page again.")
        return form

    def render(
        self, template: str, context: Context, request: Request, status: int = 200
    ) -> Response:
        """A template with what every one of them may use."""
        shared = {
            "path": request.url.path,
            "query": request.query_params,
            "change_token": self.keys.change,
            "read_only": self.read_only,
            "is_part": "HX-Request" in request.headers,
            "said": request.query_params.get("said", ""),
            "undo_ref": request.query_params.get("undo", ""),
            "back": request.url.path,
            "project_key": None,
            "as_of": None,
        }
        text = self.templates.get_template(template).render({**shared, **context})
        return HTMLResponse(text, status)

    def get_ready(self) -> None:
        """Do now what the first search and the pages of sums would wait for."""
        # The first search loads the vectors.
        self.reads.submit(lambda memory: memory.search("recollect", limit=1))
        with suppress(OSError):
            if os.path.getsize(self.like.settings.store) <= MOST_BYTES_AHEAD:
                for view in self._views_ahead:
                    self.kept.ahead(partial(self._make_ahead, view))

    def _make_ahead(self, view: View, memory: Memory) -> None:
        view.build(PageRequest(self, memory, nobody_asked(view.path), {}))

    def _answering(self, answer: Answer) -> Answer:
        """The same, and a fault of ours as a page that says what to do."""

        async def answered(request: Request) -> Response:
            try:
                return await answer(request)
            except RecollectError as error:
                return self.fault(error, request)

        return answered

    def fault(self, error: RecollectError, request: Request) -> Response:
        """What is wrong, as a page that says what to do."""
        context: Context = {"projects": [], "sessions_total": None, "waiting": 0, "fault": error}
        return self.render(
            "error.html", context, request, 404 if isinstance(error, NotFound) else 400
        )


def nobody_asked(path: str) -> Request:
    """A request for an address and nothing else."""
    from starlette.requests import Request

    return Request({"type": "http", "path": path, "query_string": b"", "headers": []})


def _side(memory: Memory) -> dict[str, Any]:
    projects = sorted(
        (one for one in memory.projects.all() if one.sessions),
        key=lambda one: one.last_at or "",
        reverse=True,
    )
    return {
        "projects": projects,
        "names": project_names(one.key for one in projects),
        "sessions_total": memory.session_page(limit=1).total,
        "waiting": memory.notes.search(status="candidate", limit=1).total,
    }


def static_url(name: str) -> str:
    """Where a file of the page is; another version of it is at another address."""
    return f"/static/{name}?{__version__}"


def session_url(ref: str) -> str:
    """Where a session is shown."""
    return f"/s/{quote(ref, safe=':')}"


def turn_url(ref: str) -> str:
    """Where a turn is shown."""
    session, _, number = ref.rpartition("#")
    return (
        f"/s/{quote(session, safe=':')}?at={number}#turn-{number}" if session else session_url(ref)
    )


def project_url(key: str | None) -> str:
    """Where a project's memory is shown."""
    return f"/p/{quote(key or '', safe='/')}"


def file_url(project: str | None, path: str) -> str:
    """Where a file's history is shown."""
    return f"/file?path={quote(path, safe='/')}&project={quote(project or '', safe='')}"
