"""recollect stats: tokens, cost and errors.

recollect stats                          the last weeks, agents and projects
recollect stats --by day since:30d       by day
recollect stats --by model webshop       by model, only turns with this word

Words and filters work as in a search. Of the tokens sent, "cached" were read
from the cache, "written" were put there, and "input" are the others. Cost
covers the calls whose model has a known price; the number of others is beside
it. A dash means unknown, such as the errors of a model.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from recollect.memory import Memory
from recollect.model.reports import StatsRow
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.lists import WIDE, Screen, project_names
from recollect.serve.cli.style import Column, Style, money, number, seconds_of
from recollect.serve.output import Output, counted

__all__ = ["arguments", "prepare", "run"]

WEEKS, WEEK_SECONDS = 12, 7 * 86_400
MOST_PROJECTS = 5
# From this width on the raw counts of tokens are shown too.
WIDEST_LISTS = 120
_COLUMNS = (
    "sessions", "turns", "errors", "tools", "failed",
    "input", "cached", "written", "output", "cost",
)  # fmt: skip


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument(
        "--by", choices=["all", "agent", "project", "domain", "model", "tool",
        "day"],
        help="what each row is about (for a program: agent)",
    )  # fmt: skip
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    by = args.by or "agent"
    rows = memory.stats(by, typed(args), **chosen(args))[: args.limit]
    width = max([len(by), *(len(row.name or "-") for row in rows)])
    head = by.ljust(width) + "".join(name.rjust(12) for name in _COLUMNS)
    return Output(
        rows,
        lambda row: _text(row, width),
        head=head,
        empty="No sessions match.",
        note=remarked(memory, args),
        screen=lambda screen: _screen(screen, memory, args),
    )


def _screen(screen: Screen, memory: Memory, args: Namespace) -> Iterator[str]:
    """The rows that were asked for; without --by the last weeks, the agents and the projects."""

    def sums(by: str) -> list[StatsRow]:
        return memory.stats(by, typed(args), **chosen(args))

    (total,) = sums("all") or [StatsRow(by="all", name=None)]
    if not total.turns:
        return
    if args.by is None:
        yield from _weeks(screen.style, sums("day"))
    for by in [args.by] if args.by else ["agent", "project"]:
        rows = sums(by)
        if by != "day":
            rows.sort(key=lambda row: (-(row.cost_usd or 0), -row.turns))
        most = args.limit if args.limit is not None or args.by else MOST_PROJECTS
        if args.by is None:
            yield ""
        yield from _table(screen, by, rows[:most], None if by in ("all", "tool") else total)
        if args.by is None and len(rows) > MOST_PROJECTS:
            more = f"{counted(len(rows) - MOST_PROJECTS, f'more {by}')}: recollect stats --by {by}"
            yield screen.style.paint("dim", more)
    unpriced = [row for row in sums("model") if row.unpriced_calls]
    if unpriced:
        named = " and ".join(
            f"{number(row.unpriced_calls)} of {screen.style.clean(row.name or 'no model')}"
            for row in unpriced[:2]
        )
        more = f" and of {counted(len(unpriced) - 2, 'more model')}" if len(unpriced) > 2 else ""
        yield ""
        yield screen.style.cut(f"Calls without a known price: {named}{more}.", screen.style.width)


def _weeks(style: Style, days: Sequence[StatsRow]) -> Iterator[str]:
    """The tokens of the last weeks in which something was done, as a line of signs."""
    spent = {
        int((seconds_of(row.name) or 0) // WEEK_SECONDS): 0 for row in days if seconds_of(row.name)
    }
    for row in days:
        at = seconds_of(row.name)
        if at:
            spent[int(at // WEEK_SECONDS)] += _tokens(row) or row.turns
    if len(spent) < 2:
        return
    last = max(spent)
    weeks = [spent.get(week, 0) for week in range(max(min(spent), last - WEEKS + 1), last + 1)]
    newest = max(row.name or "" for row in days)
    said = f"{counted(len(weeks), 'week')} to {newest}, tokens a week"
    said = style.cut(said, style.width - len(weeks) - 2)
    yield f"{style.paint('accent', style.spark(weeks))}  {style.paint('dim', said)}"


def _table(
    screen: Screen, by: str, rows: Sequence[StatsRow], total: StatsRow | None
) -> Iterator[str]:
    style = screen.style
    names = project_names(row.name for row in rows) if by == "project" else {}
    most = max([row.cost_usd or 0 for row in rows], default=0)
    wide = style.width >= WIDEST_LISTS
    columns = [
        Column(by, flexible=True), Column("sessions", right=True, drop=6),
        Column("turns", right=True),
        Column("calls", right=True, drop=3), Column("failed", right=True, drop=2),
        Column("tokens", right=True, drop=5), Column("cached", right=True, drop=4),
        *([Column("input", right=True), Column("output", right=True)] if wide else []),
        Column("cost", right=True), Column(role="accent", drop=1),
    ]  # fmt: skip
    bar = 24 if wide else 16 if style.width >= WIDE else 10

    def line(row: StatsRow, name: str) -> list[str]:
        tokens = row.tokens
        sent = tokens.input + tokens.cache_read + tokens.cache_write if tokens else 0
        cells = {
            by: name, "sessions": number(row.sessions), "turns": number(row.turns),
            "calls": number(row.tool_calls), "failed": share(row.failed_tool_calls, row.tool_calls),
            "tokens": number(_tokens(row)),
            "cached": share(tokens.cache_read if tokens else None, sent),
            "input": number(tokens.input if tokens else None),
            "output": number(tokens.output if tokens else None),
            "cost": money(row.cost_usd),
            "": "━" * round(bar * (row.cost_usd or 0) / most) if most else "",
        }  # fmt: skip
        return [style.glyph(cells[column.name]) for column in columns]

    lines = [line(row, style.clean(names.get(row.name, row.name) or "-") or "-") for row in rows]
    if total is not None and len(rows) > 1:
        lines.append([*line(total, "total")[:-1], ""])
    yield from (
        style.paint("bold", text) if total is not None and place == len(rows) + 1 else text
        for place, text in enumerate(screen.table(columns, lines))
    )


def _tokens(row: StatsRow) -> int | None:
    tokens = row.tokens
    if tokens is None:
        return None
    return tokens.input + tokens.cache_read + tokens.cache_write + tokens.output


def share(part: int | None, whole: int | None) -> str:
    """Such as 13 %; a dash when it is not known."""
    return "–" if part is None or not whole else f"{100 * part / whole:.0f} %"


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
