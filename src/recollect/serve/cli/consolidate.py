"""recollect consolidate: bring each project's MEMORY.md, skills and trace files up to date.

`recollect distill` does this too, for the projects it touched; here nothing
is distilled. Files that were changed or removed are made again.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Consolidated
from recollect.serve.cli.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--project", metavar="NAME", help="only this project")
    parser.add_argument(
        "--engine", choices=["rules", "llm"], help="who writes (default: as the settings say)"
    )
    parser.add_argument("--now", action="store_true", help="also where a model failed before")


def run(memory: Memory, args: Namespace) -> Output:
    note = f"the files are in {memory.memory_folder(args.project)}" if args.project else ""
    return Output(
        [memory.consolidate(args.project, engine=args.engine, now=args.now)], _text, note=note
    )


def _text(row: Consolidated) -> str:
    later = row.projects - row.consolidated - row.failed - row.locked
    line = (
        f"{counted(row.projects, 'project')} changed: {row.consolidated} consolidated, "
        f"{row.failed} failed,"
        f" {row.locked} in other hands, {later} left for later"
    )
    cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:.4f}"
    return f"{line}\n{counted(row.tokens, 'token')}, cost {cost}" if row.tokens else line
