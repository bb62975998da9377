"""recollect install: connect an agent, or import every day.

recollect install                              the agents, and which of them are connected
recollect install claude                       for you, in every project
recollect install codex --scope project        only in this project
recollect install timer                        import new sessions once a day
recollect uninstall codex                      undo it

An agent goes by its id or its first word: claude, codex, gemini, cursor, opencode, copilot.
It adds hooks, an MCP server and a skill to the agent's own settings and leaves
the rest of them alone. The first time, it keeps a copy beside each file.
Running it again changes nothing. The timer uses systemd, launchd, the Task
Scheduler or cron.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Installed
from recollect.serve import timer
from recollect.serve.agents import agent_called
from recollect.serve.cli.keys import is_agreed
from recollect.serve.cli.lists import Screen, shown_path
from recollect.serve.cli.style import Column, Style, cells, fill, number, pad, style_of
from recollect.serve.install import SCOPES, install, installable, installed, next_steps
from recollect.serve.install.engine import choose_engine
from recollect.serve.output import Output, counted, say


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
    parser.add_argument("--yes", action="store_true", help="do not ask")
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
    args.agent = agent_called(args.agent)

    def connect(*, dry_run: bool) -> list[Installed]:
        return install(
            args.agent, args.scope, folder=os.getcwd(), environ=memory.environ, dry_run=dry_run
        )

    asks = not (args.yes or args.dry_run or args.json) and is_person()
    if asks and not _agreed(memory, args, connect(dry_run=True)):
        return Output([], note="Nothing was written.")
    rows = connect(dry_run=args.dry_run)
    notes = [_note(args, rows), *_not_carried(memory, args.agent), _engine(memory, args, rows)]
    return Output(
        rows,
        told,
        note="\n".join(filter(None, notes)),
        screen=lambda screen: _screen(screen, memory, args, rows, asked=asks),
    )


def is_person() -> bool:
    """Whether somebody sits there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not os.environ.get("CI")


# What each part is for, in a few words.
_PURPOSES = {
    "hooks": "told at the start, on prompts, before commands",
    "mcp": "the agent can search your sessions",
    "skill": "says when to ask",
}


def _agreed(memory: Memory, args: Namespace, rows: list[Installed]) -> bool:
    """Show what would be written and ask; nothing to write needs no question."""
    planned = [row for row in rows if row.state not in ("unchanged", "skipped")]
    if not planned:
        return True
    style = style_of(sys.stderr) or Style()
    say(f"Connect {memory.agents.adapters([args.agent])[0].name} to recollect")
    paths = [shown_path(row.path) for row in planned]
    wide = max(map(cells, paths))
    for row, path in zip(planned, paths, strict=True):
        line = f"  {row.part:7} {pad(path, wide)}  {row.state.removeprefix('would '):7}"
        say(style.cut(f"{line} {_PURPOSES.get(row.part, '')}".rstrip(), style.width))
    say(f"Your other settings stay. Undo: recollect uninstall {args.agent}")
    return is_agreed(f"Write {counted(len({row.path for row in planned}), 'file')}?")


def _screen(
    screen: Screen, memory: Memory, args: Namespace, rows: list[Installed], *, asked: bool
) -> Iterator[str]:
    if asked:
        # Each file was named before it was written.
        if any(row.state not in ("unchanged", "skipped") for row in rows):
            yield screen.style.paint("ok", screen.style.glyph("✓ ")) + "Connected."
        return
    yield from list_parts(screen, rows)


def list_parts(screen: Screen, rows: Iterable[Installed]) -> Iterator[str]:
    """What was done to each part, and where."""
    for row in rows:
        line = f"{row.state:12} {row.part:7} {screen.style.clean(shown_path(row.path))}"
        yield screen.style.cut(line, screen.style.width)
        if row.note:
            yield from fill(screen.style.clean(row.note), screen.style.width)


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
    return Output(lines, foot=foot, screen=lambda screen: _listed(screen, memory, there, foot))


def _listed(
    screen: Screen, memory: Memory, there: dict[str, list[str]], foot: str
) -> Iterator[str]:
    """Each agent with how much of it is stored and whether it is connected."""
    stored = memory.summary().agents if os.path.exists(memory.settings.store) else {}
    columns = [
        Column("agent", role="accent"), Column("", flexible=True), Column("sessions", right=True),
        Column("connected"),
    ]  # fmt: skip
    rows = [
        [
            agent, memory.agents.adapters([agent])[0].name, number(stored.get(agent, 0)),
            screen.style.glyph(", ".join(there.get(agent, ["–"]))),
        ]
        for agent in sorted(installable(), key=lambda agent: -stored.get(agent, 0))
    ]  # fmt: skip
    yield from screen.table(columns, rows)
    yield from screen.hint(foot)


OFFER = (
    "\n{name} can write what your next sessions should know, by itself, a project at a time.\n"
    "It gets a record of its own sessions there, without secrets: about 6,000 to 19,000 tokens\n"
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
