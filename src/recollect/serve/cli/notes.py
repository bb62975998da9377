"""recollect notes: list, add, accept, reject, edit or forget facts worth keeping.

recollect notes                          those of this folder's project
recollect notes add use tabs here        a fact of your own; it counts at once
recollect notes accept note:7            what an agent remembered is right
recollect notes reject note:7            it is wrong, also if an agent repeats it
recollect notes edit note:7 use spaces   say it better; the old version is kept
recollect notes forget note:7            delete it for good, with its earlier versions
recollect notes --to AGENTS.md           write them into a section of a Markdown file
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.old_notes import OldNote
from recollect.serve.cli import count
from recollect.serve.cli.confirm import confirm
from recollect.serve.output import Output, counted, short_date

ACTIONS = ["list", "add", "accept", "reject", "edit", "forget"]
# What somebody wants to see who does not say.
STANDING = ["candidate", "active"]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="list", help="what to do (default: list)"
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="the notes to change, as note:<number>; the text to add",
    )
    parser.add_argument(
        "--status",
        choices=["candidate", "active", "superseded", "rejected"],
        help="only notes with this status",
    )
    parser.add_argument(
        "--category",
        metavar="NAME",
        help="preference, project, pattern, decision or constraint (a new note: project)",
    )
    parser.add_argument("--project", metavar="NAME", help="of this project, not of this folder's")
    parser.add_argument(
        "--everywhere",
        action="store_true",
        help="only notes for all projects; with add, make it one",
    )
    parser.add_argument("--all", action="store_true", help="of every project, whatever the status")
    parser.add_argument("--limit", type=count, metavar="N", help="at most N notes")
    parser.add_argument(
        "--to", metavar="FILE", help="write them into a section of this Markdown file"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before forgetting")


def run(memory: Memory, args: Namespace) -> Output:
    if (args.action == "list") != (not args.words) or (
        args.action == "edit" and len(args.words) < 2
    ):
        wanted = {"list": "no words", "add": "a text", "edit": "a note and its new text"}.get(
            args.action, "at least one note"
        )
        raise UsageError(
            f"`recollect notes {args.action}` takes {wanted}.", hint="See recollect notes --help"
        )
    if args.to is not None and args.action != "list":
        raise UsageError(
            f"--to writes a list; it does not go with `recollect notes {args.action}`.",
            hint="Leave one of them out.",
        )
    if args.action == "list":
        return _listed(memory, args)
    if args.action == "add":
        return Output([_added(memory, args)], text)
    if args.action == "edit":
        return Output([memory.old.edit_note(args.words[0], " ".join(args.words[1:]))], text)
    # All of them are looked up first, so that a slip changes nothing.
    refs = [memory.old.note(ref).ref for ref in args.words]
    if args.action == "forget":
        if not args.yes:
            confirm(
                ", ".join(refs),
                otherwise="Add --yes to go ahead. To only stop using it: recollect notes reject",
            )
        return Output(
            [memory.old.forget_note(ref) for ref in refs],
            lambda note: f"forgot {note.ref}: {note.text}",
        )
    change = memory.old.accept_note if args.action == "accept" else memory.old.reject_note
    return Output([change(ref) for ref in refs], text)


def _listed(memory: Memory, args: Namespace) -> Output:
    anywhere = args.all or args.everywhere or args.project is not None
    wanted = {
        "project": None if args.all else args.project, "folder": None if anywhere else os.getcwd(),
        "everywhere": args.everywhere and not args.all,
        "status": args.status or (None if args.all else STANDING),
        "category": args.category,
    }  # fmt: skip
    said = ""
    if args.to is not None:
        said = (
            f"Wrote {args.to}"
            if memory.old.write_notes(args.to, **wanted)
            else f"{args.to} is up to date."
        )
    found = memory.old.notes(**wanted, limit=args.limit)
    return Output(
        found,
        text,
        empty="No notes for this project. All of them: recollect notes --all"
        if wanted["folder"]
        else "No notes match. All of them: recollect notes --all",
        note=said,
    )


def _added(memory: Memory, args: Namespace) -> OldNote:
    return memory.old.remember(
        " ".join(args.words),
        category=args.category or "project",
        project=args.project,
        everywhere=args.everywhere,
        by="person",
    )


def text(note: OldNote) -> str:
    """A note for a person: what it is, what it says, and where it comes from."""
    where = note.project or "everywhere"
    origin = f", from {note.session}#{note.turn}" if note.session else ""
    replaced = f", replaced by {note.superseded_by}" if note.superseded_by else ""
    seen = f"seen {counted(note.seen, 'time')}, last {short_date(note.seen_at)}"
    return (
        f"{note.ref}  {note.status}  {note.category}  {where}\n"
        f"    {note.text}\n"
        f"    by {note.author}, trust {note.trust}, {seen}{origin}{replaced}"
    )
