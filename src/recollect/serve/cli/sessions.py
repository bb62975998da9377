"""recollect sessions: list sessions, newest first.

recollect sessions                         of this project; everywhere: --all
recollect sessions deadlock agent:codex since:7d
recollect sessions --subagents             with the sub-agents that each started

Words and filters work as in a search. A session is listed when one of its
turns, or of its sub-agents' turns, has all the words and matches all the filters.
"""

from __future__ import annotations

import os
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
from recollect.serve.cli.style import Column, age, cells, money, number
from recollect.serve.output import Output, counted, external_mark

__all__ = ["arguments", "fields", "prepare", "run"]

# From this width on the branch is shown, as much of it as says something.
WIDEST_LISTS, MOST_BRANCH = 120, 24
DEFAULT_LIMIT = 20


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument(
        "--limit",
        type=count,
        default=DEFAULT_LIMIT,
        metavar="N",
        help="how many sessions (default: %(default)s)",
    )
    parser.add_argument(
        "--subagents", action="store_true", help="list the sub-agents of each session under it"
    )
    parser.add_argument("--offset", type=count, default=0, metavar="N", help="skip the first N")
    parser.add_argument(
        "--all", action="store_true", help="of every project, not only of the one here"
    )


def run(memory: Memory, args: Namespace) -> Output:
    filters = chosen(args)
    # In a project its own, unless somebody names another, or a session.
    named = {"project", "session", "domain"}
    free = not any(filters[name] for name in named) and not any(
        word.strip("-").partition(":")[0] in named for word in typed(args).split() if ":" in word
    )
    own = memory.projects.of(os.getcwd()) if free and not args.all else None
    if own is not None:
        filters["project"] = [own]
    rows = memory.sessions(
        typed(args), limit=args.limit, offset=args.offset, subagents=args.subagents, **filters
    )
    words = typed(args)
    empty = f"No sessions match {words}." if words else "No sessions match."
    if own is not None:
        empty += " In every project: recollect ls --all"

    def screen(seen: Screen) -> Iterator[str]:
        found = list(rows)
        if own is not None and found and not args.offset:
            yield from _head(seen, memory, args, own)
        yield from _screen(seen, memory, found, tree=args.subagents)

    return Output(
        rows, fields, empty=empty, note=remarked(memory, args), screen=screen,
        pages=args.limit != DEFAULT_LIMIT,
    )  # fmt: skip


def _head(screen: Screen, memory: Memory, args: Namespace, own: str) -> Iterator[str]:
    """Which project this is, and how many sessions there are elsewhere."""
    style, filters = screen.style, chosen(args)
    everywhere = memory.session_page(typed(args), limit=1, cursor=None, **filters).total
    filters["project"] = [own]
    here = memory.session_page(typed(args), limit=1, cursor=None, **filters).total
    name = style.cut(style.clean(project_names([own])[own]), 40)
    said = f" · {counted(here, 'session')}"
    if everywhere > here:
        said += f" ({everywhere:,} in all projects: recollect ls --all)"
    yield style.paint("bold", name) + style.cut(style.glyph(said), style.width - cells(name))


def fields(session: Session) -> str:
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
        Column(gap=1),
        Column("title", flexible=True, gap=1),
        Column(role="dim"),
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
        texts = {
            "": screen.number(one.id),
            "age": style.glyph(age(one.started_at)),
            "title": (style.glyph("└ ") if is_below else "") + title,
            "turns": number(one.turns),
            "cost": style.glyph(money(one.cost_usd)),
            "project": style.clean(projects[one.project]),
            "agent": agent_name(one.agent),
            "branch": style.cut(style.clean(one.git.branch or ""), MOST_BRANCH),
            "id": names[one.id].short,
        }
        row = [texts[column.name] for column in columns]
        row[4] = f"+{one.subagents}" if one.subagents and not tree else ""
        row[2] = style.glyph(OUTCOMES.get(one.outcome or "", ("", ""))[0])
        rows.append(row)
    yield from screen.table(columns, rows)
    yield from screen.hint("Read one: recollect show 1   Continue it: recollect resume 1")
