"""recollect blame: which sessions changed a file, and why.

recollect blame src/app.py               newest change first
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

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.answers import FileChange
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.output import Output, counted, placed

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="FILE", help="a path, or the end of one")
    add_query(parser)
    parser.add_argument(
        "--limit", type=count, default=20, metavar="N", help="how many turns (default: %(default)s)"
    )


def run(memory: Memory, args: Namespace) -> Output:
    path = (args.path or "").strip()
    found = memory.blame(path, typed(args), folder=None, limit=args.limit, **chosen(args))
    note = "\n".join(filter(None, [remarked(memory, args), *found.remarks]))
    return Output(found, _text, empty=f"No session changed {path}.", note=note)


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
