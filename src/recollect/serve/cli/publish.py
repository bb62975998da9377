"""recollect publish: write accepted notes into AGENTS.md and the like.

recollect publish                           the diff for this project; nothing is written
recollect publish --apply                   write it
recollect publish --target all --apply      AGENTS.md, CLAUDE.md, GEMINI.md, Cursor rules and skills
recollect publish --check                   exit 1 when a file is out of date
recollect publish --undo --apply            take everything out again

Accepted lines go between two markers; the rest of each file stays as it is.
Lines that you retired or corrected since are taken out of every file of the
project. If you changed something between the markers, it asks.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.publications import DUE, Decide, Decision, Publication
from recollect.serve.agents import publish_targets
from recollect.serve.output import Output, counted, printable


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--target", action="append", default=[], metavar="FILE",
        help="a file to publish to, such as AGENTS.md or CLAUDE.md; all for the usual ones "
             "(default: AGENTS.md, or those in use)",
    )  # fmt: skip
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        help="the project's folder (default: the repository here)",
    )
    parser.add_argument(
        "--all", action="store_true", help="every folder in which something is published"
    )
    parser.add_argument("--undo", action="store_true", help="take everything out of the files")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--apply", action="store_true", help="write the files; without it only the diff is shown"
    )
    what.add_argument(
        "--check", action="store_true", help="exit 1 when a file is out of date, write nothing"
    )
    edited = parser.add_mutually_exclusive_group()
    edited.add_argument(
        "--keep",
        action="store_true",
        help="keep what you changed between the markers",
    )
    edited.add_argument(
        "--overwrite",
        action="store_true",
        help="replace what you changed between the markers",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.all and (args.project is not None or args.target):
        raise UsageError(
            "--all does not go with --project or --target.",
            hint="It takes every folder and file in use; leave the others out.",
        )
    folders = memory.publish.folders() if args.all else [args.project]
    # A project that was moved or deleted is no reason to leave the others as they are.
    gone = [folder for folder in folders if args.all and not os.path.isdir(folder)]
    rows = [
        row
        for folder in folders
        if folder not in gone
        for row in memory.publish.update(
            args.target,
            folder=folder,
            apply=args.apply,
            undo=args.undo,
            decide=_decide(args),
            agent_targets=publish_targets(),
        )
    ]
    due = [row for row in rows if row.state in DUE and not row.written]
    if not args.check and all(row.state == "unchanged" and not row.refs for row in rows):
        empty = (
            "Nothing is published here."
            if args.undo or args.all
            else "Nothing is accepted in this project yet."
        )
        return Output(
            [],
            empty=f"{empty} See what could be: recollect memory list",
            note=_gone(gone),
        )
    note = "\n".join(filter(None, [_note(args, rows, due), _gone(gone)]))
    return Output(rows, _text, note=note, exit_code=int(args.check and bool(due)))


def _decide(args: Namespace) -> Decide | None:
    """Who decides about files that were changed by hand; nobody can when no person is there."""
    if args.keep:
        return lambda row: "keep"
    if args.overwrite:
        return lambda row: "overwrite"
    return _ask if sys.stdin.isatty() and sys.stderr.isatty() else None


def _ask(row: Publication) -> Decision:
    """Ask a person about a file that was changed by hand."""
    question = f"{row.path} was changed by hand between the markers. [k]eep or [o]verwrite? "
    sys.stderr.write(printable(f"{row.diff}\n{question}"))
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer in ("k", "keep", "o", "overwrite"):
        return "keep" if answer.startswith("k") else "overwrite"
    raise UsageError(
        "Nothing was written.", hint="To answer beforehand, add --keep or --overwrite."
    )


def _text(row: Publication) -> str:
    """A file for a person: what is done to it, and the diff."""
    said = f" ({row.note})" if row.note else ""
    return f"{row.state:9} {row.path}{said}" + (
        f"\n{row.diff.rstrip()}" if row.diff and not row.written else ""
    )


def _gone(folders: list[str]) -> str:
    return f"Left out, because the folder is gone: {', '.join(folders)}" if folders else ""


def _note(args: Namespace, rows: list[Publication], due: list[Publication]) -> str:
    said = []
    left_out = sorted({ref for row in rows for ref in row.left_out})
    if left_out:
        said.append(
            f"No room for {', '.join(left_out)}: a block has at most 4 KB. Retire what matters "
            "least."
        )
    edited = [row.path for row in rows if row.state == "edited"]
    if edited:
        said.append(
            f"Changed by hand between the markers: {', '.join(edited)}. Add --keep or --overwrite."
        )
    if args.check:
        said.append(
            f"{counted(len(due), 'file is', 'files are')} out of date."
            if due
            else "Everything is up to date."
        )
    elif due and not args.apply:
        said.append("Nothing was written. To write it: recollect publish --apply")
    return "\n".join(said)
