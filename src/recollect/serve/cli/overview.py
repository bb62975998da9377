"""recollect: show what is stored, and what to try next."""

from __future__ import annotations

import os
from contextlib import suppress

from recollect.serve.cli.style import age, money
from recollect.serve.output import Output, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from recollect.memory import Memory
    from recollect.model.answers import Listing
    from recollect.model.reports import StatsRow
    from recollect.model.sessions import Session
    from recollect.serve.cli.lists import Screen


# So many of the newest sessions.
NEWEST = 3
# Of what is not committed only the newest files are looked up, and git may not take long.
MOST_CHANGED, GIT_SECONDS = 5, 0.08
# Whoever has imported nothing yet waits no longer than this for a count of what there is.
LOOK_SECONDS = 0.3


def arguments(parser: ArgumentParser) -> None:
    """No arguments: this is what a bare `recollect` does."""


def run(memory: Memory, args: Namespace) -> Output:
    if not os.path.exists(memory.settings.store):
        return Output([], note=_nothing(memory))
    if args.json:
        return Output([memory.summary()])
    from recollect.serve.cli.sessions import fields

    found = _newest(memory, os.getcwd())
    own, page, sums = found
    cost = "" if sums is None or sums.cost_usd is None else f"{sums.cost_usd:.4f}"
    head = f"{own or ''}\t{page.total}\t{sums.turns if sums else 0}\t{cost}"
    return Output(page, fields, head=head, screen=lambda screen: _screen(screen, memory, found))


def _newest(memory: Memory, here: str) -> tuple[str | None, Listing[Session], StatsRow | None]:
    """The project here, if it has sessions, its newest ones, and its sums; else those of all."""
    own = memory.projects.of(here)
    page = memory.session_page(limit=NEWEST, project=own) if own else None
    if page is None or not page.rows:
        own, page = None, memory.session_page(limit=NEWEST)
    return own, page, next(iter(memory.stats("all", project=own)), None)


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


def _screen(
    screen: Screen, memory: Memory, found: tuple[str | None, Listing[Session], StatsRow | None]
) -> Iterator[str]:
    """This project's newest sessions, what its agents are told, and what to do next."""
    from recollect.serve.cli.lists import OUTCOMES, agent_name, project_names
    from recollect.serve.cli.style import Column, cells

    style, here = screen.style, os.getcwd()
    own, page, sums = found
    scope = style.clean(project_names([own])[own]) if own else "All projects"
    facts = [counted(page.total, "session")]
    if sums:
        facts += [counted(sums.turns, "turn"), money(sums.cost_usd)]
    if page.rows:
        facts.append(f"last {age(page.rows[0].started_at)}")
    right = style.glyph(" · ".join(facts))
    room = max(12, style.width - cells(right) - 2)
    name = style.cut(scope, room)
    blanks = " " * (room - cells(name) + 2)
    yield f"{style.paint('bold', name)}{blanks}{style.cut(right, style.width - 14)}"
    yield ""
    names = memory.names([one.id for one in page.rows])
    changed: set[str] = set()
    if own:
        changes = memory.uncommitted(here, limit=MOST_CHANGED, seconds=GIT_SECONDS)
        changed = {row.session for row in changes} & names.keys()
    columns = [
        Column(role="accent", right=True), Column(role="dim", right=True), Column(gap=1),
        Column(flexible=True), *([] if own else [Column(drop=2)]), Column(drop=1),
        Column(role="accent"), *([Column(role="warn", drop=3)] if changed else []),
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
                *(["uncommitted" if one.id in changed else ""] if changed else []),
            ]
            for one in page.rows
        ],
    )  # fmt: skip
    yield ""
    for line in _next_steps(memory, own, here, [one.agent for one in page.rows]):
        yield style.cut(style.glyph(line), style.width)
    browse = "Browse: recollect tui · recollect web   All commands: recollect help"
    yield style.cut(style.glyph(browse), style.width)


def _next_steps(memory: Memory, own: str | None, here: str, agents: list[str]) -> Iterator[str]:
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
    yield from _connected(memory, here, agents)
    if waiting_turns := memory.store.unembedded():
        yield f"Still indexing {counted(waiting_turns, 'turn')} for search by meaning."
    if room := memory.store.room():
        said = str(room)
        yield said[0].upper() + said[1:]


def _connected(memory: Memory, here: str, agents: list[str]) -> Iterator[str]:
    """Which of the agents that were used last are told what was learned, and which are not."""
    from recollect.serve.agents import find_agent
    from recollect.serve.cli.lists import agent_name

    used = dict.fromkeys(agents)
    calling = {agent for agent, _ in memory.injections.hook_runs()}
    if used.keys() <= calling:
        return
    from recollect.serve.install import installed

    calling |= {one.agent for one in installed(memory.environ, here)}
    missing = [one for one in used if one not in calling and (known := find_agent(one))
               and known.installer is not None]  # fmt: skip
    connected = [agent_name(one).capitalize() for one in used if one in calling]
    if not missing:
        return
    command = f"recollect install {agent_name(missing[0])}"
    if connected:
        named = " and ".join(agent_name(one).capitalize() for one in missing)
        are = ("is", "are")
        yield (
            f"{' and '.join(connected)} {are[len(connected) > 1]} connected; "
            f"{named} {are[len(missing) > 1]} not: {command}"
        )
    else:
        yield f"Tell your agents what was learned: {command}"
