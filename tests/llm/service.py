"""A service that speaks the chat protocol, and answers as it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from recollect.settings import Settings

Question = dict[str, Any]
# What to do about one request: writes the answer, or something that is none.
Behaviour = Callable[["Handler"], None]


class Service(ThreadingHTTPServer):
    """Answers the next requests as scripted, and all others with `usual`.

    Remembers what it was asked.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.usual = saying("well")
        self.script: list[Behaviour] = []
        self.questions: list[Question] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def settings(self, **more: object) -> Settings:
        """Settings that name this service; `more` are further keys of [llm]."""
        keys = {"url": self.url, "model": "some-model", **more}
        return Settings(
            "/home/somebody/.recollect",
            "/home/somebody/recollect.db",
            {f"llm.{key}": keys[key] for key in keys},
        )


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        self.question: Question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.questions.append(self.question)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.paths.append(self.path)
        (self.server.script.pop(0) if self.server.script else self.server.usual)(self)

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test that fails says enough."""


def answer(
    text: str | None,
    *,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: object,
) -> bytes:
    """A whole answer of the protocol, as a service would write it."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text, **message},
    }
    return json.dumps(
        {"object": "chat.completion", "choices": [choice]} | ({"usage": usage} if usage else {})
    ).encode()


def saying(text: str | None, **more: Any) -> Behaviour:
    return lambda handler: handler.say(200, answer(text, **more))


def giving(body: bytes, **headers: str) -> Behaviour:
    return lambda handler: handler.say(200, body, **headers)


def refusing(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler: handler.say(status, body, **headers)


def hanging_up(handler: Handler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')


def silent(seconds: float) -> Behaviour:
    """Says nothing for a while, and then hangs up."""

    def sleep(handler: Handler) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return sleep


def waiting(event: threading.Event) -> Behaviour:
    """Answers once something has happened."""

    def wait(handler: Handler) -> None:
        assert event.wait(10)
        handler.say(200, answer("well"))

    return wait


def trickling(pieces: int, seconds: float) -> Behaviour:
    """A byte now and then, so that no read ever takes too long."""

    def trickle(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(pieces))
        handler.end_headers()
        try:
            for _ in range(pieces):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(seconds)
        except OSError:
            handler.close_connection = True

    return trickle


@contextmanager
def running() -> Iterator[Service]:
    """A service on a free port of this machine."""
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
