"""recollect stats: tokens, cost and errors.

recollect stats                          by agent
recollect stats --by day since:30d       by day
recollect stats --by model webshop       by model, only turns with this word

Words and filters work as in a search. Of the tokens sent, "cached" were read
from the cache, "written" were put there, and "input" are the others. Cost
covers the calls whose model has a known price; the number of others is beside
it. A dash means unknown, such as the errors of a model.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import StatsRow
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.output import Output, counted

__all__ = ["arguments", "prepare", "run"]

_COLUMNS = (
    "sessions", "turns", "errors", "tools", "failed",
    "input", "cached", "written", "output", "cost",
)  # fmt: skip


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument(
        "--by", default="agent", choices=["all", "agent", "project", "domain", "model", "tool",
        "day"],
        help="what each row is about (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.stats(args.by, typed(args), **chosen(args))[: args.limit]
    width = max([len(args.by), *(len(row.name or "-") for row in rows)])
    head = args.by.ljust(width) + "".join(name.rjust(12) for name in _COLUMNS)
    return Output(
        rows,
        lambda row: _text(row, width),
        head=head,
        empty="No sessions match.",
        note=remarked(memory, args),
    )


def _text(row: StatsRow, width: int) -> str:
    tokens = (
        (row.tokens.input, row.tokens.cache_read, row.tokens.cache_write, row.tokens.output)
        if row.tokens
        else (None, None, None, None)
    )
    cost = None if row.cost_usd is None else f"${row.cost_usd:.2f}"
    counts = (row.sessions, row.turns, row.errors, row.tool_calls, row.failed_tool_calls)
    cells = ["-" if value is None else str(value) for value in (*counts, *tokens, cost)]
    line = f"{row.name or '-':{width}}" + "".join(cell.rjust(12) for cell in cells)
    if row.unpriced_calls:
        line += f"  ({counted(row.unpriced_calls, 'call')} without a price)"
    return line
