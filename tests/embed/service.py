"""A service that speaks the embeddings protocol, and fails when it is told to."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Question = dict[str, Any]
# What to do about one request: writes the answer, or something that is none.
Behaviour = Callable[["Handler", Question], None]


class Service(ThreadingHTTPServer):
    """Answers every request well, but the next ones as scripted; remembers what it was asked."""

    daemon_threads = True

    def __init__(self, dimensions: int = 8) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.dimensions = dimensions
        self.script: list[Behaviour] = []
        self.questions: list[Question] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def vector(self, text: str, dimensions: int | None = None) -> list[float]:
        """The service's vector of a text, which is neither a unit nor like any other."""
        generator = random.Random(text)
        return [generator.uniform(-3, 3) for _ in range(dimensions or self.dimensions)]


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        question: Question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.questions.append(question)
        self.server.keys.append(self.headers["Authorization"])
        self.server.paths.append(self.path)
        (self.server.script.pop(0) if self.server.script else well)(self, question)

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def items(self, question: Question) -> list[dict[str, object]]:
        vectors = (
            self.server.vector(text, question.get("dimensions")) for text in question["input"]
        )
        return [
            {"object": "embedding", "index": at, "embedding": vector}
            for at, vector in enumerate(vectors)
        ]

    def give(self, items: list[dict[str, object]]) -> None:
        self.say(200, json.dumps({"object": "list", "data": items}).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test that fails says enough."""


def well(handler: Handler, question: Question) -> None:
    handler.give(handler.items(question))


def permuted(handler: Handler, question: Question) -> None:
    handler.give(handler.items(question)[::-1])


def unnumbered(handler: Handler, question: Question) -> None:
    handler.give([{"embedding": item["embedding"]} for item in handler.items(question)])


def misnumbered(handler: Handler, question: Question) -> None:
    handler.give([item | {"index": 0} for item in handler.items(question)])


def too_few(handler: Handler, question: Question) -> None:
    handler.give(handler.items(question)[:-1])


def too_short(handler: Handler, question: Question) -> None:
    handler.give([item | {"embedding": [0.5, 0.25]} for item in handler.items(question)])


def hanging_up(handler: Handler, question: Question) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')


def saying(body: bytes) -> Behaviour:
    return lambda handler, question: handler.say(200, body)


def refusing(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler, question: handler.say(status, body, **headers)


def sleeping(seconds: float) -> Behaviour:
    """Says nothing for a while, and then that it is too late."""

    def sleep(handler: Handler, question: Question) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return sleep


@contextmanager
def running(dimensions: int = 8) -> Iterator[Service]:
    """A service on a free port of this machine."""
    with Service(dimensions) as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
