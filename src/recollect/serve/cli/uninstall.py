"""recollect uninstall: take our entries out of an agent's settings again.

A file that nobody else has changed since is as it was before; in any other,
only our entries go. What was remembered stays: the store is not touched.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve import timer
from recollect.serve.cli.install import machine, told
from recollect.serve.cli.output import Output
from recollect.serve.install import SCOPES, installable, uninstall


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agent", metavar="AGENT", help=f"one of {', '.join(installable())}, or timer"
    )
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        help="from your own settings, or from those of the project here (default: user)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and leave it")


def run(memory: Memory, args: Namespace) -> Output:
    if args.agent == timer.NAME:
        rows = timer.uninstall(machine(memory, args), dry_run=args.dry_run)
    else:
        rows = uninstall(
            args.agent, args.scope, folder=os.getcwd(), environ=memory.environ, dry_run=args.dry_run
        )
    return Output(rows, told, note="nothing was written" if args.dry_run else "")
