"""recollect install: set up an agent: hooks, MCP server and skill.

Adds our entries to the agent's own settings and leaves everything else in
them as it is; the first time, a copy stays beside each file. Running it again
changes nothing. `recollect uninstall AGENT` undoes it.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.reports import Installed
from recollect.serve.cli.output import Output
from recollect.serve.install import INSTALLERS, SCOPES, install, next_steps


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help=f"one of {', '.join(INSTALLERS)}")
    parser.add_argument(
        "--scope", choices=SCOPES, default="user", help="in your own settings, or in those of the project here (default: user)"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")


def run(memory: Memory, args: Namespace) -> Output:
    rows = install(args.agent, args.scope, folder=os.getcwd(), environ=memory.environ, dry_run=args.dry_run)
    return Output(rows, told, note=_note(args, rows))


def _note(args: Namespace, rows: list[Installed]) -> str:
    if args.dry_run:
        return "nothing was written"
    if all(row.state in ("unchanged", "skipped") for row in rows):
        return "already installed" if any(row.state == "unchanged" for row in rows) else "nothing was installed"
    return "\n".join(f"next: {step}" for step in next_steps(args.agent, args.scope))


def told(row: Installed) -> str:
    """One part as a line: what was done to it, and where."""
    return f"{row.state:9} {row.part:5}  {row.path}" + (f"\n{'':17}{row.note}" if row.note else "")
