"""recollect: show what is stored, and what to try next."""

from __future__ import annotations

import os
from contextlib import suppress

from recollect.serve.output import Output, and_subagents, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from recollect.memory import Memory
    from recollect.model.reports import StoreSummary
    from recollect.serve.cli.lists import Screen


# So many of the newest sessions.
NEWEST = 3
# Whoever has imported nothing yet waits no longer than this for a count of what there is.
LOOK_SECONDS = 0.3


def arguments(parser: ArgumentParser) -> None:
    """No arguments: this is what a bare `recollect` does."""


def run(memory: Memory, args: Namespace) -> Output:
    if not os.path.exists(memory.settings.store):
        return Output([], note=_nothing(memory))
    if args.json:
        return Output([memory.summary()])
    # A person waits for the first line, and does not need all of the summary.
    rows: Iterable[StoreSummary] = (memory.summary() for _ in range(1))
    return Output(rows, _text, screen=lambda screen: _screen(screen, memory))


def _nothing(memory: Memory) -> str:
    """What to do when nothing is stored yet: there may be logs, or samples."""
    import time

    logs: dict[str, int] = {}
    names = {adapter.agent: adapter.name for adapter in memory.agents.adapters()}
    size, end, more = 0, time.monotonic() + LOOK_SECONDS, ""
    for found in memory.agents.sources():
        if time.monotonic() > end:
            more = "more than "
            break
        logs[found.source.agent] = logs.get(found.source.agent, 0) + 1
        with suppress(OSError):
            size += os.stat(found.source.path).st_size
    demo = os.path.join(memory.settings.home, "demo.db")
    if logs:
        from recollect.serve.cli.style import size as shown_size

        most = sorted(logs, key=lambda agent: -logs[agent])
        named = ", ".join(f"{logs[agent]:,} {names.get(agent, agent)}" for agent in most[:3])
        others = sum(logs[agent] for agent in most[3:])
        named += f" and {others:,} other" if others else ""
        return (
            f"Found {more}{named} logs on this machine ({shown_size(size)}).\n"
            "Read them: recollect import"
        )
    if os.path.exists(demo):
        return "Your memory is empty. The samples are there to try: recollect --demo ls"
    return (
        "Your memory is empty, and no agent logs were found on this machine.\n"
        "Try it with sample sessions: recollect demo\n"
        "Or name a folder: recollect import PATH"
    )


def _screen(screen: Screen, memory: Memory) -> Iterator[str]:
    """This project's newest sessions, what its agents are told, and what to do next."""
    from recollect.serve.cli.lists import OUTCOMES, agent_name, project_names
    from recollect.serve.cli.style import Column, age, cells, money

    style, here = screen.style, os.getcwd()
    own = memory.projects.of(here)
    page = memory.session_page(limit=NEWEST, project=own) if own else None
    if page is None or not page.rows:
        own, page = None, memory.session_page(limit=NEWEST)
    scope = style.clean(project_names([own])[own]) if own else "All projects"
    sums = memory.stats("all", project=own)
    facts = [counted(page.total, "session")]
    if sums:
        facts += [counted(sums[0].turns, "turn"), money(sums[0].cost_usd)]
    if page.rows:
        facts.append(f"last {age(page.rows[0].started_at)}")
    right = style.glyph(" · ".join(facts))
    room = max(12, style.width - cells(right) - 2)
    name = style.cut(scope, room)
    blanks = " " * (room - cells(name) + 2)
    yield f"{style.paint('bold', name)}{blanks}{style.cut(right, style.width - 14)}"
    yield ""
    names = memory.names([one.id for one in page.rows])
    columns = [
        Column(role="accent", right=True), Column(role="dim", right=True), Column(gap=1),
        Column(flexible=True), *([] if own else [Column(drop=2)]), Column(drop=1),
        Column(role="accent"),
    ]  # fmt: skip
    projects = project_names(one.project for one in page.rows)
    yield from screen.table(
        columns,
        [
            [
                screen.number(one.id), style.glyph(age(one.started_at)),
                style.glyph(OUTCOMES.get(one.outcome or "", ("", ""))[0]),
                style.clean(one.title or "(no prompt)"),
                *([] if own else [style.clean(projects[one.project])]),
                agent_name(one.agent), names[one.id].short,
            ]
            for one in page.rows
        ],
    )  # fmt: skip
    yield ""
    for line in _next_steps(memory, own, here):
        yield style.cut(style.glyph(line), style.width)
    browse = "Browse: recollect tui · recollect web   All commands: recollect help"
    yield style.cut(style.glyph(browse), style.width)


def _next_steps(memory: Memory, own: str | None, here: str) -> Iterator[str]:
    if own is not None:
        told = memory.notes.count_told(own)
        waiting = memory.notes.search(folder=here, status="candidate", limit=1).total
        parts = []
        if told:
            parts.append(f"Agents here are told {counted(told, 'line')} (recollect memory).")
        if waiting:
            more = f"{waiting:,} more wait" if waiting > 1 else "One more waits"
            parts.append(f"{more} for you (recollect review).")
        if parts:
            yield " ".join(parts)
    if not memory.injections.hook_runs():
        yield "Tell your agents what was learned: recollect install"
    if waiting_turns := memory.store.unembedded():
        yield f"Still indexing {counted(waiting_turns, 'turn')} for search by meaning."


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
