"""The MCP server and the web page are killed while they write what somebody asked them to keep.

What was confirmed is there, once; what was not may be there or not, once; and the next server that
is started answers.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.torture.campaign import Round
from tests.torture.homes import TortureHome, make_homes

MOST_NOTES, MOST_SECONDS = 12, 0.8
WAIT_SECONDS = 60.0
# Keeps a note; False when it was not confirmed because the server is gone.
Keep = Callable[[str], bool]


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    make_homes(home)
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        start = (mcp, web)[number % 2]
        home.restore("settled")
        yield Round(f"{start.__name__} server", attempt(home, start, chance, number))


def attempt(
    home: TortureHome,
    start: Callable[[TortureHome], tuple[subprocess.Popen[bytes], Keep]],
    chance: random.Random,
    number: int,
) -> list[str]:
    process, keep = start(home)
    # The first is kept in peace, so that there is always something to lose.
    wanted = [f"Round {number}: note {each} stays." for each in range(MOST_NOTES)]
    confirmed = [text for text in wanted[:1] if keep(text)]
    killer = threading.Timer(chance.uniform(0, MOST_SECONDS), process.kill)
    killer.start()
    for text in wanted[1:]:
        if not keep(text):
            break
        confirmed.append(text)
    killer.join()
    process.kill()
    process.communicate()
    faults = home.unwell()
    with home.memory() as memory:
        kept = [note.text for note in memory.notes.search(limit=None)]
    faults += [] if confirmed else ["nothing was confirmed"]
    faults += [f"lost: {text}" for text in confirmed if text not in kept]
    faults += [f"there {kept.count(text)} times: {text}" for text in wanted if kept.count(text) > 1]
    process, keep = start(home)
    faults += [] if keep("The next one answers.") else ["the next server does not answer"]
    process.kill()
    process.communicate()
    return faults


def mcp(home: TortureHome) -> tuple[subprocess.Popen[bytes], Keep]:
    """A server over pipes, after the handshake."""
    process = _started(home, "mcp")

    def ask(message: dict[str, Any], *, answered: bool = True) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        try:
            process.stdin.write(line)
            process.stdin.flush()
            found = process.stdout.readline() if answered else b"{}"
        except OSError:
            return {}
        answer: dict[str, Any] = json.loads(found) if found.endswith((b"\n", b"}")) else {}
        return answer

    client = {"protocolVersion": "2025-06-18", "capabilities": {},
              "clientInfo": {"name": "torture", "version": "1"}}  # fmt: skip
    ask({"id": 0, "method": "initialize", "params": client})
    ask({"method": "notifications/initialized"}, answered=False)

    def keep(text: str) -> bool:
        call = {"name": "remember", "arguments": {"text": text}}
        answer = ask({"id": 1, "method": "tools/call", "params": call})
        return "result" in answer and not answer["result"].get("isError")

    return process, keep


def web(home: TortureHome) -> tuple[subprocess.Popen[bytes], Keep]:
    """The page, for a browser that opened its link."""
    process = _started(home, "web", "--no-open", "--port", "0")
    assert process.stderr is not None
    assert process.stdout is not None
    link = b""
    while b"http://" not in link:
        link = process.stderr.readline()
        assert link, "the page did not start"
    found = urlsplit(link.decode().strip())
    threading.Thread(target=process.stderr.read, daemon=True).start()
    cookie = ""

    def ask(method: str, place: str, body: str = "") -> tuple[int, str]:
        nonlocal cookie
        connection = HTTPConnection(found.hostname or "", found.port, timeout=WAIT_SECONDS)
        headers = {"Cookie": cookie}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, place, body, headers)
            reply = connection.getresponse()
            cookie = (reply.getheader("Set-Cookie") or cookie).partition(";")[0]
            return reply.status, reply.read().decode()
        except (OSError, HTTPException):
            return 0, ""
        finally:
            connection.close()

    ask("GET", f"/?{found.query}")
    project = re.search(r'href="(/p/[^"?#]+)"', ask("GET", "/")[1])
    page = ask("GET", project[1])[1] if project else ""
    change = re.search(r'name="change" value="([^"]+)"', page)

    def keep(text: str) -> bool:
        fields = {"change": change[1] if change else "", "text": text, "project": "", "back": "/"}
        return ask("POST", "/notes/add", urlencode(fields))[0] in (200, 303)

    return process, keep


def _started(home: TortureHome, *words: str) -> subprocess.Popen[bytes]:
    environ = {"HOME": str(home.path), "USERPROFILE": str(home.path),
               "RECOLLECT_HOME": str(home.folder), "PATH": os.environ.get("PATH", "")}  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=home.path, env=environ,
    )  # fmt: skip
