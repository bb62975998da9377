"""recollect projects: list, merge and split projects.

recollect projects                     newest first
recollect projects merge NAME INTO     show NAME as a part of INTO
recollect projects split NAME          undo that
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import ProjectRow
from recollect.serve.cli import count
from recollect.serve.output import Output, counted, short_date


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=["list", "merge", "split"],
        default="list",
        help="what to do (default: list)",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="the projects to merge or to split"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    wanted = {"list": 0, "merge": 2, "split": 1}[args.action]
    if len(args.names) != wanted:
        raise UsageError(
            f"`recollect projects {args.action}` takes {counted(wanted, 'name')}.",
            hint="See recollect projects --help",
        )
    if args.action == "merge":
        memory.projects.merge(*args.names)
        name, into = args.names
        return Output(
            [], note=f"{name} is now part of {into}. Undo: recollect projects split {name}"
        )
    if args.action == "split":
        memory.projects.split(*args.names)
        return Output([], note=f"{args.names[0]} is a project of its own again.")
    return Output(memory.projects.all()[: args.limit], _text, empty="No projects yet.")


def _text(project: ProjectRow) -> str:
    domain = f"  [{project.domain}]" if project.domain else ""
    merged = "".join(f"\n    includes {name}" for name in project.merged)
    counts = f"{counted(project.sessions, 'session')}, {counted(project.turns, 'turn')}"
    return f"{project.key}{domain}\n    {counts}, last {short_date(project.last_at)}{merged}"
