"""recollect recall: show what an agent is told for a prompt.

recollect recall fix the flaky voucher test     earlier turns that help, in this project
recollect recall                                what an agent is told when it starts
cat prompt.md | recollect recall -              read the prompt from stdin

Each line has its date and reference, and the whole stays within a budget of
tokens. When nothing is relevant it says so on stderr and exits with 1.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.answers import Pack
from recollect.serve.cli import count
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", help="what the agent is about to be asked")
    parser.add_argument(
        "--budget",
        type=count,
        metavar="N",
        help="about N tokens at most (default: 600)",
    )
    parser.add_argument(
        "--folder",
        metavar="PATH",
        help="as if the agent started there (default: this folder)",
    )
    parser.add_argument(
        "--everywhere", action="store_true", help="other projects too, when this one has nothing"
    )


def run(memory: Memory, args: Namespace) -> Output:
    prompt = sys.stdin.read() if args.prompt == ["-"] else " ".join(args.prompt)
    return told_for(memory, prompt, args, budget=args.budget)


def told_for(
    memory: Memory, prompt: str, args: Namespace, *, project: str | None = None,
    budget: int | None = None,
) -> Output:  # fmt: skip
    """What an agent in the folder of the arguments, or in a project, is told for a prompt."""
    pack = memory.recall(
        prompt, project=project, folder=args.folder, budget=budget, everywhere=args.everywhere
    )
    empty = "Nothing relevant found. The agent is told nothing."
    unknown = project is None and memory.projects.of(args.folder or os.getcwd()) is None
    if not pack.lines and not args.everywhere and unknown:
        empty = "Nothing is known about this folder yet. Other projects too: --everywhere"
    return Output([pack] if pack.lines else [], _text, empty=empty)


def _text(pack: Pack) -> str:
    return pack.text
