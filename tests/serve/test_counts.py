"""One number means one thing: every face counts the same sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from recollect.serve.mcp import pages
from tests.builders import codex
from tests.builders.claude_code import Conversation
from tests.builders.homes import (
    add_turn,
    claude_log,
    claude_path,
    codex_log,
    memory,
    small_talk,
)

PARENT = "5e551011-0000-4000-8000-000000000001"


def add_family(home: Path) -> None:
    """A session with two sub-agents, one without, and one in which nothing was said."""
    parent = claude_log(home, small_talk(1, words="about the harvest"))
    claude_log(home, small_talk(2))
    for agent in ("a1", "a2"):
        talk = Conversation(PARENT, prefix=agent, agent=agent)
        add_turn(talk, agent, "about tulips")
        talk.write(parent.with_suffix("") / "subagents" / f"agent-{agent}.jsonl")
    codex_log(home, [codex.meta()])


@pytest.fixture(params=["family", "samples"])
def store(request: pytest.FixtureRequest, home: Path) -> Path:
    """A store of one of the two kinds."""
    with memory(home) as mind:
        if request.param == "family":
            add_family(home)
            mind.import_logs()
        else:
            mind.import_logs([mind.agents.sample_logs()])
        return Path(mind.settings.store)


def answers(capsys: pytest.CaptureFixture[str], store: Path, *command: str) -> list[dict[str, int]]:
    """What a command answers to a program."""
    capsys.readouterr()
    assert main([*command, "--json", "--store", str(store)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_face_counts_the_same_sessions(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person compares the numbers, and doubts all of them when two differ."""
    (summary,) = answers(capsys, store)
    listed = answers(capsys, store, "sessions", "--limit", "1000")
    whole = answers(capsys, store, "sessions", "--limit", "1000", "--subagents")
    (everything,) = answers(capsys, store, "stats", "--by", "all")
    by_agent = answers(capsys, store, "stats", "--by", "agent")
    projects = answers(capsys, store, "projects")
    agents = answers(capsys, store, "agents")
    with Memory.open(store) as mind:
        page = mind.session_page(limit=1)
        outlines = [pages.read(mind, str(row["id"]), None)[0].hits[0]["text"] for row in listed]

    sessions = {
        "recollect": summary["sessions"],
        "sessions": len(listed),
        "a page of sessions": page.total,
        "stats": everything["sessions"],
        "stats by agent": sum(row["sessions"] for row in by_agent),
        "projects": sum(row["sessions"] for row in projects),
        "agents": sum(row["sessions"] for row in agents),
    }
    assert set(sessions.values()) == {len(listed)}, sessions
    assert summary["subagents"] == sum(row["subagents"] for row in listed)
    assert summary["subagents"] == len(whole) - len(listed)
    turns = {summary["turns"], everything["turns"], sum(row["turns"] for row in whole)}
    assert turns == {sum(row["turns"] for row in projects)}
    told = [f"{row['turns']} turn" in text for row, text in zip(listed, outlines, strict=True)]
    assert all(told)


def test_sub_agents_are_listed_under_the_session_that_started_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What they said finds that session; a session in which nothing was said is none."""
    add_family(home)
    with memory(home) as mind:
        report = mind.import_logs()
        listed = [(row.native_id, row.subagents) for row in mind.sessions()]
        found = [row.native_id for row in mind.sessions("tulips", subagents=True)]

        store = mind.settings.store

    main(["sessions", "--store", store])
    shown = capsys.readouterr().out

    assert sorted(listed) == [(PARENT, 2), (PARENT[:-1] + "2", 0)]
    assert (report.sessions, report.subagents) == (2, 2)
    assert found == [PARENT, f"{PARENT}/a1", f"{PARENT}/a2"]
    assert len(shown.splitlines()) == 2
    assert f"{PARENT}/a1" not in shown


def test_a_sub_agent_whose_parent_is_gone_stands_for_itself(home: Path) -> None:
    """Its work is not lost from the list because another file is."""
    add_family(home)
    claude_path(home, PARENT).unlink()
    with memory(home) as mind:
        mind.import_logs()
        listed = {row.native_id for row in mind.sessions()}

        assert listed == {f"{PARENT}/a1", f"{PARENT}/a2", PARENT[:-1] + "2"}
        assert mind.summary().sessions == 3

    with memory(home / "again") as mind:
        report = mind.import_logs([home])

        assert (report.sessions, report.subagents) == (3, 0)


def test_a_sub_agent_whose_parent_is_gone_is_not_moved_in(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would seem to belong to the session above it."""
    add_family(home)
    claude_path(home, PARENT).unlink()
    with memory(home) as mind:
        mind.import_logs()
        store = mind.settings.store
    capsys.readouterr()

    main(["sessions", "--subagents", "--store", store])

    lines = capsys.readouterr().out.splitlines()
    assert sum("\tclaude-code:" in line for line in lines) == 3


def test_the_page_and_the_terminal_say_the_numbers_of_the_command_line(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sessions, turns and cost; on the page as Home, Usage, Store and the menu show them."""
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys
    from recollect.serve.web.words import counted, money, number
    from tests.serve.tui.test_tui import Screen, play
    from tests.serve.web.conftest import Browser
    from tests.serve.web.test_views import plain

    (everything,) = answers(capsys, store, "stats", "--by", "all")
    listed = answers(capsys, store, "sessions", "--limit", "1000")
    whole = answers(capsys, store, "sessions", "--limit", "1000", "--subagents")
    sessions = counted(everything["sessions"], "session")
    costs = [row["cost_usd"] for row in whole if row["cost_usd"] is not None]
    cost = everything["cost_usd"]
    # Each of them is rounded to a millionth.
    assert (sum(costs) if costs else None) == (pytest.approx(cost, abs=1e-4) if costs else cost)

    async def told(screen: Screen) -> None:
        await screen.shows(f"{len(listed)} sessions")

    with Memory.open(store) as mind:
        play(mind, told, here=None)
        web = Web(mind, keys=PageKeys())
        try:
            page = Browser(web)
            home, usage = page.get("/").text, plain(page.get("/usage").text)
            kept, stored = page.get("/home/kept").text, plain(page.get("/store").text)
            menu = page.get("/sessions").text
        finally:
            web.close()
    assert sessions in plain(home)
    assert f"{money(cost)} in {sessions}" in usage
    assert f"Sessions {number(len(listed))}" in stored
    assert f"Turns {number(everything['turns'])}" in stored
    assert f"<dt>Turns</dt><dd>{number(everything['turns'])}</dd>" in kept
    assert f'<span class="t">Sessions</span><span class="n">{number(len(listed))}</span>' in menu
