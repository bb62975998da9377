"""recollect install: set up an agent: hooks, MCP server and skill; or a daily import.

Adds our entries to the agent's own settings and leaves everything else in
them as it is; the first time, a copy stays beside each file. Running it again
changes nothing. `recollect uninstall AGENT` undoes it.

`recollect install timer` has new sessions imported once a day, by systemd,
launchd, the Task Scheduler or cron.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Installed
from recollect.serve import timer
from recollect.serve.cli.output import Output
from recollect.serve.install import SCOPES, install, installable, next_steps


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agent", metavar="AGENT", help=f"one of {', '.join(installable())}, or timer"
    )
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        help="in your own settings, or in those of the project here (default: user)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be written, and write nothing"
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.agent == timer.NAME:
        rows = timer.install(machine(memory, args), dry_run=args.dry_run)
        return Output(rows, told, note=_note(args, rows))
    if args.store is not None:
        raise UsageError(
            "an agent's hooks use the store of the settings, so --store does not go with one",
            hint=f"name it as `store` in {os.path.join(memory.settings.home, 'config.toml')}, and "
            "leave --store out",
        )
    rows = install(
        args.agent, args.scope, folder=os.getcwd(), environ=memory.environ, dry_run=args.dry_run
    )
    return Output(
        rows, told, note="\n".join(filter(None, [_note(args, rows), *_not_carried(memory)]))
    )


def _note(args: Namespace, rows: list[Installed]) -> str:
    if args.dry_run:
        return "nothing was written"
    if all(row.state in ("unchanged", "skipped") for row in rows):
        return (
            "already installed"
            if any(row.state == "unchanged" for row in rows)
            else "nothing was installed"
        )
    steps = next_steps(args.agent, args.scope) if args.agent != timer.NAME else []
    return "\n".join(f"next: {step}" for step in steps)


def _not_carried(memory: Memory) -> list[str]:
    """An agent's settings name a command, and no environment for it."""
    return [
        f"{name} is set here: start the agent where it is set too, or its hooks and server use the "
        "usual folder"
        for name in ("RECOLLECT_HOME", "RECOLLECT_STORE")
        if memory.environ.get(name)
    ]


def machine(memory: Memory, args: Namespace) -> timer.Machine:
    """Where the timer goes, which is the user's in any case."""
    if args.scope != "user":
        raise UsageError("a timer is for the user, not for a project", hint="leave out --scope")
    return timer.Machine(store=args.store, environ=memory.environ, variables=memory.log_variables())


def told(row: Installed) -> str:
    """One part as a line: what was done to it, and where."""
    return f"{row.state:9} {row.part:5}  {row.path}" + (f"\n{'':17}{row.note}" if row.note else "")
