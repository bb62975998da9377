"""recollect friction: errors that keep coming back.

recollect friction                        in 3 or more sessions
recollect friction since:30d --sessions 2

Paths, numbers, times and ids may differ. For the newest occurrences it looks
up whether the failed command worked afterwards. In a large store it counts
the newest 4,000 turns with errors.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.memory import Memory
from recollect.model.answers import Friction
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.lists import Screen, agent_name, project_names
from recollect.serve.cli.style import age, cells, pad
from recollect.serve.output import Output, counted, external_mark, short_date

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
        empty=f"No error came up in {args.sessions} or more sessions.",
        note=note,
        screen=lambda screen: _screen(screen, found.rows),
    )


def _screen(screen: Screen, rows: list[Friction]) -> Iterator[str]:
    """Each in two lines: how often and what, then what became of it and where."""
    style = screen.style
    counts = [counted(row.sessions, "session") for row in rows]
    widest = max(map(cells, counts), default=0)
    for row, often in zip(rows, counts, strict=True):
        first, last = age(row.first_at), age(row.last_at)
        when = style.glyph(f"{first}–{last}" if first != last else last)
        head = f"{screen.number(row.ref):>3}  {pad(often, widest, right=True)}  "
        room = style.width - cells(head) - cells(when) - 2
        said = style.cut(style.clean(row.example + external_mark(row)), room)
        yield (
            style.paint("accent", head[:5]) + head[5:] + pad(said, room) + "  "
            + style.paint("dim", when)
        )  # fmt: skip
        projects = project_names(row.projects)
        where = (
            style.clean(projects[row.projects[0]]) if len(row.projects) == 1
            else counted(len(row.projects), "project") if row.projects else ""
        )  # fmt: skip
        ended = (
            "all got past it" if row.fixed == row.looked_at
            else f"{row.fixed} of the last {row.looked_at} got past it" if row.fixed
            else f"none of the last {row.looked_at} got past it"
        ) if row.looked_at else ""  # fmt: skip
        sign = style.paint("ok", style.glyph("✓ ")) if ended[:3] == "all" else ""
        facts = " · ".join(filter(None, [ended, where, ", ".join(map(agent_name, row.agents))]))
        room = style.width - 5 - (2 if sign else 0)
        yield "     " + sign + style.paint("dim", style.cut(style.glyph(facts), room))
    if rows:
        yield from screen.hint(
            "Read one: recollect show 1   What got past it: recollect fix 'THE ERROR'"
        )


def _text(row: Friction) -> str:
    times = f"{short_date(row.first_at)} to {short_date(row.last_at)}"
    fixed = f"; {row.fixed} of the last {row.looked_at} got past it" if row.looked_at else ""
    # What was typed into a running program may be a single key.
    is_readable = row.command is not None and any(map(str.isalnum, row.command))
    command = (row.command or "").replace("\n", "\n       ")
    command = f"    in {command}\n" if is_readable else ""
    where = ", ".join(row.projects) or "-"
    return (
        f"{row.example}\n    {counted(row.sessions, 'session')}, {counted(row.count, 'time')}, "
        f"{times}{fixed}\n"
        f"{command}    {where}  {row.ref}{external_mark(row)}"
    )
