"""recollect how: commands that worked here.

recollect how pytest                      in this folder's project
recollect how docker compose --everywhere in all projects
recollect how pytest --failed             what never worked here

TOOL is a program, with its subcommand if you like, or a tool of an agent.

One line a command, grouped by the script or subcommand that matters. A log
has the exit code of a whole line only: a command in the middle of a pipe or a
longer line, whose own result it hides, does not count as worked.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.memory import Memory
from recollect.model.answers import Invocation
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_filters, chosen, prepare, remarked, typed
from recollect.serve.cli.lists import Screen, turn_name
from recollect.serve.cli.style import Column, age
from recollect.serve.output import Output, counted, external_mark, short_date

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
        "--everywhere", action="store_true", help="in all projects, not only this folder's"
    )
    parser.add_argument("--failed", action="store_true", help="what never worked, instead")
    parser.add_argument(
        "--limit",
        type=count,
        default=10,
        metavar="N",
        help="how many ways to use it (default: %(default)s)",
    )


def run(memory: Memory, args: Namespace) -> Output:
    found = memory.how(
        typed(args), everywhere=args.everywhere, folder=None, limit=args.limit, failed=args.failed,
        **chosen(args),
    )  # fmt: skip
    note = "\n".join(filter(None, [remarked(memory, args), *found.remarks]))
    never = any("never worked" in remark for remark in found.remarks)
    done = "failed" if args.failed else "worked" if never else "been used"
    empty = f"{typed(args)} has not {done} here yet."
    return Output(
        found,
        _text,
        empty=empty,
        note=note,
        screen=lambda screen: _screen(screen, memory, found.rows),
    )


def _screen(screen: Screen, memory: Memory, rows: list[Invocation]) -> Iterator[str]:
    if not rows:
        return
    style = screen.style
    names = memory.names(sorted({row.ref.rpartition("#")[0] for row in rows}))
    columns = [
        Column(role="accent", right=True), Column(flexible=True), Column(),
        Column(role="dim", right=True),
        Column(role="accent"),
    ]  # fmt: skip
    lines = []
    for row in rows:
        command, more = _command(row)
        runs = row.ok + row.failed
        passed = f"{row.ok} of {runs} passed" if runs else f"{row.unclear} unclear"
        said = style.clean(command + external_mark(row)) + more
        lines.append(
            [
                screen.number(row.ref),
                said,
                passed,
                style.glyph(age(row.last_at)),
                turn_name(row.ref, lambda session: names[session].short),
            ]
        )
    yield from screen.table(columns, lines)
    yield from screen.hint("See one as it was run: recollect show 1")


def _command(row: Invocation) -> tuple[str, str]:
    """The line that was counted, and how many there are besides."""
    lines = row.example.splitlines() or [row.shape]
    # Of a script the line that was counted, and not another that may have failed.
    words = [word for word in row.shape.split() if "…" not in word]
    command = next((line for line in lines if all(word in line for word in words)), lines[0])
    return command, f"  +{counted(len(lines) - 1, 'line')}" if len(lines) > 1 else ""


def _text(row: Invocation) -> str:
    command = "".join(_command(row))
    counts = {"worked": row.ok, "failed": row.failed, "unclear": 0 if row.ok else row.unclear}
    results = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    return f"{command}  {results}, last {short_date(row.last_at)}  {row.ref}{external_mark(row)}"
