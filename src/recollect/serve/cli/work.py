"""recollect work: run the waiting jobs.

recollect work                all of them
recollect work --limit 10     at most ten
recollect jobs                list them instead

An import leaves jobs such as embedding and starts this in the background. You
can also run it yourself.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, metavar="N", help="at most N jobs")


def run(memory: Memory, args: Namespace) -> Output:
    done = memory.jobs.work(limit=args.limit)
    said = f"{counted(done, 'job')} done." if done else "No jobs waiting."
    return Output([{"done": done}], lambda _: said)
