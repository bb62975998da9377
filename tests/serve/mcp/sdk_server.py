"""The SDK's server over pipes from the first line on, to compare ours with:
`python -m tests.serve.mcp.sdk_server --store STORE [--read-only] [--distill] [--episodes]`.
"""

from __future__ import annotations

import os
import sys

import anyio

from recollect.memory import Memory
from recollect.serve.mcp import stdio
from recollect.serve.mcp.lines import Lines
from recollect.serve.mcp.run import running_server


async def serve(store: str, options: list[str]) -> None:
    memory = Memory.open(store)
    async with running_server(
        memory, read_only="--read-only" in options, distill="--distill" in options,
        episodes="--episodes" in options,
    ) as server:  # fmt: skip
        await stdio.serve(server, Lines(0), os.dup(1))


if __name__ == "__main__":
    anyio.run(serve, sys.argv[2], sys.argv[3:])
