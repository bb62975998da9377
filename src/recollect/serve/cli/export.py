"""recollect export: everything as JSON Lines.

One session a line, with its turns and their events; the field names are those
of docs/json.md. Filters choose sessions as in `recollect sessions`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.cli.output import Output, to_json
from recollect.serve.cli.sessions import add_filters, chosen


def arguments(parser: ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument("--limit", type=count, metavar="N", help="at most N sessions")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.export(" ".join(args.filters), limit=args.limit, **chosen(args))
    return Output(rows, to_json, empty="no session passes these filters")
