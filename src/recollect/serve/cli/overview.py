"""recollect: what is stored, and what to try next."""

from __future__ import annotations

import os

from recollect.serve.cli.output import Output, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from recollect.memory import Memory
    from recollect.model.reports import StoreSummary


_NOTHING = """nothing is stored yet
  recollect import    read the sessions of every agent on this machine
  recollect demo      try it with sessions of our own"""


def arguments(parser: ArgumentParser) -> None:
    """No arguments: this is what a bare `recollect` does."""


def run(memory: Memory, args: Namespace) -> Output:
    if not os.path.exists(memory.settings.store):
        return Output([], note=_NOTHING)
    return Output([memory.summary()], _text)


def _text(summary: StoreSummary) -> str:
    agents = ", ".join(f"{name} {count}" for name, count in summary.agents.items()) or "none"
    lines = [
        f"{counted(summary.sessions, 'session')}, {counted(summary.turns, 'turn')},"
        f" {counted(summary.tool_calls, 'tool call')} in {counted(summary.projects, 'project')}",
        *(
            [f"{counted(summary.notes, 'note')}, see `recollect notes --all`"]
            if summary.notes
            else []
        ),
        f"agents: {agents}",
    ]
    if summary.first_at and summary.last_at:
        lines.append(f"from {summary.first_at[:10]} to {summary.last_at[:10]}")
    lines += [
        f"store: {summary.path} ({summary.size_bytes / 1e6:.1f} MB)",
        *([str(summary.room)] if summary.room else []),
        "",
        "  recollect import            what is new since the last time",
        "  recollect search WORDS      find a turn, by word and by meaning",
        "  recollect fix ERROR         what helped when this error was met before",
        "  recollect blame FILE        which turns changed a file, and why",
        "  recollect sessions          the newest sessions",
        "  recollect stats --by day    what was spent",
        "  recollect install AGENT     have an agent told what was learned here, and let it ask",
    ]
    if summary.jobs_waiting:
        lines.append(
            "  recollect work              "
            f"{counted(summary.jobs_waiting, 'job waits', 'jobs wait')}"
        )
    return "\n".join(lines)
