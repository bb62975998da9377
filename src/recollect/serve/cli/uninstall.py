"""recollect uninstall: disconnect an agent again.

recollect uninstall codex                 your own settings
recollect uninstall codex --scope project those of this project
recollect uninstall timer                 the daily import

It removes our entries from the agent's settings; a file that nothing else has
changed is as it was before. The store is not touched.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve import timer
from recollect.serve.cli.install import machine, told
from recollect.serve.install import SCOPES, installable, uninstall
from recollect.serve.install.engine import choose_engine
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agent", metavar="AGENT", help=f"one of {', '.join(installable())}, or timer"
    )
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        help="from your own settings, or from those of this project (default: user)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would go, change nothing")
    parser.add_argument(
        "--engine",
        action="store_true",
        help="only have it write no memories any more; all else stays",
    )


def run(memory: Memory, args: Namespace) -> Output:
    is_engine = memory.settings.text("distill.engine") == args.agent
    if args.engine and is_engine and not args.dry_run:
        choose_engine(memory.settings.config, "none")
    if args.engine:
        return Output([], note="Only rules write memories now." if is_engine else "It wrote none.")
    if is_engine and not args.dry_run and args.scope == "user":
        choose_engine(memory.settings.config, "none")
    if args.agent == timer.NAME:
        rows = timer.uninstall(machine(memory, args), dry_run=args.dry_run)
    else:
        rows = uninstall(
            args.agent, args.scope, folder=os.getcwd(), environ=memory.environ, dry_run=args.dry_run
        )
    if all(row.state == "unchanged" for row in rows):
        name = (
            "The timer"
            if args.agent == timer.NAME
            else memory.agents.adapters([args.agent])[0].name
        )
        note = f"{name} was not connected. Nothing to do."
    else:
        note = "Nothing was written (dry run)." if args.dry_run else ""
    return Output(rows, told, note=note)
