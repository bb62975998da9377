"""recollect export: everything as JSON Lines.

One session a line, with its turns and their events; the field names are those
of docs/json.md. Words and filters choose sessions as in `recollect sessions`.
With --notes it is the notes instead, one a line, whatever their status.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.output import Output, to_json

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument("--limit", type=count, metavar="N", help="at most N lines")
    parser.add_argument("--notes", action="store_true", help="every note, instead of the sessions")


def run(memory: Memory, args: Namespace) -> Output:
    if args.notes:
        if typed(args) or any(chosen(args).values()):
            raise UsageError(
                "words and filters choose sessions, not notes",
                hint="`recollect notes --json` has filters for notes",
            )
        return Output(memory.notes(limit=args.limit), to_json, empty="no note is stored")
    rows = memory.export(typed(args), limit=args.limit, **chosen(args))
    return Output(rows, to_json, empty="no session passes", note=remarked(memory, args))
