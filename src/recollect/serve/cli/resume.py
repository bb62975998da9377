"""recollect resume: continue a session in its agent.

recollect resume 453d                     print the command
eval "$(recollect resume 453d)"           run it

It warns when it may not work: agents delete their old logs, and cannot
continue a session whose log is gone.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.output import Output
from recollect.serve.resume import continuation


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help="a session, or one of its turns")


def run(memory: Memory, args: Namespace) -> Output:
    found = continuation(memory, args.ref)
    return Output([found], lambda row: row.command, note="\n".join(found.warnings))
