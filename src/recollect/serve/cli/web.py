"""recollect web: read, search and correct everything in your browser.

recollect web                   open the page; Ctrl-C ends it
recollect web --no-open         only print the link
recollect web --read-only       look, and change nothing

The page is served on this machine alone and asks no other for anything. The
link holds a token, so that only you can open it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=count, metavar="N", help="the port (default: 7374, or any free one)"
    )
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--read-only", action="store_true", help="show everything, change nothing")


def run(memory: Memory, args: Namespace) -> Output:
    from recollect.serve.web.run import run as serve

    serve(memory, port=args.port, opens=not args.no_open, read_only=args.read_only)
    return Output([])
