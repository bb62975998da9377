"""`recollect mcp` over pipes, the way agents use it, on a store of
45,000 turns that are all embedded.

The first answer is counted from the start of the process to the last byte of a
search's result, handshake and all. Searches are counted the same way, from the
request to the answer, once the index of vectors is ready.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from bench.measure import Figure, absolute, alternate, compared, wall_of_process, wall_seconds
from bench.plan import Plan, say
from bench.queries import Query, choose_queries, ensure_texts
from bench.suites.search import BARE

MOST_LIST_BYTES = 8_192
MOST_FIRST_SECONDS = 1.5
MOST_SEARCH_SECONDS = 0.010
WAIT_SECONDS = 60


class Agent:
    """A client that speaks as agents do today; it ends the server when it is closed."""

    def __init__(self, environ: dict[str, str]) -> None:
        self._environ, self._asked = environ, 0
        command = [str(Path(sysconfig.get_path("scripts"), "recollect")), "mcp"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        )
        who = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self.ask("initialize", who)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any] | None = None) -> bytes:
        """The line that answers a request."""
        assert self._process.stdout is not None
        self._asked += 1
        self._write({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params or {}})
        return self._process.stdout.readline()

    def search(self, query: Query) -> None:
        """Ask for ten hits; an answer without any is a failure."""
        line = self.ask("tools/call", {"name": "search", "arguments": {"query": " ".join(query)}})
        if b'"hits":[{' not in line:
            raise RuntimeError(f"{query} was answered with {line[:200]!r}")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(WAIT_SECONDS)

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def figures(plan: Plan) -> list[Figure]:
    """All figures, over the same store."""
    home = plan.embedded_store()
    environ = plan.environ(home)
    queries = choose_queries(home / "recollect.db", ensure_texts(plan.texts, environ))
    # The first server also leaves the index of vectors, compiled modules and warm pages.
    size = _list_bytes(environ)
    _await_index(home, environ, queries)
    return [
        absolute("mcp-list", "`tools/list` over MCP", [size], target=MOST_LIST_BYTES, unit="bytes"),
        *first_answer(plan, queries, environ),
        *searches(plan, queries, environ),
    ]


def first_answer(plan: Plan, queries: list[Query], environ: dict[str, str]) -> list[Figure]:
    """A new server until it has answered a search.

    In seconds, and against an interpreter that does nothing.
    """

    def started() -> float:
        start = wall_seconds()
        agent = Agent(environ)
        agent.search(queries[0])
        seconds = wall_seconds() - start
        agent.close()
        return seconds

    pairs = alternate(started, lambda: _bare(environ), plan.runs_or(11))
    title = "MCP server, from its start to its first answer"
    return [
        absolute(
            "mcp-first",
            title,
            [ours for ours, _ in pairs],
            target=MOST_FIRST_SECONDS,
            unit="s wall",
        ),
        compared("mcp-first-ratio", "the same", BARE, pairs, target=None, unit="s wall"),
    ]


def searches(plan: Plan, queries: list[Query], environ: dict[str, str]) -> list[Figure]:
    """A search of a server that is running, median.

    In seconds, and against an interpreter that does nothing.
    """
    agent = Agent(environ)
    for query in queries:
        agent.search(query)
    pairs = []
    for _ in range(plan.runs_or(5)):
        for query in queries:
            start = wall_seconds()
            agent.search(query)
            pairs.append((wall_seconds() - start, _bare(environ)))
    agent.close()
    return [
        absolute(
            "mcp-search",
            "search over MCP, p50",
            [ours for ours, _ in pairs],
            target=MOST_SEARCH_SECONDS,
            unit="s wall",
        ),
        compared("mcp-search-ratio", "the same", BARE, pairs, target=None, unit="s wall"),
    ]


def _bare(environ: dict[str, str]) -> float:
    return wall_of_process([sys.executable, "-c", "pass"], environ)


def _list_bytes(environ: dict[str, str]) -> int:
    agent = Agent(environ)
    size = len(agent.ask("tools/list"))
    agent.close()
    return size


def _await_index(home: Path, environ: dict[str, str], queries: list[Query]) -> None:
    """Until a server has made the index of vectors and kept it for the next."""
    agent, start = Agent(environ), wall_seconds()
    agent.search(queries[0])
    while not (home / "recollect.db-vectors").exists():
        if wall_seconds() - start > WAIT_SECONDS:
            raise RuntimeError("the server made no index of vectors; is faiss installed?")
        time.sleep(0.1)
    say(f"waited {wall_seconds() - start:.1f} s for the index of vectors")
    agent.close()
