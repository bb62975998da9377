"""recollect uninstall: disconnect an agent again.

recollect uninstall                       every agent, yours and this project's, and the timer
recollect uninstall codex                 your own settings
recollect uninstall codex --scope project those of this project
recollect uninstall timer                 the daily import

It removes our entries from the agent's settings; a file that nothing else has
changed is as it was before. The store is not touched.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Installed
from recollect.serve import timer
from recollect.serve.agents import agent_called
from recollect.serve.cli.install import list_parts, machine, told
from recollect.serve.install import SCOPES, installable, installed, uninstall
from recollect.serve.install.engine import choose_engine
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agent",
        nargs="?",
        metavar="AGENT",
        help=f"one of {', '.join(installable())}, or timer (default: all that are connected)",
    )
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        help="from your own settings, or from those of this project (default: user)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would go, change nothing")
    parser.add_argument(
        "--yes", action="store_true", help="do not ask before disconnecting every agent"
    )
    parser.add_argument(
        "--engine",
        action="store_true",
        help="only have it write no memories any more; all else stays",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.agent is None:
        return _everything(memory, args)
    args.agent = agent_called(args.agent)
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
    return Output(rows, told, note=note, screen=lambda screen: list_parts(screen, rows))


def _everything(memory: Memory, args: Namespace) -> Output:
    """Disconnect every agent, for the user and in this project, and unset the timer."""
    if args.engine:
        raise UsageError("Which agent?", hint="Try: recollect uninstall AGENT --engine")
    folder, for_user = os.getcwd(), args.scope == "user"
    connected = [
        one for one in installed(memory.environ, folder) if for_user or one.scope == "project"
    ]
    # What a plugin brought, its agent takes away.
    ours = [one for one in connected if one.hooks or one.mcp]
    plugins = [
        f"{one.agent} has the plugin {one.plugin}: remove that in the agent."
        for one in connected
        if one.plugin
    ]
    has_timer = for_user and any(
        row.state == "would remove" for row in timer.uninstall(machine(memory, args), dry_run=True)
    )
    names = [one.agent + ("" if one.scope == "user" else " in this project") for one in ours]
    names += [timer.NAME] * has_timer
    if not names:
        return Output([], note="\n".join(["No agent is connected. Nothing to do.", *plugins]))
    if not (args.yes or args.dry_run):
        _ask(names)
    rows: list[Installed] = []
    for one in ours:
        rows += uninstall(
            one.agent, one.scope, folder=folder, environ=memory.environ, dry_run=args.dry_run
        )
    if has_timer:
        rows += timer.uninstall(machine(memory, args), dry_run=args.dry_run)
    if for_user and not args.dry_run and memory.settings.text("distill.engine") != "none":
        choose_engine(memory.settings.config, "none")
    notes = ["Nothing was written (dry run)."] * args.dry_run + plugins
    return Output(
        rows, _named, note="\n".join(notes), screen=lambda screen: list_parts(screen, rows)
    )


def _named(row: Installed) -> str:
    """A part with whose it is."""
    return f"{row.agent:<12} {told(row)}"


def _ask(names: list[str]) -> None:
    """Go on only if a person says yes."""
    if not sys.stdin.isatty():
        raise UsageError(
            f"This would disconnect {', '.join(names)}.",
            hint="Add --yes to go ahead, or name one: recollect uninstall AGENT",
        )
    sys.stderr.write(f"Disconnect {', '.join(names)}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing was disconnected.")
