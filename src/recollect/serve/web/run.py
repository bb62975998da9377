"""The page from start to end: its port, its link, its browser."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlencode

from recollect.memory import Memory
from recollect.serve import loopback
from recollect.serve.web.app import Web
from recollect.serve.web.guard import PARAMETER, PageGuard, PageKeys
from recollect.serve.web.routes import make_app

# Always the same where it is free: a browser remembers what somebody chose by it.
USUAL_PORT = 7374


def run(memory: Memory, *, port: int | None, opens: bool, read_only: bool) -> None:
    """Serve the page until somebody presses Ctrl-C."""
    listening = _listen(port)
    found = loopback.port_of(listening)
    keys = PageKeys()
    link = f"http://{loopback.HOST}:{found}/?{urlencode({PARAMETER: keys.token})}"
    web = Web(memory, keys=keys, read_only=read_only)
    where = f"{link}\nOnly this machine can open it, with this link. Ctrl-C ends it."
    if opens:
        _open(link)
    try:
        app = PageGuard(make_app(web), found, keys)
        asyncio.run(loopback.serve(app, listening, where=where, stopping=web.stopping.set))
    finally:
        web.close()


def _listen(port: int | None) -> socket.socket:
    if port is not None:
        return loopback.take_port(port)
    try:
        return loopback.take_port(USUAL_PORT)
    except loopback.PortTaken:
        return loopback.take_port(0)


def _open(link: str) -> None:
    """Show the page in the person's browser; where there is none, the link is enough."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
