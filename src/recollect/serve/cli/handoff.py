"""recollect handoff: the prompt with which another agent goes on with a session.

recollect handoff 453d                        print the prompt
recollect handoff 453d --to codex             and the line that starts Codex with it
claude "$(recollect handoff 453d --to claude-code)"

It says what was asked, how it went, what is open, which commands passed and
failed, which files changed and what the agent said last: quoted from the log
as data, without secrets. `recollect resume` continues a session in its own
agent, with all that it knows.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.agents import agent_called
from recollect.serve.cli import count
from recollect.serve.handoff import handed_over
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help="a session, or one of its turns")
    parser.add_argument("--to", metavar="AGENT", help="who goes on with it, such as codex")
    parser.add_argument(
        "--budget", type=count, metavar="N", help="at most so many tokens (default: 2000)"
    )


def run(memory: Memory, args: Namespace) -> Output:
    to = agent_called(args.to) if args.to else None
    found = handed_over(memory, args.ref, to=to, budget=args.budget)
    start = [f"Start {found.to} with it: {found.command}"] if found.command else []
    return Output([found], lambda row: row.text, note="\n".join([*found.warnings, *start]))
