"""recollect resume: the command that continues a session in its own agent.

Prints one line for the shell; `eval "$(recollect resume REF)"` runs it. What
may keep it from working is said beside it: agents clear away their old logs,
and what an agent no longer has, it cannot continue.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli.output import Output
from recollect.serve.resume import continuation


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help="a session, or any of its turns")


def run(memory: Memory, args: Namespace) -> Output:
    found = continuation(memory, args.ref)
    return Output([found], lambda row: row.command, note="\n".join(found.warnings))
