"""recollect sessions: list sessions, newest first.

recollect sessions
recollect sessions deadlock agent:codex since:7d
recollect sessions --subagents             with the sub-agents that each started

Words and filters work as in a search. A session is listed when one of its
turns, or of its sub-agents' turns, has all the words and matches all the filters.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.memory import Memory
from recollect.model.sessions import Session
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.lists import (
    OUTCOMES,
    Screen,
    agent_name,
    project_names,
)
from recollect.serve.cli.style import Column, age, money, number
from recollect.serve.output import Output, external_mark

__all__ = ["arguments", "prepare", "run"]

# From this width on the branch is shown, as much of it as says something.
WIDEST_LISTS, MOST_BRANCH = 120, 24


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
    return Output(
        rows,
        _text,
        empty="No sessions match.",
        note=remarked(memory, args),
        screen=lambda screen: _screen(screen, memory, list(rows), tree=args.subagents),
    )


def _text(session: Session) -> str:
    """For a program: fields between tabs, nothing cut."""
    cost = "" if session.cost_usd is None else f"{session.cost_usd:.4f}"
    return "\t".join(
        [
            session.started_at or "",
            session.outcome or "",
            " ".join((session.title or "(no prompt)").split()) + external_mark(session),
            str(session.turns),
            cost,
            session.project or "",
            session.agent,
            session.parent or "",
            session.id,
        ]
    )


def _screen(screen: Screen, memory: Memory, found: list[Session], *, tree: bool) -> Iterator[str]:
    if not found:
        return
    style = screen.style
    names = memory.names([one.id for one in found])
    projects = project_names(one.project for one in found)
    columns = [
        Column(role="accent", right=True),
        Column("age", role="dim", right=True),
        Column(),
        Column("title", flexible=True),
        Column("turns", right=True, drop=2),
        Column("cost", right=True, drop=3),
        *([Column("project", drop=5)] if len({one.project for one in found}) > 1 else []),
        Column("agent", drop=4),
        *([Column("branch", role="dim", drop=1)] if style.width >= WIDEST_LISTS else []),
        Column("id", role="accent"),
    ]
    shown: set[str] = set()
    rows = []
    for one in found:
        shown.add(one.id)
        # A sub-agent whose parent is not stored stands for itself.
        is_below = one.origin == "subagent" and one.parent in shown
        title = style.clean((one.title or "(no prompt)") + external_mark(one))
        more = f" +{one.subagents}" if one.subagents and not tree else ""
        cells = {
            "": screen.number(one.id),
            "age": style.glyph(age(one.started_at)),
            "title": (style.glyph("└ ") if is_below else "") + title + more,
            "turns": number(one.turns),
            "cost": style.glyph(money(one.cost_usd)),
            "project": style.clean(projects[one.project]),
            "agent": agent_name(one.agent),
            "branch": style.cut(style.clean(one.git.branch or ""), MOST_BRANCH),
            "id": names[one.id].short,
        }
        row = [cells[column.name] for column in columns]
        row[2] = style.glyph(OUTCOMES.get(one.outcome or "", ("", ""))[0])
        rows.append(row)
    yield from screen.table(columns, rows)
    yield from screen.hint("Read one: recollect show 1   Continue it: recollect resume 1")
