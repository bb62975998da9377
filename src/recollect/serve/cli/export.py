"""recollect export: write everything as JSON Lines.

recollect export > sessions.jsonl                      every session with its turns
recollect export project:webshop since:30d             only some
recollect export --notes > notes.jsonl                 every note, whatever its status

One session a line; docs/json.md explains the fields.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, remarked, typed
from recollect.serve.output import Output, to_json

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument("--limit", type=count, metavar="N", help="at most N lines")
    parser.add_argument("--notes", action="store_true", help="notes instead of sessions")


def run(memory: Memory, args: Namespace) -> Output:
    if args.notes:
        if typed(args) or any(chosen(args).values()):
            raise UsageError(
                "Words and filters choose sessions, not notes.",
                hint="To filter notes: recollect memory list --json",
            )
        return Output(memory.notes.search(limit=args.limit), to_json, empty="No notes are stored.")
    rows = memory.store.export(typed(args), limit=args.limit, **chosen(args))
    return Output(rows, to_json, empty="No sessions match.", note=remarked(memory, args))
