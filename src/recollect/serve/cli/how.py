"""recollect how: the invocations of a tool that worked here, with their flags.

TOOL is a program, with its subcommand if you like (pytest, docker compose,
git push), or a tool of an agent. Without a filter for projects, the project
of the current folder is asked when it is known; --everywhere asks them all.

The exit code in a log is that of a whole line. A command whose own end it
hides, in the middle of a pipe or of a longer line, is counted as unclear.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.answers import Invocation
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_filters, chosen, prepare, remarked, typed
from recollect.serve.cli.output import Output

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "query",
        nargs="+",
        metavar="TOOL",
        help="a program or a tool, and filters such as since:30d",
    )
    add_filters(parser)
    parser.add_argument(
        "--everywhere", action="store_true", help="in every project, not only in this folder's"
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=10,
        metavar="N",
        help="how many ways to use it (default: %(default)s)",
    )


def run(memory: Memory, args: Namespace) -> Output:
    found = memory.how(
        typed(args), everywhere=args.everywhere, folder=None, limit=args.limit, **chosen(args)
    )
    note = "\n".join(filter(None, [remarked(memory, args), *found.remarks]))
    return Output(found, _text, empty=f"no use of {typed(args)} that worked is stored", note=note)


def _text(row: Invocation) -> str:
    counts = {"worked": row.ok, "failed": row.failed, "unclear": row.unclear}
    told = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    return (
        f"{row.shape}\n    {told}, last {(row.last_at or '-')[:10]}  {row.ref}\n    {row.example}"
    )
