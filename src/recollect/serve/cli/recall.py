"""recollect recall: what an agent should be told before it starts on a prompt.

The context pack for this prompt in this folder's project: earlier turns that
help, each with its date and reference, within a budget of tokens. It is silent
(exit code 1) when nothing stored is good enough. Without a prompt it tells
what an agent is told at its start: notes, what failed here and what worked
instead, and what was asked last. `-` reads the prompt from stdin.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.answers import Pack
from recollect.serve.cli import count
from recollect.serve.cli.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", help="what the agent is about to be asked")
    parser.add_argument(
        "--budget",
        type=count,
        metavar="N",
        help="at most about N tokens (default: 600, without a prompt 1500)",
    )
    parser.add_argument(
        "--folder",
        metavar="PATH",
        help="as if the agent were started there (default: the current folder)",
    )
    parser.add_argument(
        "--everywhere", action="store_true", help="ask other projects too when this one has nothing"
    )


def run(memory: Memory, args: Namespace) -> Output:
    prompt = sys.stdin.read() if args.prompt == ["-"] else " ".join(args.prompt)
    pack = memory.recall(prompt, folder=args.folder, budget=args.budget, everywhere=args.everywhere)
    empty = "nothing stored is good enough to be told here"
    if (
        not pack.lines
        and not args.everywhere
        and memory.project_of(args.folder or os.getcwd()) is None
    ):
        empty = "nothing is stored of this folder's project; --everywhere asks the others"
    return Output([pack] if pack.lines else [], _text, empty=empty)


def _text(pack: Pack) -> str:
    return pack.text
