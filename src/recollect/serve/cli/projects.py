"""recollect projects: list, merge and split projects, and say whose their logs are.

recollect projects                     newest first
recollect projects merge NAME INTO     show NAME as a part of INTO
recollect projects split NAME          undo that
recollect projects trust FOLDER        the agents' logs inside FOLDER are mine
recollect projects distrust FOLDER     undo that

Some agents leave their logs in the folder they work in, where a cloned
repository can have put them as well. Agents are told nothing of such logs
until you trust the folder, and never of logs that git tracks.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import ProjectRow
from recollect.serve.cli import count
from recollect.serve.cli.lists import Screen, project_names, shown_path
from recollect.serve.cli.style import Column, age, money, number
from recollect.serve.output import Output, counted, short_date
from recollect.system.platforms import as_argument

# Longer names are cut: they stand whole in the last column.
MOST_NAME = 32
_NAMES = {"list": 0, "merge": 2, "split": 1, "trust": 1, "distrust": 1}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=list(_NAMES), default="list",
        help="what to do (default: list)",
    )  # fmt: skip
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="the projects to merge or split, or the folder"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    wanted = _NAMES[args.action]
    if len(args.names) != wanted:
        raise UsageError(
            f"`recollect projects {args.action}` takes {counted(wanted, 'name')}.",
            hint="See recollect projects --help",
        )
    if args.action == "list":
        rows = memory.projects.all()[: args.limit]
        empty = "No projects yet. Read your sessions: recollect import"
        return Output(rows, _text, empty=empty, screen=lambda screen: _screen(screen, memory, rows))
    return Output([], note=_CHANGES[args.action](memory, *args.names))


def _screen(screen: Screen, memory: Memory, rows: list[ProjectRow]) -> Iterator[str]:
    if not rows:
        return
    style, names = screen.style, project_names(row.key for row in rows)
    costs = {row.name: row.cost_usd for row in memory.stats("project")}
    columns = [
        Column("project"), Column("age", role="dim", right=True), Column("sessions", right=True),
        Column("turns", right=True), Column("cost", right=True, drop=1),
        Column("where", role="dim", flexible=True),
    ]  # fmt: skip
    lines = [
        [
            style.cut(style.clean(names[row.key]), MOST_NAME), style.glyph(age(row.last_at)),
            number(row.sessions), number(row.turns), style.glyph(money(costs.get(row.key))),
            style.clean("; ".join([shown_path(row.key), *map(shown_path, row.merged)])),
        ]
        for row in rows
    ]  # fmt: skip
    yield from screen.table(columns, lines)
    yield from screen.hint(
        "Its sessions: recollect ls --project NAME   "
        "Two are one: recollect projects merge NAME INTO"
    )


def _merge(memory: Memory, name: str, into: str) -> str:
    memory.projects.merge(name, into)
    return f"{name} is now part of {into}. Undo: recollect projects split {as_argument(name)}"


def _split(memory: Memory, name: str) -> str:
    memory.projects.split(name)
    return f"{name} is a project of its own again."


def _trust(memory: Memory, folder: str) -> str:
    tracked = memory.projects.trust(folder)
    shown = os.path.realpath(folder)
    said = f"The logs in {shown} count as yours from the next import."
    if tracked:
        said += f" {counted(len(tracked), 'log')} that git tracks there stay external."
    return f"{said} Undo: recollect projects distrust {as_argument(shown)}"


def _distrust(memory: Memory, folder: str) -> str:
    sessions = memory.projects.distrust(folder)
    return (
        f"The logs in {os.path.realpath(folder)} are external again"
        f" ({counted(sessions, 'session')})."
    )


_CHANGES: dict[str, Callable[..., str]] = {
    "merge": _merge, "split": _split, "trust": _trust, "distrust": _distrust,
}  # fmt: skip


def _text(project: ProjectRow) -> str:
    domain = f"  [{project.domain}]" if project.domain else ""
    merged = "".join(f"\n    includes {name}" for name in project.merged)
    counts = f"{counted(project.sessions, 'session')}, {counted(project.turns, 'turn')}"
    return f"{project.key}{domain}\n    {counts}, last {short_date(project.last_at)}{merged}"
