"""recollect sessions: list sessions, newest first.

Filters may be options or part of the text: `recollect sessions agent:codex
since:7d is:error`. A session is listed when one of its turns passes.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model import Session
from recollect.serve.cli import count
from recollect.serve.cli.output import Output, counted

FILTERS = ("agent", "project", "domain", "model", "tool", "file", "since", "until")


def add_filters(parser: ArgumentParser) -> None:
    """The filters as options, the same for every command that has them."""
    parser.add_argument("filters", nargs="*", metavar="FILTER", help="filters such as agent:codex or since:7d")
    for name in FILTERS:
        what = f"only {name} this time" if name in ("since", "until") else f"only turns with this {name}"
        parser.add_argument(f"--{name}", help=what)


def chosen(args: Namespace) -> dict[str, str | None]:
    """The filters that were given as options."""
    return {name: getattr(args, name) for name in FILTERS}


def arguments(parser: ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="how many sessions (default: %(default)s)")
    parser.add_argument("--offset", type=count, default=0, metavar="N", help="leave out the first N")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.sessions(" ".join(args.filters), limit=args.limit, offset=args.offset, **chosen(args))
    return Output(rows, _text, empty="no session passes these filters")


def _text(session: Session) -> str:
    cost = "" if session.cost_usd is None else f"  ${session.cost_usd:.2f}"
    title = session.title or "(untitled)"
    return (
        f"{session.id}\n    {(session.started_at or '')[:16].replace('T', ' ')}  {session.project or '-'}  {title}\n"
        f"    {counted(session.turns, 'turn')}, {counted(session.tool_calls, 'tool call')},"
        f" {counted(session.errors, 'error')}  {session.model or '-'}{cost}"
    )
