"""recollect: show what is stored, and what to try next."""

from __future__ import annotations

import os

from recollect.serve.output import Output, and_subagents, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from recollect.memory import Memory
    from recollect.model.reports import StoreSummary


_NOTHING = """Your memory is empty. Read your sessions: recollect import
Or try it with sample sessions: recollect demo"""


def arguments(parser: ArgumentParser) -> None:
    """No arguments: this is what a bare `recollect` does."""


def run(memory: Memory, args: Namespace) -> Output:
    if not os.path.exists(memory.settings.store):
        return Output([], note=_NOTHING)
    return Output([memory.summary()], _text)


def _text(summary: StoreSummary) -> str:
    agents = ", ".join(f"{name} {count}" for name, count in summary.agents.items()) or "none"
    lines = [
        f"{counted(summary.sessions, 'session')}{and_subagents(summary.subagents)},"
        f" {counted(summary.turns, 'turn')},"
        f" {counted(summary.tool_calls, 'tool call')} in {counted(summary.projects, 'project')}",
        *(
            [f"{counted(summary.notes, 'note')}: recollect memory list --all"]
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
        *map(str, summary.leaving),
        "",
        "  recollect import            read new sessions",
        "  recollect search WORDS      find anything, by word or by meaning",
        "  recollect fix ERROR         what got past this error before",
        "  recollect blame FILE        which sessions changed a file, and why",
        "  recollect sessions          the newest sessions",
        "  recollect stats --by day    tokens, cost and errors by day",
        "  recollect install AGENT     tell an agent what was learned here, and let it ask",
    ]
    if summary.jobs_waiting:
        lines.append(
            f"  recollect work              run {counted(summary.jobs_waiting, 'waiting job')}"
        )
    return "\n".join(lines)
