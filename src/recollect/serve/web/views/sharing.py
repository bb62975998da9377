"""What leaves the page as a file: a session as one page or as Markdown, sums as CSV."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from recollect.errors import RecollectError
from recollect.model.sessions import SessionDetail, ToolCall
from recollect.serve.web.views import usage
from recollect.serve.web.views.calls import show_turn

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.serve.web.app import Web


def routes(web: Web) -> list[Route]:
    """The files that can be saved."""

    async def page(request: Request) -> Response:
        return await _saved(web, request.path_params["ref"], "text/html", _page)

    async def text(request: Request) -> Response:
        return await _saved(web, request.path_params["ref"], "text/markdown", _markdown)

    async def sums(request: Request) -> Response:
        by, since = (request.query_params.get(name, "") for name in ("by", "since"))
        by = by if by in dict(usage.SPLITS) else "project"
        filters, _ = usage.periods(since)
        rows = await web.sums.ask(lambda memory: memory.stats(by, **filters))
        return Response(usage.as_csv(rows), media_type="text/csv")

    return [
        Route("/export/{ref:path}.html", page),
        Route("/export/{ref:path}.md", text),
        Route("/usage.csv", sums),
    ]


async def _saved(web: Web, ref: str, kind: str, make: object) -> Response:
    try:
        text = await web.reads.ask(lambda memory: make(web, memory, ref))  # type: ignore[operator]
    except RecollectError as error:
        return PlainTextResponse(f"{error}\n{error.hint or ''}\n", 404)
    # Written by a log, it is never a page of ours: it is saved, not shown.
    ending = "html" if kind == "text/html" else "md"
    name = "".join(char if char.isalnum() or char in "-_." else "-" for char in ref)[:80]
    return Response(
        text,
        media_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}.{ending}"'},
    )


def _page(web: Web, memory: Memory, ref: str) -> str:
    """A session as one page that needs nothing else, without its secrets."""
    session = _whole(memory, ref)
    style = files("recollect.serve.web").joinpath("static", "recollect.css").read_text("utf-8")
    turns = [show_turn(turn) for turn in session.turn_list if turn.live]
    text = web.templates.get_template("shared.html").render(
        session=session, turns=turns, style=style, path="", change_token="", earlier_after=None,
        later_after=None,
    )  # fmt: skip
    return memory.redact(text)


def _markdown(web: Web, memory: Memory, ref: str) -> str:
    """A session as Markdown, without its secrets."""
    session = _whole(memory, ref)
    name = web.agent_name(session.agent)
    lines = [
        f"# {session.title or session.id}",
        "",
        f"{name}, {session.started_at or 'no date'}",
        "",
    ]
    for turn in session.turn_list:
        if not turn.live:
            continue
        lines += [f"## {turn.ordinal}", ""]
        for event in turn.events:
            if isinstance(event, ToolCall):
                ended = {True: "ok", False: "failed", None: "unknown"}[event.ok]
                lines += [f"- `{' '.join((event.target or event.name or '').split())}` ({ended})"]
            elif event.kind == "prompt":
                lines += [*(f"> {line}" for line in event.text.splitlines()), ""]
            elif event.kind == "reply":
                lines += ["", event.text, ""]
        lines.append("")
    return memory.redact("\n".join(lines))


def _whole(memory: Memory, ref: str) -> SessionDetail:
    found = memory.show(ref.partition("#")[0])
    assert isinstance(found, SessionDetail)
    return found
