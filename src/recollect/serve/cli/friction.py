"""recollect friction: errors that keep coming back.

An error counts when it was met in several sessions (3 unless --sessions says
otherwise), whatever the paths, numbers, times and ids in it. For the latest
occurrences it is looked up whether the failed command worked afterwards. In a
large store the newest 4,000 turns with errors are told about.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.answers import Friction
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.output import Output, counted

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument(
        "--sessions",
        type=count,
        default=3,
        metavar="N",
        help="in at least N sessions (default: %(default)s)",
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=20,
        metavar="N",
        help="how many errors (default: %(default)s)",
    )


def run(memory: Memory, args: Namespace) -> Output:
    found = memory.friction(typed(args), sessions=args.sessions, limit=args.limit, **chosen(args))
    note = "\n".join(filter(None, [remarked(memory, args), *found.remarks]))
    return Output(
        found,
        _text,
        empty=f"no error came back in {counted(args.sessions, 'session')} or more",
        note=note,
    )


def _text(row: Friction) -> str:
    times = f"{(row.first_at or '-')[:10]} to {(row.last_at or '-')[:10]}"
    fixed = f", overcome in {row.fixed} of the last {row.looked_at}" if row.looked_at else ""
    command = f"    in {row.command}\n" if row.command else ""
    where = ", ".join(row.projects) or "-"
    return (
        f"{row.example}\n    {counted(row.sessions, 'session')}, {counted(row.count, 'time')}, "
        f"{times}{fixed}\n"
        f"{command}    {where}  {row.ref}"
    )
