"""recollect agents: list supported agents, their logs and their sessions.

recollect agents             all of them; those that you use come first
recollect agents --json      for a program, with every folder that was looked in
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import msgspec

from recollect.memory import Memory
from recollect.model.reports import AgentRow, SupportedAgent
from recollect.serve.agents import find_agent
from recollect.serve.cli import count
from recollect.serve.cli.lists import Screen
from recollect.serve.cli.style import Column, age, fill, number
from recollect.serve.install import installed
from recollect.serve.output import Output, counted
from recollect.system import platforms

# Editors have many places; what does not fit here is in the JSON.
SHOWN_PLACES = 2


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    set_up = {one.agent for one in installed(memory.environ, os.getcwd())}
    # Agents that are used here come first; most are not.
    rows = sorted(memory.agents.all(), key=lambda row: not (row.sources or row.sessions))
    found = [_supported(row, set_up) for row in rows[: args.limit]]
    return Output(found, _text, screen=lambda screen: _screen(screen, found))


def _screen(screen: Screen, rows: list[SupportedAgent]) -> Iterator[str]:
    """Those that are used here, a line each; of the others the names."""
    used = [row for row in rows if row.sources or row.sessions or row.install == "installed"]
    style = screen.style
    columns = [
        Column("agent", role="accent"), Column("logs here", right=True),
        Column("sessions", right=True), Column("last", role="dim", right=True),
        Column("version", drop=2), Column("connected", drop=3),
        Column("logs in", flexible=True, role="dim"),
    ]  # fmt: skip
    if used:
        yield from screen.table(
            columns,
            [
                [
                    row.agent, number(row.sources), number(row.sessions),
                    style.glyph(age(row.last_at)), style.clean(row.newest_version or ""),
                    {"installed": "yes", "available": "no"}.get(row.install or "", ""),
                    style.clean(_places(row.found or row.roots)),
                ]
                for row in used
            ],
        )  # fmt: skip
        yield ""
    others = ", ".join(row.name for row in rows if row not in used)
    if others:
        yield from fill(f"No logs and no sessions: {others}.", style.width)
    yield from screen.hint(
        "Connect one: recollect install AGENT   Where it looked: recollect agents --json"
    )


def _supported(row: AgentRow, set_up: set[str]) -> SupportedAgent:
    agent = find_agent(row.agent)
    installable = agent is not None and agent.installer is not None
    return SupportedAgent(
        **msgspec.structs.asdict(row),
        install="installed" if row.agent in set_up else "available" if installable else None,
        resume=agent is not None and agent.resume is not None,
    )


def _text(row: SupportedAgent) -> str:
    places = _places(row.found or row.roots)
    if row.in_projects and not row.found:
        places = f"{places} and in project folders" if places else "project folders"
    here = (
        f"{counted(row.sources, 'log')} in {places}"
        if row.found
        else f"no logs found (looked in {places})"
    )
    facts = [f"{counted(row.sessions, 'session')} stored" if row.sessions else "nothing stored"]
    facts += [f"newest version {row.newest_version}"] if row.newest_version else []
    if row.install:
        facts.append(
            "connected"
            if row.install == "installed"
            else f"not connected: recollect install {row.agent}"
        )
    return f"{row.agent}  {row.name}\n    {here}\n    {', '.join(facts)}"


def _places(paths: list[str]) -> str:
    home = platforms.user_home()
    shown = [
        "~" + path.removeprefix(home) if path.startswith(home + os.sep) else path for path in paths
    ]
    more = len(shown) - SHOWN_PLACES
    return ", ".join(shown[:SHOWN_PLACES]) + (
        f" and {counted(more, 'more place')}" if more > 0 else ""
    )
