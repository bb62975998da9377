"""recollect memory: what the next session here is told, and what you make of it.

recollect memory                        what an agent is told when it starts here
recollect memory --long                 the long form: the same lines first, then more
recollect memory --for "fix the build"  what an agent is told for a prompt, as a hook tells it
recollect memory list                   every line, also those that wait for you
recollect memory add use tabs here      a line of your own; it counts at once
recollect memory accept k7m2            what an agent found is right
recollect memory reject k7m2            it is wrong, and does not come back
recollect memory edit k7m2 use spaces   say it better; undo takes it back
recollect memory pin k7m2               tell it first
recollect memory undo k7m2              take back your last decision about it
recollect memory accept 2 3             rows 2 and 3 of the list that this terminal showed last
recollect memory update                 have an engine write it (docs/engines.md)
recollect memory update --dry-run       show what it would be given, and the price
"""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import get_args

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.notes import Author, Note, NoteChange, Status
from recollect.serve.cli import count, memory_update, note_lines
from recollect.serve.cli.confirm import confirm
from recollect.serve.cli.lists import find_row
from recollect.serve.output import Output, counted, short_date

FOUND_AGAIN = (
    "It may be found again in the sessions that it came from. To keep it out, reject it then."
)
ELSEWHERE = (
    "No session that is stored is of this folder. "
    "Name a project: recollect memory --project NAME\n"
    "See them: recollect projects   Read new sessions: recollect import"
)
EMPTY = "Nothing is known about this project yet. Read its sessions: recollect import"
# The actions that name notes.
_NAMING = (
    "accept", "reject", "edit", "pin", "unpin", "retire", "forget", "undo", "history",
)  # fmt: skip
# What each action takes.
_WORDS = {
    "show": "no words",
    "update": "no words",
    "add": "a text",
    "edit": "a note and its new text",
    "history": "one note",
}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=list(ACTIONS),
        default="show",
        help="what to do (default: show)",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="the notes, each by the first characters of its id or its row in the last list; "
        "the text to add; words to list by",
    )
    parser.add_argument(
        "--folder", metavar="PATH", help="the project of this folder (default: this one)"
    )
    parser.add_argument("--project", metavar="NAME", help="this project")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--pack", action="store_true", help="the short form (the default)")
    length.add_argument("--long", action="store_true", help="the long form")
    length.add_argument(
        "--for", dest="prompt", metavar="PROMPT", help="what an agent is told for this prompt"
    )
    parser.add_argument(
        "--everywhere", action="store_true", help="add or list what holds in every project"
    )
    parser.add_argument(
        "--category",
        metavar="NAME",
        help="preference, project, pattern, decision or constraint (a new note: preference)",
    )
    parser.add_argument("--status", choices=get_args(Status), help="list only these")
    parser.add_argument("--author", choices=get_args(Author), help="list only what they found")
    parser.add_argument(
        "--all", action="store_true", help="list every project, whatever the status"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="list at most N")
    parser.add_argument("--cursor", metavar="C", help="list on from where the last page ended")
    parser.add_argument("--why", metavar="TEXT", default="", help="a reason, for the history")
    parser.add_argument("--yes", action="store_true", help="do not ask before forgetting")
    memory_update.arguments(parser)


def run(memory: Memory, args: Namespace) -> Output:
    words, action = len(args.words), args.action
    fits = {
        "show": words == 0, "update": words == 0, "list": True, "add": words > 0, "edit": words > 1,
        "history": words == 1,
    }.get(action, words > 0)  # fmt: skip
    if not fits:
        raise UsageError(
            f"`recollect memory {action}` takes {_WORDS.get(action, 'at least one note')}.",
            hint="See recollect memory --help",
        )
    if action in _NAMING:
        named = 1 if action == "edit" else words
        args.words[:named] = [_row(memory, word) for word in args.words[:named]]
    return ACTIONS[action](memory, args)


def _row(memory: Memory, word: str) -> str:
    """The note that the number of a row stands for; any other word as it is."""
    ref = find_row(memory.settings.home, word)
    if ref is not None and not ref.startswith("note:"):
        raise UsageError(
            f"Row {word} of the last list is no note.", hint="List them: recollect memory list"
        )
    return ref or word


def _show(memory: Memory, args: Namespace) -> Output:
    if args.record:
        return memory_update.record(memory, args)
    if args.prompt is not None:
        from recollect.serve.cli.recall import told_for

        return told_for(memory, args.prompt, args, project=args.project)
    found = memory.remember(project=args.project, folder=args.folder)
    if found is None:
        return Output([], empty=_nothing(memory, args))
    if args.json:
        notes = found.notes if args.long else [note for note in found.notes if note.in_pack]
        return Output(notes, empty=EMPTY)
    told = found.long if args.long else found.pack
    lines = None if args.long else lambda screen: note_lines.tell_memory(screen, memory, found)
    return Output([told] if told else [], empty=EMPTY, screen=lines)


def _nothing(memory: Memory, args: Namespace) -> str:
    """Why there is no memory: nothing was read, or this is the wrong place to ask."""
    if args.project is not None or memory.projects.of(args.folder or os.getcwd()) is not None:
        return EMPTY
    return ELSEWHERE if memory.projects.all() else EMPTY


def _list(memory: Memory, args: Namespace) -> Output:
    anywhere = args.all or args.everywhere or args.project is not None
    folder = None if anywhere else args.folder or os.getcwd()
    found = memory.notes.search(
        " ".join(args.words) or None,
        project=None if args.all else args.project,
        folder=folder,
        everywhere=args.everywhere and not args.all,
        status=args.status or (None if args.all else ("candidate", "active")),
        author=args.author,
        category=args.category,
        limit=args.limit,
        cursor=args.cursor,
    )
    more = f"{_same_list(args)} --cursor {found.cursor}" if found.cursor else ""
    return Output(
        found,
        text,
        empty="No notes for this project. All of them: recollect memory list --all"
        if folder
        else "No notes match. All of them: recollect memory list --all",
        note=f"{len(found)} of {found.total}. The rest: {more}" if more else "",
        screen=lambda screen: note_lines.list_notes(screen, found.rows),
    )


def _same_list(args: Namespace) -> str:
    """The command that lists by the same words and options again."""
    words = ["recollect", "memory", "list", *args.words]
    for name in ("folder", "project", "category", "status", "author", "limit", "store", "config"):
        if (value := getattr(args, name)) is not None and not (name == "store" and args.demo):
            words += [f"--{name}", str(value)]
    words += [f"--{name}" for name in ("everywhere", "all", "demo") if getattr(args, name)]
    return shlex.join(words)


def _add(memory: Memory, args: Namespace) -> Output:
    note = memory.notes.add(
        " ".join(args.words),
        category=args.category or "preference",
        project=args.project,
        folder=args.folder,
        everywhere=args.everywhere,
    )
    return Output([note], text)


def _edit(memory: Memory, args: Namespace) -> Output:
    return Output([memory.notes.edit(args.words[0], " ".join(args.words[1:]))], text)


def _history(memory: Memory, args: Namespace) -> Output:
    return Output(
        memory.notes.history(args.words[0]), _change, empty="Nobody has decided about it yet."
    )


def _forget(memory: Memory, args: Namespace) -> Output:
    refs = _refs(memory, args)
    if not args.yes:
        confirm(
            ", ".join(refs),
            otherwise="Add --yes to go ahead. To only stop using it: recollect memory reject",
        )
    gone = [memory.notes.forget(ref) for ref in refs]
    return Output(
        gone,
        lambda note: f"forgot {note.ref}: {note.text}",
        note=FOUND_AGAIN if any(note.turns for note in gone) else "",
    )


def _undo(memory: Memory, args: Namespace) -> Output:
    said, left = {}, []
    for ref in _refs(memory, args):
        before = memory.notes.get(ref)
        done = [change.action for change in memory.notes.history(ref) if not change.undone]
        after = memory.notes.undo(ref)
        # A correction is gone when it is taken back, and what it took the place of is there again.
        if after is None and before.replaces is not None:
            after = memory.notes.get(before.replaces)
        what = f"Took back that you {done[-1]} {ref}"
        if after is None:
            said[ref] = f"{what}; it is gone: {before.text}"
        else:
            which = "it" if after.ref == ref else after.ref
            status = "a candidate" if after.status == "candidate" else after.status
            said[ref] = f"{what}; {which} is {status} now: {after.text}"
            left.append(after)
    if args.json:
        return Output(left)
    return Output(said.values())


def _judged(name: str) -> Callable[[Memory, Namespace], Output]:
    def judge(memory: Memory, args: Namespace) -> Output:
        change = getattr(memory.notes, name)
        why = {"why": args.why} if name in ("accept", "reject", "retire") else {}
        return Output([change(ref, **why) for ref in _refs(memory, args)], text)

    return judge


def _refs(memory: Memory, args: Namespace) -> list[str]:
    """The notes that are named: all are looked up first, so that a slip changes nothing."""
    return [memory.notes.get(ref).ref for ref in args.words]


ACTIONS: Mapping[str, Callable[[Memory, Namespace], Output]] = {
    "show": _show,
    "list": _list,
    "add": _add,
    "accept": _judged("accept"),
    "reject": _judged("reject"),
    "edit": _edit,
    "pin": _judged("pin"),
    "unpin": _judged("unpin"),
    "retire": _judged("retire"),
    "forget": _forget,
    "undo": _undo,
    "history": _history,
    "update": memory_update.update,
}


def text(note: Note) -> str:
    """A note for a person: what it is, what it says, and where it comes from."""
    where = note.project or "everywhere"
    told = "pinned" if note.pinned else "in the pack" if note.in_pack else ""
    marks = "  ".join(mark for mark in (note.status, note.category, where, told) if mark)
    said = f"{note.by or note.author}, trust {note.trust}, seen {counted(note.times, 'time')}"
    facts = [
        f"{said}, last {short_date(note.at)}" if note.at else said,
        f"from {note.turns[0]}" if note.turns else "",
        f"replaced by {note.replaced_by}" if note.replaced_by else "",
        f"replaces {note.replaces}" if note.replaces else "",
        f"not told: {note.stale}" if note.stale else "",
    ]
    return f"{note.ref}  {marks}\n    {note.text}\n    by {', '.join(one for one in facts if one)}"


def _change(change: NoteChange) -> str:
    why = f" ({change.why})" if change.why else ""
    undone = "  taken back" if change.undone else ""
    return (
        f"{short_date(change.at)}  {change.author} {change.action} it{why}{undone}\n"
        f"    {change.status}: {change.text}"
    )
