"""recollect mcp: offer the memory to an agent as tools.

recollect install codex       set it up; the agent then starts it itself
recollect mcp --http          listen on this machine instead, with a token

docs/mcp.md says how to connect.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.output import Output

PORT = 7437


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--http",
        action="store_true",
        help="listen on this machine instead of using stdin and stdout",
    )
    parser.add_argument(
        "--port",
        type=count,
        default=PORT,
        metavar="N",
        help="with --http: the port (default: %(default)s)",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="leave out the tools that write, write nothing"
    )
    parser.add_argument(
        "--distill",
        action="store_true",
        help="add two tools with which the agent writes the project's memory",
    )
    parser.add_argument(
        "--episodes",
        action="store_true",
        help="add four tools with which the agent records its attempts",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.distill and args.read_only:
        raise UsageError(
            "--distill does not go with --read-only.",
            hint="It has to write what the agent returns.",
        )
    if args.episodes and args.read_only:
        raise UsageError(
            "--episodes does not go with --read-only.",
            hint="It has to write what the agent records.",
        )
    chosen = {
        "read_only": args.read_only,
        "distill": args.distill,
        "episodes": args.episodes,
    }
    if args.http:
        from recollect.serve.mcp import http

        http.run(memory, args.port, **chosen)
    else:
        from recollect.serve.mcp import pipes

        pipes.run(memory, **chosen)
    return Output([])
