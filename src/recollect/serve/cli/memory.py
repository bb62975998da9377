"""recollect memory: show what a next session here should know, worked out by rules.

recollect memory                        the short form: what is sure, in at most 600 tokens
recollect memory --long                 the long form, in at most 2,500 tokens
recollect memory --folder ~/code/shop   another project
recollect memory --json                 a line each, with the turn it rests on
recollect memory --record               its sessions in at most 60 KB, as a model would read them

It is made from the sessions that are stored, each time it is asked for. It is
shown here; what agents are told when they start is not taken from it yet.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--folder", metavar="PATH", help="the project of this folder (default: this one)"
    )
    parser.add_argument("--project", metavar="NAME", help="this project")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--pack", action="store_true", help="the short form (the default)")
    length.add_argument("--long", action="store_true", help="the long form, the same lines first")
    length.add_argument(
        "--record", action="store_true", help="the sessions in one text, as an engine reads them"
    )


def run(memory: Memory, args: Namespace) -> Output:
    empty = "Nothing is known about this project yet. Read its sessions: recollect import"
    if args.record:
        record = memory.engines.record(project=args.project, folder=args.folder)
        return Output([record.text] if record else [], empty=empty)
    found = memory.remember(project=args.project, folder=args.folder)
    if found is None:
        return Output([], empty=empty)
    lines = found.notes if args.long else [note for note in found.notes if note.in_pack]
    if args.json:
        return Output(lines, empty=empty)
    return Output([text] if (text := found.long if args.long else found.pack) else [], empty=empty)
