"""recollect backup: copy the store safely, even while it is in use.

recollect backup ~/recollect-backup.db             a copy; it is a complete store
recollect backup ~/recollect-backup.db --force     replace an older copy
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="FILE",
        help="where to write the copy",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that already exists")


def run(memory: Memory, args: Namespace) -> Output:
    size = memory.store.backup(args.path, force=args.force)
    row = {"path": args.path, "size_bytes": size}
    return Output([row], lambda _: f"{args.path}: {size / 1e6:.1f} MB")
