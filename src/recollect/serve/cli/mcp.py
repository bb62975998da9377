"""recollect mcp: the memory as tools for an agent.

An agent starts it and speaks to it over its pipes; `recollect install AGENT`
arranges that. With --http it listens on this machine instead, for those who
have the token; docs/mcp.md tells how to connect.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.cli import count
from recollect.serve.cli.output import Output

PORT = 7437


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--http",
        action="store_true",
        help="listen on this machine instead of using the standard streams",
    )
    parser.add_argument(
        "--port",
        type=count,
        default=PORT,
        metavar="N",
        help="with --http: the port (default: %(default)s)",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="without the tools that write, and writing nothing"
    )
    parser.add_argument(
        "--distill",
        action="store_true",
        help="also two tools with which the agent sums up sessions",
    )
    parser.add_argument(
        "--episodes",
        action="store_true",
        help="also four tools with which the agent records its attempts",
    )


def run(memory: Memory, args: Namespace) -> Output:
    from recollect.serve.mcp import running

    if args.distill and args.read_only:
        raise UsageError(
            "--distill does not go with --read-only", hint="what the agent sums up has to be kept"
        )
    if args.episodes and args.read_only:
        raise UsageError(
            "--episodes does not go with --read-only", hint="what the agent records has to be kept"
        )
    if args.http:
        running.run_http(
            memory,
            port=args.port,
            read_only=args.read_only,
            distill=args.distill,
            episodes=args.episodes,
        )
    else:
        running.run_stdio(
            memory, read_only=args.read_only, distill=args.distill, episodes=args.episodes
        )
    return Output([])
