"""recollect blame: which sessions changed a file, and why.

recollect blame src/app.py               newest change first
recollect blame                          the sessions behind your uncommitted changes
recollect blame app.py since:30d         the end of a path is enough

If this very file has no stored changes, it shows all files whose path ends
the same. Other checkouts of the project count as the same file.

It knows edits with an agent's own tools, and shell commands that name the
file: redirections, tee, sed -i and perl -i, mv, cp, rm, touch, ln, patch,
git mv, git rm, git restore and git checkout --, formatters that write, and
apply_patch. It does not see patterns and variables (*.py, $file), scripts
that open files themselves, or PowerShell.
"""

from __future__ import annotations

import posixpath
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import EXIT_USAGE
from recollect.memory import Memory
from recollect.model.answers import FileChange
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.cli.lists import Screen, agent_name, inside, turn_name
from recollect.serve.cli.style import Column, age, cells
from recollect.serve.output import Output, counted, external_mark, placed

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="FILE", help="a path, or the end of one")
    add_query(parser)
    parser.add_argument(
        "--limit", type=count, default=20, metavar="N", help="how many turns (default: %(default)s)"
    )


def run(memory: Memory, args: Namespace) -> Output:
    path = (args.path or "").strip()
    if not path and not args.query and not any(chosen(args).values()):
        return _uncommitted(memory, args)
    found = memory.blame(path, typed(args), folder=None, limit=args.limit, **chosen(args))
    note = "\n".join(filter(None, [remarked(memory, args), *found.remarks]))
    return Output(
        found,
        _text,
        empty=f"No session changed {path}.",
        note=note,
        screen=lambda screen: _screen(screen, memory, found.rows),
    )


def _uncommitted(memory: Memory, args: Namespace) -> Output:
    found = memory.uncommitted(limit=args.limit)
    return Output(
        found,
        _text,
        empty="Which file? No session changed one that is not committed here.\n"
        "  Try: recollect blame src/app.py",
        exit_code=0 if found.rows else EXIT_USAGE,
        screen=lambda screen: _screen(screen, memory, found.rows),
    )


def _screen(screen: Screen, memory: Memory, rows: list[FileChange]) -> Iterator[str]:
    if not rows:
        return
    style = screen.style
    names = memory.names(sorted({row.session for row in rows}))
    files = {row.file for row in rows}
    count = f"{counted(len(rows), 'change')} in {counted(len(names), 'session')}"
    session = memory.session(rows[0].session)
    head = style.clean(inside(rows[0].file, session.cwd))
    if len(files) > 1:
        head = counted(len(files), "file")
    room = style.width - cells(count) - 3
    yield style.paint("bold", style.cut(head, room)) + style.glyph(f" · {count}")
    columns = [
        Column(role="accent", right=True), Column(role="dim", right=True), Column(role="ok"),
        Column(role="fail"), Column(flexible=True), Column(role="dim", drop=2),
        Column(role="dim", drop=1), Column(role="accent"),
    ]  # fmt: skip
    lines = []
    for row in rows:
        marks = ("" if row.live else "  (undone)") + ("" if row.ok is not False else "  (failed)")
        asked = style.clean((row.prompt or "(no prompt)") + external_mark(row))
        lines.append(
            [
                screen.number(row.ref),
                style.glyph(age(row.at)),
                "" if row.added is None else f"+{row.added}",
                "" if row.removed is None else style.glyph(f"−{row.removed}"),
                asked + marks,
                style.clean(posixpath.basename(row.file)) if len(files) > 1 else "",
                agent_name(row.agent),
                turn_name(row.ref, lambda session: names[session].short),
            ]
        )
    yield from screen.table(columns, lines)
    yield from screen.hint("See a change: recollect show 1 --diff")


def _text(row: FileChange) -> str:
    lines = "" if row.added is None else f"  +{row.added} -{row.removed}"
    failed = {True: "", False: "  failed", None: "  outcome unknown"}[row.ok]
    tools = ", ".join(row.tools) + (
        f", {counted(row.changes, 'change')}" if row.changes > 1 else ""
    )
    said = [
        placed(row),
        f"    > {row.prompt or '(no prompt)'}",
        f"    {row.file}  {tools}{lines}{failed}",
        f"    {row.excerpt}",
    ]
    return "\n".join(said).rstrip()
