"""recollect install: connect an agent, or import every day.

recollect install                              the agents, and which of them are connected
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
import sys
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Installed
from recollect.serve import timer
from recollect.serve.install import SCOPES, install, installable, installed, next_steps
from recollect.serve.install.engine import choose_engine
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agent", nargs="?", metavar="AGENT", help=f"one of {', '.join(installable())}, or timer"
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
    parser.add_argument(
        "--engine",
        action="store_true",
        help="also have this agent write what your next sessions should know; see docs/engines.md",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.agent is None:
        return _choices(memory, args)
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
    notes = [_note(args, rows), *_not_carried(memory, args.agent), _engine(memory, args, rows)]
    return Output(rows, told, note="\n".join(filter(None, notes)))


def _choices(memory: Memory, args: Namespace) -> Output:
    """The agents that can be connected, and where each is; nothing is written."""
    folder = os.getcwd()
    if args.json:
        planned = [
            install(agent, args.scope, folder=folder, environ=memory.environ, dry_run=True)
            for agent in installable()
        ]
        return Output([row for rows in planned for row in rows])
    there: dict[str, list[str]] = {}
    for one in installed(memory.environ, folder):
        where = "connected" if one.scope == "user" else "connected in this project"
        by = f" by the plugin {one.plugin}" if one.plugin else ""
        there.setdefault(one.agent, []).append(where + by)
    lines = [f"{agent:<13}{', '.join(there.get(agent, ['-']))}" for agent in installable()]
    foot = "Connect one: recollect install AGENT   Import every day: recollect install timer"
    return Output(lines, foot=foot)


OFFER = (
    "{name} can write what your next sessions should know, by itself, about a project at a time.\n"
    "It gets a record of its own sessions there, without secrets: about 6,000 to 19,000 tokens "
    "a run, at most {runs} runs and {tokens:,} tokens a day, by your login.\n"
    "See what would be sent: recollect memory update --dry-run --engine {agent}\n"
    "Switch it on? [y/N] "
)


def _engine(memory: Memory, args: Namespace, rows: list[Installed]) -> str:
    """Offer the agent as the engine, and say how that was settled; off unless somebody says yes."""
    if args.dry_run or memory.headless(args.agent) is None:
        return ""
    settings = memory.settings
    if settings.text("distill.engine") != "none":
        return ""
    if not args.engine:
        if all(row.state in ("unchanged", "skipped") for row in rows):
            return ""
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or args.json:
            return f"It can write memories too: recollect install {args.agent} --engine"
        sys.stderr.write(
            OFFER.format(
                name=memory.agents.adapters([args.agent])[0].name,
                agent=args.agent,
                runs=settings.number("distill.runs_per_day"),
                tokens=settings.number("distill.tokens_per_day"),
            )
        )
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return "Off. Whenever you like: " + f"recollect install {args.agent} --engine"
    choose_engine(settings.config, args.agent)
    return f"{args.agent} writes memories now. Off again: recollect uninstall {args.agent} --engine"


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
