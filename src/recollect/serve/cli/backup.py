"""recollect backup: a sound copy of the store, while it is in use."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="FILE",
        help="where the copy goes; a file there is replaced only with --force",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")


def run(memory: Memory, args: Namespace) -> Output:
    size = memory.backup(args.path, force=args.force)
    row = {"path": args.path, "size_bytes": size}
    return Output([row], lambda _: f"{args.path}: {size / 1e6:.1f} MB")
