"""The page in the browser, over a store of 45,000 turns with all its vectors.

Pages and keystrokes are asked of the application itself, and their figure is the CPU time of
the whole process for one answer: what a machine that does nothing else takes. The first page is
measured as a person meets it, from the start of the command to the last byte over the wire.
A keystroke is a query as it is typed: each beginning of it, from three characters on.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import statistics
import subprocess
import sysconfig
import urllib.request
from collections.abc import Sequence
from http.cookiejar import CookieJar
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlencode

from bench.clocks import cpu_seconds
from bench.measure import Figure, absolute, wall_seconds
from bench.plan import Plan, child, say
from bench.queries import Query, choose_queries, ensure_texts
from recollect.memory import Memory
from recollect.serve.web.app import Web, session_url
from recollect.serve.web.guard import PageGuard, PageKeys
from recollect.serve.web.routes import make_app

PORT = 8000
FEWEST_TYPED = 3
QUERIES_TYPED = 12
MOST_BYTES, MOST_SCRIPT_BYTES, MOST_FIRST_SECONDS = 150_000, 80_000, 1.0
# Median and 95th percentile, in seconds.
PAGE_TARGETS, KEY_TARGETS = (0.030, 0.080), (0.030, 0.100)


class PageReader:
    """Somebody with the link, without a network in between."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.memory = Memory.open(environ=environ)
        keys = PageKeys()
        self.web = Web(self.memory, keys=keys)
        self.app = PageGuard(make_app(self.web), PORT, keys)
        self.cookie = f"{keys.cookie_name(PORT)}={keys.cookie}"
        self.loop = asyncio.new_event_loop()

    def get(self, place: str, *, is_part: bool = False) -> bytes:
        """The answer to a request, which must be a page."""
        return self.loop.run_until_complete(self._get(place, is_part))

    def seconds(self, place: str, *, is_part: bool = False) -> float:
        """What an answer costs, all threads of the process together."""
        start = cpu_seconds()
        self.get(place, is_part=is_part)
        return cpu_seconds() - start

    def close(self) -> None:
        self.web.close()
        self.memory.close()
        self.loop.close()

    async def _get(self, place: str, is_part: bool) -> bytes:
        path, _, query = place.partition("?")
        headers = {"host": f"127.0.0.1:{PORT}", "cookie": self.cookie, "accept-encoding": "gzip"}
        headers |= {"hx-request": "true"} if is_part else {}
        scope = {
            "type": "http", "method": "GET", "path": unquote(path), "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "scheme": "http",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "server": ("127.0.0.1", PORT), "client": ("127.0.0.1", 1), "http_version": "1.1",
        }  # fmt: skip
        sent: list[dict[str, object]] = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)  # type: ignore[arg-type]
        if sent[0]["status"] != 200:
            raise RuntimeError(f"{place} was answered with {sent[0]['status']}")
        return b"".join(bytes(one.get("body", b"")) for one in sent[1:])  # type: ignore[call-overload]


def figures(plan: Plan) -> list[Figure]:
    """All figures, over the same store."""
    home = plan.embedded_store()
    environ = plan.environ(home)
    queries = choose_queries(home / "recollect.db", ensure_texts(plan.texts, environ))
    say("saying what every session came to")
    child(["digest"], environ)
    return [
        *first_page(plan, home, environ),
        *pages(plan, environ, queries),
        *keystrokes(environ, queries),
    ]


def first_page(plan: Plan, home: Path, environ: dict[str, str]) -> list[Figure]:
    """From the start of the command until Home is there; and what a browser then has loaded."""
    seconds, spent, sizes = [], [], []
    for _ in range(plan.runs_or(7)):
        before = os.times()
        took, size = _started(environ)
        after = os.times()
        seconds.append(took)
        spent.append(
            after.children_user - before.children_user
            + after.children_system - before.children_system
        )  # fmt: skip
        sizes.append(size)
    static = files("recollect.serve.web").joinpath("static")
    scripts = [one.read_bytes() for one in static.iterdir() if one.name.endswith(".js")]
    loaded = [*scripts, static.joinpath("recollect.css").read_bytes()]
    wire = max(sizes) + sum(len(gzip.compress(one, 6)) for one in loaded)
    return [
        absolute(
            "web-first", "`recollect web`, from its start to its first page", seconds,
            target=MOST_FIRST_SECONDS, unit="s wall",
        ),
        absolute("web-first-cpu", "the same, with its end", spent, target=None, unit="s CPU"),
        absolute(
            "web-bytes", "the first page over the wire, with style and scripts", [wire],
            target=MOST_BYTES, unit="bytes",
        ),
        absolute(
            "web-script", "JavaScript of the page", [sum(map(len, scripts))],
            target=MOST_SCRIPT_BYTES, unit="bytes",
        ),
    ]  # fmt: skip


def pages(plan: Plan, environ: dict[str, str], queries: list[Query]) -> list[Figure]:
    """The list of sessions, and every other page."""
    reader = PageReader(environ)
    session = next(iter(reader.memory.sessions(limit=1)))
    project = urlencode({"project": session.project or ""})
    shown = reader.get(f"/file?{project}")
    file = re.search(rb'href="(/file\?path=[^"]+)"', gzip.decompress(shown))
    places = {
        "home": "/",
        "sessions": "/sessions",
        "search": f"/search?{urlencode({'q': ' '.join(queries[0])})}",
        "session": session_url(session.id),
        "project": f"/p/{session.project}",
        "review": "/review",
        "told": "/told",
        "files": "/file",
        **({"file": file[1].decode().replace("&amp;", "&")} if file else {}),
        "usage": "/usage",
        "trouble": "/trouble",
        "store": "/store",
    }
    samples: dict[str, list[float]] = {name: [] for name in places}
    for place in places.values():
        reader.get(place)
    for _ in range(plan.runs_or(20)):
        for name, place in places.items():
            samples[name].append(reader.seconds(place))
    reader.close()
    for name, some in samples.items():
        say(f"{name}: {1e3 * statistics.median(some):.1f} ms, p95 {1e3 * p95(some):.1f} ms")
    worst = max(samples, key=lambda name: statistics.median(samples[name]))
    return [
        *_pair("web-sessions", "page of sessions", samples["sessions"], PAGE_TARGETS),
        *_pair("web-slowest", f"slowest page, {worst}", samples[worst], PAGE_TARGETS),
    ]


def keystrokes(environ: dict[str, str], queries: list[Query]) -> list[Figure]:
    """The hits of each beginning of some queries."""
    reader = PageReader(environ)
    typed = [
        text[:end]
        for text in map(" ".join, queries[:QUERIES_TYPED])
        for end in range(FEWEST_TYPED, len(text) + 1)
    ]
    for text in typed[:20]:
        reader.get(f"/search?{urlencode({'q': text})}", is_part=True)
    samples = [reader.seconds(f"/search?{urlencode({'q': text})}", is_part=True) for text in typed]
    reader.close()
    return _pair("web-key", "search as somebody types, a keystroke", samples, KEY_TARGETS)


def p95(samples: Sequence[float]) -> float:
    """What nineteen of twenty samples stay within."""
    return sorted(samples)[min(len(samples) - 1, round(0.95 * len(samples)))]


def _pair(
    name: str, title: str, samples: list[float], targets: tuple[float, float]
) -> list[Figure]:
    return [
        absolute(f"{name}-p50", f"{title}, p50", samples, target=targets[0], unit="s CPU"),
        absolute(f"{name}-p95", f"{title}, p95", samples, target=targets[1], unit="s CPU", of=p95),
    ]


def _started(environ: dict[str, str]) -> tuple[float, int]:
    """Seconds until the first page is there, and its size over the wire."""
    command = [str(Path(sysconfig.get_path("scripts"), "recollect")), "web", "--no-open"]
    start = wall_seconds()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environ, text=True)
    assert process.stderr is not None
    link = process.stderr.readline().strip()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    opener.addheaders = [("Accept-Encoding", "gzip")]
    body = opener.open(link).read()
    seconds = wall_seconds() - start
    process.terminate()
    process.communicate(timeout=20)
    return seconds, len(body)
