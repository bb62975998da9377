"""Serving the agent that started us, over its pipes.

The SDK takes forty times as long to import as Python takes to start, and every session of every
agent would pay for it. So what agents ask in nearly every session is answered here: the
handshake and the lists from a file that was made of the SDK's own answers (prebuilt.json), calls
of tools by the code that the SDK's server calls too. With anything else the SDK takes over: it
is loaded, told how the connection began, and has the pipes from there on.

We end when the agent closes our input, once it has every answer it waits for; when it no longer
takes our output; or when we are told to.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import msgspec

from recollect.serve.mcp.lines import Lines, message_of
from recollect.serve.mcp.run import memory_threads, warm_up

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recollect.memory import Memory
    from recollect.serve.mcp.answers import ToolAnswer
    from recollect.serve.mcp.tools import Tools
    from recollect.serve.memory_thread import MemoryThread

PREBUILT = os.path.join(os.path.dirname(__file__), "prebuilt.json")
META = "io.modelcontextprotocol/"
# Clients of before shake hands; modern ones say with each message which protocol they speak.
OLD, MODERN = "old", "modern"

Message = dict[str, Any]


def run(memory: Memory, *, read_only: bool, distill: bool, episodes: bool) -> None:
    """Serve the process that started us."""
    with memory_threads(memory, read_only=read_only) as (reads, writes):
        Pipes(memory, reads, writes, distill=distill, episodes=episodes).serve()


class Pipes:
    """One connection, from its first line to its last."""

    def __init__(
        self,
        memory: Memory,
        reads: MemoryThread,
        writes: MemoryThread | None,
        *,
        distill: bool,
        episodes: bool,
    ) -> None:
        self._memory, self._folder = memory, os.getcwd()
        self._reads, self._writes = reads, writes
        self._distill, self._episodes = distill, episodes
        with open(PREBUILT, "rb") as file:
            self._prebuilt: Message = msgspec.json.decode(file.read())
        self._era = ""
        # How the connection began, for the SDK should it take over.
        self._opening: list[Message] = []
        self._waiting: set[Future[ToolAnswer]] = set()
        self._done, self._only_one = threading.Condition(), threading.Lock()
        self._warm = False

    @cached_property
    def tools(self) -> Tools:
        from recollect.serve.mcp.tools import Tools

        return Tools(
            self._reads, self._writes, self._folder, distill=self._distill,
            records=self._memory if self._episodes else None,
        )  # fmt: skip

    def serve(self) -> None:
        """Answer until there is nobody left to answer to."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _end)
        lines, self._out = Lines(sys.stdin.fileno()), os.dup(1)
        # What is printed by mistake must not get between our messages.
        os.dup2(2, 1)
        try:
            for line in lines:
                if not self._take(line):
                    self._wait()
                    self._hand_over(line, lines)
                    return
            self._wait()
        except (BrokenPipeError, KeyboardInterrupt):
            pass

    def _take(self, line: bytes) -> bool:
        """Answer a line, unless the SDK has to."""
        message, fault = message_of(line)
        if fault:
            self._write(fault)
            return True
        method, number = message.get("method"), message.get("id")
        params = message.get("params", {})
        if number is None and isinstance(method, str):
            if method == "notifications/initialized":
                self._opening.append(message)
            # That a call is not wanted any more comes too late: it takes milliseconds.
            return True
        if message.get("jsonrpc") != "2.0" or not isinstance(params, dict):
            return False
        if not isinstance(number, (int, str)) or isinstance(number, bool):
            return False
        era = self._era_of(params)
        if method == "initialize" and not era and not self._era:
            return self._begin(message, params)
        if not era or self._era not in ("", era):
            return False
        if self._era != era:
            self._era = era
            self._opening = [{**message, "id": META, "method": "server/discover", "params": {
                "_meta": params["_meta"]}}]  # fmt: skip
        if method == "tools/call":
            return self._call(number, params)
        result = self._listed(era, str(method), params)
        if result is None:
            return False
        self._say(number, result)
        if method == "tools/list":
            self._warm_up()
        return True

    def _era_of(self, params: Message) -> str:
        """Which protocol a request is of; empty when the SDK has to find out."""
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            return ""
        if f"{META}protocolVersion" not in meta:
            return self._era if self._era == OLD else ""
        known = self._prebuilt[MODERN]["server/discover"]["supportedVersions"]
        said = all(
            isinstance(meta.get(META + name), dict) for name in ("clientCapabilities", "clientInfo")
        )
        return MODERN if said and meta[f"{META}protocolVersion"] in known else ""

    def _begin(self, message: Message, params: Message) -> bool:
        """Shake hands with a client of a version that does."""
        version, client = params.get("protocolVersion"), params.get("clientInfo")
        known = self._prebuilt["initialize"].get(version) if isinstance(version, str) else None
        named = isinstance(client, dict) and all(
            isinstance(client.get(key), str) for key in ("name", "version")
        )
        if known is None or not named or not isinstance(params.get("capabilities"), dict):
            return False
        self._era = OLD
        self._opening = [message]
        self._say(message["id"], known)
        return True

    def _listed(self, era: str, method: str, params: Message) -> Message | None:
        """What was built before for a method."""
        result: Message | None = self._prebuilt[era].get(method)
        if result is None or not params.keys() <= {"_meta"}:
            return None
        if method != "tools/list":
            return result
        offered = {
            "read": True, "write": self._writes is not None, "distill": self._distill,
            "episodes": self._episodes,
        }  # fmt: skip
        tools = [
            tool for group, ours in offered.items() if ours
            for tool in self._prebuilt["tools"][group]
        ]  # fmt: skip
        return {**result, "tools": tools}

    def _call(self, number: int | str, params: Message) -> bool:
        """Have a tool answer; whatever is odd about the call is the SDK's to say."""
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not params.keys() <= {"name", "arguments", "_meta"} or not isinstance(arguments, dict):
            return False
        if not isinstance(name, str) or name not in self.tools.listed:
            return False
        self._warm = True
        answering = self.tools.call(name, arguments)
        with self._done:
            self._waiting.add(answering)
        answering.add_done_callback(partial(self._answered, number))
        return True

    def _answered(self, number: int | str, answering: Future[ToolAnswer]) -> None:
        complete = self._prebuilt["complete"] if self._era == MODERN else {}
        try:
            if not answering.cancelled():
                self._say(number, {**answering.result().on_the_wire(), **complete})
        except BrokenPipeError:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            with self._done:
                self._waiting.discard(answering)
                self._done.notify()

    def _wait(self) -> None:
        """Until every call is answered."""
        with self._done:
            self._done.wait_for(lambda: not self._waiting)

    def _warm_up(self) -> None:
        if not self._warm:
            self._warm = True
            self._reads.submit(warm_up)

    def _say(self, number: int | str, result: Message) -> None:
        self._write(msgspec.json.encode({"jsonrpc": "2.0", "id": number, "result": result}))

    def _write(self, line: bytes) -> None:
        left = memoryview(line + b"\n")
        with self._only_one:
            while left:
                left = left[os.write(self._out, left) :]

    def _hand_over(self, line: bytes, lines: Lines) -> None:
        """Have the SDK answer from this line on."""
        import anyio

        from recollect.serve.mcp import stdio
        from recollect.serve.mcp.resources import Resources
        from recollect.serve.mcp.server import make_server

        server = make_server(self.tools, Resources(self._reads))
        opening = [msgspec.json.encode(message) for message in self._opening]
        anyio.run(partial(stdio.serve, server, lines, self._out, opening=opening, first=line))


def _end(number: int, frame: object) -> None:
    raise KeyboardInterrupt
