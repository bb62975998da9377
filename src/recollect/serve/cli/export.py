"""recollect export: everything as JSON Lines.

One session a line, with its turns and their events; the field names are those
of docs/json.md. Words and filters choose sessions as in `recollect sessions`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.output import Output, to_json

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument("--limit", type=count, metavar="N", help="at most N sessions")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.export(typed(args), limit=args.limit, **chosen(args))
    return Output(rows, to_json, empty="no session passes", note=remarked(memory, args))
