"""recollect consolidate: bring each project's MEMORY.md, skills and trace files up to date.

`recollect distill` does this too, for the projects it touched; here nothing
is distilled. Files that were changed or removed are made again.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.reports import Consolidated
from recollect.serve.cli.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--project", metavar="NAME", help="only this project")


def run(memory: Memory, args: Namespace) -> Output:
    note = f"the files are in {memory.memory_folder(args.project)}" if args.project else ""
    return Output([memory.consolidate(args.project)], _text, note=note)


def _text(row: Consolidated) -> str:
    return f"{counted(row.projects, 'project')} changed: {row.consolidated} consolidated, {row.locked} in other hands"
