"""recollect: show what is stored, and what to try next."""

from __future__ import annotations

import os

from recollect.serve.output import Output, and_subagents, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from recollect.memory import Memory
    from recollect.model.reports import StoreSummary
    from recollect.serve.cli.lists import Screen


# So many of the newest sessions.
NEWEST = 3
_NOTHING = """Your memory is empty. Read your sessions: recollect import
Or try it with sample sessions: recollect demo"""


def arguments(parser: ArgumentParser) -> None:
    """No arguments: this is what a bare `recollect` does."""


def run(memory: Memory, args: Namespace) -> Output:
    if not os.path.exists(memory.settings.store):
        return Output([], note=_NOTHING)
    summary = memory.summary()
    return Output([summary], _text, screen=lambda screen: _screen(screen, memory, summary))


def _screen(screen: Screen, memory: Memory, summary: StoreSummary) -> Iterator[str]:
    """This project's newest sessions, what its agents are told, and what to do next."""
    from recollect.serve.cli.lists import OUTCOMES, agent_name, project_names
    from recollect.serve.cli.style import Column, age, number

    style, here = screen.style, os.getcwd()
    own = memory.projects.of(here)
    found = list(memory.sessions(limit=NEWEST, project=own)) if own else []
    scope = style.clean(project_names([own])[own]) if found else "All projects"
    # In a project its own totals come first.
    sums = memory.stats("project", project=own) if own and found else []
    found = found or list(memory.sessions(limit=NEWEST))
    every = counted(summary.sessions, "session")
    projects = f"{counted(summary.projects, 'project')} in all"
    if sums:
        totals = (
            f" · {counted(sums[0].sessions, 'session')} · {number(sums[0].turns)} turns   "
            f"({every} in {projects})"
        )
    else:
        totals = (
            f" · {every}{and_subagents(summary.subagents)} · {number(summary.turns)} turns · "
            f"{projects}"
        )
    yield style.paint("bold", style.cut(scope, 40)) + style.cut(
        style.glyph(totals), style.width - min(40, len(scope))
    )
    yield ""
    names = memory.names([one.id for one in found])
    columns = [
        Column(role="accent", right=True), Column(role="dim", right=True), Column(),
        Column(flexible=True), Column(drop=1), Column(role="accent"),
    ]  # fmt: skip
    rows = []
    for one in found:
        title = style.clean(one.title or "(no prompt)")
        sign = style.glyph(OUTCOMES.get(one.outcome or "", ("", ""))[0])
        rows.append([
            screen.number(one.id), style.glyph(age(one.started_at)), sign, title,
            agent_name(one.agent), names[one.id].short,
        ])  # fmt: skip
    yield from screen.table(columns, rows)
    yield ""
    waiting = memory.notes.search(folder=here, status="candidate", limit=1).total if own else 0
    if waiting:
        yield f"{counted(waiting, 'note waits', 'notes wait')} for you: recollect review"
    if own:
        yield "What agents are told here: recollect memory"
    if summary.jobs_waiting:
        yield f"{counted(summary.jobs_waiting, 'job')} still to run in the background."
    for line in [*([str(summary.room)] if summary.room else []), *map(str, summary.leaving)]:
        yield style.cut(style.clean(line), style.width)
    browse = style.glyph("Browse: recollect tui · recollect web   All commands: recollect help")
    yield style.cut(browse, style.width)


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
            f"  recollect jobs run              run {counted(summary.jobs_waiting, 'waiting job')}"
        )
    return "\n".join(lines)
