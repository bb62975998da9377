"""recollect stats: tokens, cost, tools and errors, summed up.

Cost covers the calls whose model has a known price; how many have none is
said beside it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model import StatsRow
from recollect.serve.cli.output import Output
from recollect.serve.cli.sessions import add_filters, chosen

_COLUMNS = ("sessions", "turns", "errors", "tools", "failed", "input", "cached", "output", "cost")


def arguments(parser: ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument(
        "--by", default="agent", choices=["all", "agent", "project", "domain", "model", "tool", "day"],
        help="what to sum by (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.stats(args.by, " ".join(args.filters), **chosen(args))[: args.limit]
    width = max([len(args.by), *(len(row.name or "-") for row in rows)])
    head = f"{args.by:{width}}" + "".join(f"{name:>12}" for name in _COLUMNS)
    return Output(rows, lambda row: _text(row, width), head=head, empty="nothing to sum up")


def _text(row: StatsRow, width: int) -> str:
    cost = "-" if row.cost_usd is None else f"${row.cost_usd:.2f}"
    numbers = (
        row.sessions, row.turns, row.errors, row.tool_calls, row.failed_tool_calls,
        row.tokens.input, row.tokens.cache_read, row.tokens.output,
    )  # fmt: skip
    unpriced = f"  ({row.unpriced_calls} calls without a price)" if row.unpriced_calls else ""
    return f"{row.name or '-':{width}}" + "".join(f"{number:>12}" for number in numbers) + f"{cost:>12}{unpriced}"
