"""recollect consolidate: bring each project's MEMORY.md, skills and trace files up to date.

recollect consolidate                       every project
recollect consolidate --project webshop     only this one

`recollect distill` does this too, for the projects it touched. Files that you
changed or removed are written again.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Consolidated
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--project", metavar="NAME", help="only this project")
    parser.add_argument(
        "--engine", choices=["rules", "llm"], help="who writes (default: see config.toml)"
    )
    parser.add_argument("--now", action="store_true", help="try again where a model failed")


def run(memory: Memory, args: Namespace) -> Output:
    note = f"The files are in {memory.old.memory_folder(args.project)}" if args.project else ""
    return Output(
        [memory.old.consolidate(args.project, engine=args.engine, now=args.now)], _text, note=note
    )


def _text(row: Consolidated) -> str:
    later = row.projects - row.consolidated - row.failed - row.locked
    if not row.projects:
        return "Nothing to do."
    counts = {"updated": row.consolidated, "failed": row.failed, "busy elsewhere": row.locked}
    done = ", ".join(f"{n} {word}" for word, n in {**counts, "left for later": later}.items() if n)
    line = f"{counted(row.projects, 'project')}: {done}"
    cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:.4f}"
    return f"{line}\n{counted(row.tokens, 'token')}, cost {cost}" if row.tokens else line
