"""Clients of our own: they send JSON as it stands in the protocol,
and hide nothing of what comes back.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
WAIT_SECONDS = 30

Json = dict[str, Any]


def meta(version: str = MODERN) -> Json:
    """What every request of the new protocol says about itself."""
    return {
        f"{META}protocolVersion": version,
        f"{META}clientCapabilities": {},
        f"{META}clientInfo": {"name": "test", "version": "1"},
    }


def initialize(version: str) -> Json:
    """How a client of the old protocol begins."""
    return {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }


class Pipes:
    """A server that was started the way an agent starts one."""

    command = ("-m", "recollect", "mcp")

    def __init__(
        self, *options: str, store: Path | None = None, folder: Path | None = None
    ) -> None:
        command = [sys.executable, *self.command, *(["--store", str(store)] if store else [])]
        command += options
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(os.environ),
        )
        self.lines: list[bytes] = []
        self._arrived: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._asked = 0

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._arrived.put(line)

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Json:
        answer: Json = json.loads(self._arrived.get(timeout=WAIT_SECONDS))
        return answer

    def ask(self, method: str, params: Json | None = None) -> Json:
        """The whole answer to a request, error or result."""
        self._asked += 1
        self.send(
            json.dumps(
                {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params or {}}
            ).encode()
        )
        answer = self.receive()
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self._asked)
        return answer

    def ask_modern(self, method: str, params: Json | None = None, *, version: str = MODERN) -> Json:
        return self.ask(method, {**(params or {}), "_meta": meta(version)})

    def call(self, tool: str, /, **arguments: Any) -> Json:
        """What a tool answers, to a client of the new protocol."""
        result: Json = self.ask_modern("tools/call", {"name": tool, "arguments": arguments})[
            "result"
        ]
        return result

    def begin(self, version: str = "2025-11-25") -> Json:
        """The handshake of the old protocol."""
        answer = self.ask("initialize", initialize(version))
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def end(self) -> tuple[int, str]:
        """Close the server's input, as an agent does that has ended.

        Its exit code and what it logged.
        """
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> tuple[int, str]:
        assert self.process.stderr is not None
        code = self.process.wait(WAIT_SECONDS)
        self._reader.join(WAIT_SECONDS)
        return code, self.process.stderr.read().decode()

    def kill(self) -> None:
        """Whatever happened, leave nothing behind."""
        self.process.kill()
        self.process.wait()
        self._reader.join(WAIT_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
