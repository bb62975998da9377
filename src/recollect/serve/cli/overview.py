"""recollect: what is stored, and what to try next."""

from __future__ import annotations

import os

from recollect.serve.cli.output import Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from recollect.memory import Memory
    from recollect.model import StoreSummary


def arguments(parser: ArgumentParser) -> None:
    """No arguments: this is what a bare `recollect` does."""


def run(memory: Memory, args: Namespace) -> Output:
    if not os.path.exists(memory.settings.store):
        return Output([], note="nothing is stored yet\n  recollect import    read the sessions of every agent on this machine\n  recollect demo      try it with sessions of our own")
    return Output([memory.summary()], _text)


def _text(summary: StoreSummary) -> str:
    agents = ", ".join(f"{name} {count}" for name, count in summary.agents.items()) or "none"
    lines = [
        f"{summary.sessions} sessions, {summary.turns} turns, {summary.tool_calls} tool calls in {summary.projects} projects",
        f"agents: {agents}",
    ]
    if summary.first_at and summary.last_at:
        lines.append(f"from {summary.first_at[:10]} to {summary.last_at[:10]}")
    lines += [
        f"store: {summary.path} ({summary.size_bytes / 1e6:.1f} MB)",
        "",
        "  recollect import            what is new since the last time",
        "  recollect search WORDS      find a turn",
        "  recollect sessions          the newest sessions",
        "  recollect stats --by day    what was spent",
    ]
    if summary.jobs_waiting:
        lines.append(f"  recollect work              {summary.jobs_waiting} jobs wait")
    return "\n".join(lines)
