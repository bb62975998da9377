"""A model on the loopback: says what a test scripted, remembers what it was asked.

The real agents talk to it instead of to their vendors. It understands as much
of four APIs as they use. Requests that offer tools are the conversation and
take the next step; the others (a title, a quota, a warm-up) get a short
answer that costs no step.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.real import dialects
from tests.real.steps import Call, Refuse, Say, Step


@dataclass(frozen=True)
class Request:
    """One thing an agent asked, with its body as it was sent."""

    method: str
    path: str
    text: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text) if self.text else {}

    @property
    def texts(self) -> list[str]:
        """Every text in the body, without what JSON does to quotes and lines."""
        return list(_texts(self.body))

    @property
    def said(self) -> str:
        return "\n".join(self.texts)

    @property
    def model(self) -> str:
        """The model that is asked; one API names it in the path."""
        return str(self.body.get("model") or self.path.partition("/models/")[2].partition(":")[0])

    @property
    def offers_tools(self) -> bool:
        return bool(self.body.get("tools"))

    def offers(self, tool: str) -> bool:
        """Whether a tool is among those that the model may call.

        Of one in a namespace, the namespace.
        """
        return tool.partition("/")[0] in _texts(self.body["tools"])


class Stub(ThreadingHTTPServer):
    """What the model will do, and what it was asked so far."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps: list[Step] = []
        # What the model does instead of calling a tool that it is not offered yet.
        self.meanwhile: Step | None = None
        # A request without tools that has this in it is the conversation too.
        self.marked = "\0"
        self.requests: list[Request] = []
        self.lock = threading.Lock()
        self.answered = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def will(self, *steps: Step, meanwhile: Step | None = None) -> None:
        """From now on the model takes these steps, and what was asked before is forgotten.

        Agents do not wait for an MCP server that starts slowly: the first
        requests come without its tools. `meanwhile` is what the model does
        until the next tool is there; without it the tool is called anyway.
        """
        self.steps, self.meanwhile, self.requests = list(steps), meanwhile, []

    @property
    def asked(self) -> list[Request]:
        """The requests of the conversation, in the order they came."""
        return [request for request in self.requests if request.offers_tools]

    @property
    def said(self) -> list[str]:
        """What the model was told, request by request."""
        return [request.said for request in self.asked]

    def take(self, request: Request) -> tuple[Step, str]:
        """The step for a request, and an id nothing else has."""
        with self.lock:
            self.requests.append(request)
            self.answered += 1
            ident = f"{self.answered:04d}"
            if not request.offers_tools and self.marked not in request.said:
                return Say("stub"), ident
            if not self.steps:
                return Say("the script is over"), ident
            if (
                self.meanwhile
                and isinstance(self.steps[0], Call)
                and not request.offers(self.steps[0].tool)
            ):
                return self.meanwhile, ident
            return self.steps.pop(0), ident


@contextmanager
def listening() -> Iterator[Stub]:
    """A stub that answers until the block ends."""
    with Stub() as stub:
        thread = threading.Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield stub
        finally:
            stub.shutdown()
            thread.join()


class Handler(BaseHTTPRequestHandler):
    """Chooses the dialect by the path."""

    server: Stub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(b"", "text/plain")

    def do_GET(self) -> None:
        self.server.requests.append(Request("GET", self.path, ""))
        self.answer(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        request = Request("POST", self.path, text)
        if "countTokens" in self.path or "count_tokens" in self.path:
            self.answer(b'{"input_tokens": 12, "totalTokens": 12}', "application/json")
            return
        step, ident = self.server.take(request)
        model = str(request.body.get("model") or "stub")
        if isinstance(step, Refuse):
            words = {"type": "error", "error": {"type": "refused", "message": step.words}}
            self.answer(json.dumps(words).encode(), "application/json", step.status)
            return
        if "/messages" in self.path:
            self.stream(dialects.anthropic(step, ident, model))
        elif "/responses" in self.path:
            self.stream(dialects.responses(step, ident, model))
        elif "/chat/completions" in self.path:
            self.stream(dialects.chat(step, ident, model), end="data: [DONE]\n\n")
        elif "treamGenerateContent" in self.path:
            self.stream(dialects.gemini(step, ident, model))
        elif "enerateContent" in self.path:
            (whole,) = dialects.gemini(step, ident, model)
            self.answer(json.dumps(whole).encode(), "application/json")
        else:
            self.answer(b"{}", "application/json")

    def stream(self, events: Iterable[dict[str, Any]], end: str = "") -> None:
        lines = [
            (f"event: {event['type']}\n" if "type" in event else "")
            + f"data: {json.dumps(event)}\n\n"
            for event in events
        ]
        self.answer(("".join(lines) + end).encode(), "text/event-stream")

    def answer(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test's output is its own."""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
