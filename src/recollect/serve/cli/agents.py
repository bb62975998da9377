"""recollect agents: supported agents: where they log, what is stored."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model import AgentRow
from recollect.serve.cli import count
from recollect.serve.cli.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    return Output(memory.agents()[: args.limit], _text)


def _text(row: AgentRow) -> str:
    logs = counted(row.sources, "log")
    here = f"{logs} in {', '.join(row.found)}" if row.found else f"no logs here (looked in {', '.join(row.roots)})"
    version = f", newest version {row.newest_version}" if row.newest_version else ""
    return f"{row.agent}  {row.name}\n    {here}\n    {counted(row.sessions, 'session')} stored{version}"
