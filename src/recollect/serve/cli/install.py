"""recollect install: connect an agent, or import every day.

recollect install claude-code                  for you, in every project
recollect install codex --scope project        only in this project
recollect install timer                        import new sessions once a day
recollect uninstall codex                      undo it

It adds hooks, an MCP server and a skill to the agent's own settings and leaves
the rest of them alone. The first time, it keeps a copy beside each file.
Running it again changes nothing. The timer uses systemd, launchd, the Task
Scheduler or cron.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Installed
from recollect.serve import timer
from recollect.serve.install import SCOPES, install, installable, next_steps
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agent", metavar="AGENT", help=f"one of {', '.join(installable())}, or timer"
    )
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        help="in your own settings, or in those of this project (default: user)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be written, write nothing"
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.agent == timer.NAME:
        rows = timer.install(machine(memory, args), dry_run=args.dry_run)
        return Output(rows, told, note=_note(args, rows))
    if args.store is not None:
        raise UsageError(
            "--store does not go with an agent: its hooks use the store of your settings.",
            hint="Leave --store out, and set `store` in "
            f"{os.path.join(memory.settings.home, 'config.toml')}.",
        )
    if args.config is not None:
        raise UsageError(
            "--config does not go with an agent: its hooks read your usual config.toml.",
            hint="Leave --config out, and set RECOLLECT_CONFIG where the agent is started.",
        )
    rows = install(
        args.agent, args.scope, folder=os.getcwd(), environ=memory.environ, dry_run=args.dry_run
    )
    return Output(
        rows,
        told,
        note="\n".join(filter(None, [_note(args, rows), *_not_carried(memory, args.agent)])),
    )


def _note(args: Namespace, rows: list[Installed]) -> str:
    if args.dry_run:
        return "Nothing was written (dry run)."
    if all(row.state in ("unchanged", "skipped") for row in rows):
        return (
            "It is connected already."
            if any(row.state == "unchanged" for row in rows)
            else "Nothing was written."
        )
    steps = next_steps(args.agent, args.scope) if args.agent != timer.NAME else []
    return "\n".join(f"Next: {step}" for step in steps)


def _not_carried(memory: Memory, agent: str) -> list[str]:
    """What this shell sets and the agent's settings cannot: they name a command only."""
    agent_name = memory.agents.adapters([agent])[0].name
    return [
        f"{name} is set in this shell only. Start {agent_name} from here, or it uses another store."
        for name in ("RECOLLECT_HOME", "RECOLLECT_STORE", "RECOLLECT_CONFIG")
        if memory.environ.get(name)
    ]


def machine(memory: Memory, args: Namespace) -> timer.Machine:
    """What a timer needs to know; it always belongs to the user."""
    if args.scope != "user":
        raise UsageError("A timer belongs to you, not to a project.", hint="Leave --scope out.")
    return timer.Machine(
        store=args.store,
        config=args.config,
        environ=memory.environ,
        variables=memory.agents.log_variables(),
        every_hours=memory.settings.number("timer.every_hours"),
    )


def told(row: Installed) -> str:
    """One part as a line: what was done to it, and where."""
    return f"{row.state:9} {row.part:5}  {row.path}" + (f"\n{'':17}{row.note}" if row.note else "")
