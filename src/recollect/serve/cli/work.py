"""recollect work: do the jobs that wait.

Import leaves work that can wait in a queue; this drains it. It is started by
import in the background, and can be run by hand or by a timer.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.cli.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, metavar="N", help="at most N jobs")


def run(memory: Memory, args: Namespace) -> Output:
    done = memory.work(limit=args.limit)
    return Output([{"done": done}], lambda _: f"{counted(done, 'job')} done")
