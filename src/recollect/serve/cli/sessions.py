"""recollect sessions: list sessions, newest first.

recollect sessions
recollect sessions deadlock agent:codex since:7d
recollect sessions --subagents             with the sub-agents that each started

Words and filters work as in a search. A session is listed when one of its
turns, or of its sub-agents' turns, has all the words and matches all the filters.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from textwrap import indent

from recollect.memory import Memory
from recollect.model.sessions import Session
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.output import Output, counted, external_mark, short_time

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument(
        "--limit",
        type=count,
        default=20,
        metavar="N",
        help="how many sessions (default: %(default)s)",
    )
    parser.add_argument(
        "--subagents", action="store_true", help="list the sub-agents of each session under it"
    )
    parser.add_argument("--offset", type=count, default=0, metavar="N", help="skip the first N")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.sessions(
        typed(args),
        limit=args.limit,
        offset=args.offset,
        subagents=args.subagents,
        **chosen(args),
    )
    shown: set[str] = set()

    def text(session: Session) -> str:
        shown.add(session.id)
        # A sub-agent whose parent is not stored stands for itself.
        is_below = session.origin == "subagent" and session.parent in shown
        return indent(_text(session), "    ") if is_below else _text(session)

    return Output(rows, text, empty="No sessions match.", note=remarked(memory, args))


def _text(session: Session) -> str:
    cost = "" if session.cost_usd is None else f"  ${session.cost_usd:.2f}"
    title = session.title or "(untitled)"
    came_to = (
        f"\n    {session.outcome}: {session.summary}" if session.outcome and session.tasks else ""
    )
    subagents = f", {counted(session.subagents, 'sub-agent')}" if session.subagents else ""
    return (
        f"{session.id}{external_mark(session)}\n"
        f"    {short_time(session.started_at)}  {session.project or '-'}  {title}\n"
        f"    {counted(session.turns, 'turn')}, {counted(session.tool_calls, 'tool call')},"
        f" {counted(session.errors, 'error')}{subagents}"
        f"  {session.model or '-'}{cost}{came_to}"
    )
