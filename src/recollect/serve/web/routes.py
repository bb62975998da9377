"""Which view answers which address."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from recollect.errors import NotFound
from recollect.serve.web.views import FORMS, VIEWS, live, sharing

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.serve.web.app import Web

TYPES = {".css": "text/css", ".js": "text/javascript"}


def make_app(web: Web) -> Starlette:
    """The application of a page."""
    routes = [
        Route("/static/{name}", _static),
        *(Route(view.path, web.page(view)) for view in VIEWS),
        *(Route(form.path, web.change(form), methods=["POST"]) for form in FORMS),
        *live.routes(web),
        *sharing.routes(web),
    ]

    async def nowhere(request: Request, _: Exception) -> Response:
        fault = NotFound("There is no such page.", hint="The menu leads to all of them.")
        return web.fault(fault, request)

    app = Starlette(routes=routes, exception_handlers={404: nowhere})
    app.add_middleware(GZipMiddleware, minimum_size=1_000)
    return app


async def _static(request: Request) -> Response:
    """A file of the page itself; the address holds the version, so that it may be kept."""
    name = request.path_params["name"]
    found = files("recollect.serve.web").joinpath("static", name)
    kind = TYPES.get(os.path.splitext(name)[1])
    if kind is None or "/" in name or "\\" in name or not found.is_file():
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(
        found.read_bytes(),
        media_type=kind,
        headers={"Cache-Control": "private, max-age=31536000, immutable"},
    )
