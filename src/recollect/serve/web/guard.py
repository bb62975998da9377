"""Who may see the page: whoever opened the link that we printed, on this machine.

The link's token becomes a cookie that scripts cannot read and other sites
cannot send. A request that was not meant for us (Host), that another page sent
(Origin), or that has no such cookie is turned away. A change needs a second
token besides, which only our own pages hold.
"""

from __future__ import annotations

import secrets
from hmac import compare_digest
from hmac import digest as keyed
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from recollect.serve.loopback import hosts_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_BYTES = 24
COOKIE, PARAMETER = "recollect", "token"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # Without any, browsers say of our own forms that they come from nowhere.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SIGN_IN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>recollect</title>
<h1>This page needs its link</h1>
<p>Open the link that <code>recollect web</code> printed when it started. It holds a token,
so that nobody else on this machine can read your sessions.</p></html>"""


class PageKeys:
    """The secrets of one run: what the link holds, what the cookie holds, what changes need."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._cookie = secrets.token_urlsafe(TOKEN_BYTES)
        self.change = keyed(self._cookie.encode(), b"change", "sha256").hex()

    def cookie_name(self, port: int) -> str:
        """Cookies are shared by all ports of a host, so each run has a name of its own."""
        return f"{COOKIE}-{port}"

    @property
    def cookie(self) -> str:
        """What a browser that opened the link shows with each request."""
        return self._cookie


class PageGuard:
    """Lets in who may see the page, and says to browsers what the page may do."""

    def __init__(self, app: ASGIApp, port: int, keys: PageKeys) -> None:
        self._app, self._keys = app, keys
        self._name = keys.cookie_name(port)
        self._hosts = set(hosts_of(port))
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        answer = self._answer(scope, Headers(scope=scope))
        await (answer or self._app)(scope, receive, send_with_headers)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """What is said instead of the page; None for who may see it."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return PlainTextResponse("Call this server by the names of this machine only.\n", 421)
        if not self._origins.issuperset(headers.getlist("origin")):
            return PlainTextResponse("Another page sent this request.\n", 403)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get(PARAMETER)
        if given is not None and _same(given, self._keys.token):
            return self._welcome(scope["path"], [pair for pair in query if pair[0] != PARAMETER])
        if not _same(_cookies(headers).get(self._name, ""), self._keys.cookie):
            return HTMLResponse(_SIGN_IN, 403)
        return None

    def _welcome(self, path: str, query: list[tuple[str, str]]) -> Response:
        """The same page again without the token, which now is a cookie."""
        # What begins with two slashes would be another host.
        place = "/" + path.lstrip("/\\")
        answer = RedirectResponse(place + (f"?{urlencode(query)}" if query else ""), 303)
        answer.set_cookie(self._name, self._keys.cookie, httponly=True, samesite="strict", path="/")
        return answer


def _same(one: str, other: str) -> bool:
    return compare_digest(one.encode("utf-8", "replace"), other.encode())


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        found = SimpleCookie("; ".join(headers.getlist("cookie")))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in found.items()}
