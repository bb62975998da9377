"""The terminal interface, driven by its keys, over the sample sessions."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from recollect.memory import Memory
from recollect.recall import rank
from recollect.serve.tui.app import RecollectApp
from tests.builders.claude_code import Conversation

WEBSHOP = "github.com/acme/webshop"
WAIT_SECONDS = 10.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tui")
    with Memory.open(home / "store.db", environ={"RECOLLECT_HOME": str(home)}) as memory:
        memory.import_logs([memory.agents.sample_logs()])
        memory.jobs.work()
    return home / "store.db"


@pytest.fixture
def memory(store: Path, tmp_path: Path) -> Iterator[Memory]:
    """A store of its own, because notes are changed in it."""
    shutil.copy(store, tmp_path / "store.db")
    environ = {"RECOLLECT_HOME": str(tmp_path)}
    with Memory.open(tmp_path / "store.db", environ=environ) as opened:
        yield opened


class Screen:
    """What is on the screen, and the keys."""

    def __init__(self, app: RecollectApp, pilot: Pilot[Any]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def shows(self, what: str, within: str = "") -> None:
        """Wait until a text is there."""
        began = time.monotonic()
        while what not in self.text(within):
            assert time.monotonic() - began < WAIT_SECONDS, f"{what!r} not in {self.text(within)!r}"
            await self.pilot.pause(0.02)

    def text(self, within: str = "") -> str:
        found = []
        for widget in self.app.screen.query(within or "*"):
            if isinstance(widget, OptionList):
                found += [
                    str(widget.get_option_at_index(n).prompt) for n in range(widget.option_count)
                ]
            elif isinstance(widget, Static):
                found.append(str(widget.render()))
            elif isinstance(widget, Input) and widget.display:
                found.append(widget.value)
        return "\n".join(found)


@contextlib.asynccontextmanager
async def opened(
    memory: Memory,
    *,
    size: tuple[int, int] = (100, 30),
    here: str | None = WEBSHOP,
    picks: bool = False,
) -> AsyncIterator[Screen]:
    app = RecollectApp(memory, picks=picks)
    app.here = here
    async with app.run_test(size=size) as pilot:
        yield Screen(app, pilot)


Story = Callable[[Screen], Coroutine[Any, Any, None]]


def play(memory: Memory, story: Story, **options: Any) -> RecollectApp:
    async def run() -> RecollectApp:
        async with opened(memory, **options) as screen:
            await story(screen)
        return screen.app

    return asyncio.run(run())


def test_it_opens_on_this_project_and_shows_the_newest_session(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.shows("Release webshop 2.14.0 and the flaky checkout test")
        await screen.shows("Other projects")
        await screen.shows("Let's release 2.14.0", "#shown")

    play(memory, story)


@pytest.mark.parametrize("keys", [[], ["escape", "o"], ["escape", "m"]])
def test_what_is_chosen_is_shown_the_other_way_round(memory: Memory, keys: list[str]) -> None:
    """On every screen, and one line of it: a turn fills the screen."""

    def reversed_lines(screen: Screen) -> list[int]:
        shown = screen.app.screen.query_one(OptionList)
        return [
            y
            for y in range(shown.size.height)
            if any(part.style and part.style.reverse for part in shown.render_line(y))
        ]

    async def story(screen: Screen) -> None:
        await screen.shows("Release webshop")
        await screen.press(*keys[:1])
        for key in keys[1:]:
            await screen.pilot.pause(0.2)
            await screen.press(key)
        began = time.monotonic()
        while len(reversed_lines(screen)) != 1 and time.monotonic() - began < WAIT_SECONDS:
            await screen.pilot.pause(0.05)
        assert len(reversed_lines(screen)) == 1

    play(memory, story)


def test_what_is_typed_is_searched_and_the_turn_that_fits_is_previewed(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.press(*"deadlock")
        await screen.shows("hits in")
        await screen.shows("Deadlock while migration 0042 runs against live orders")
        await screen.shows("psycopg.errors.DeadlockDetected", "#shown")
        await screen.press("escape")
        await screen.shows("Newest here")

    play(memory, story)


def test_when_nothing_is_relevant_the_nearest_turn_is_a_hint(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sample sessions are so few that every question is answered.
    monkeypatch.setattr(rank, "relevant", lambda *_: 99.0)

    async def story(screen: Screen) -> None:
        await screen.press(*"submarine")
        await screen.shows("Nearest")
        await screen.shows("Nothing relevant found.")

    play(memory, story)


def test_nothing_found_says_what_to_do(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.press(*"agent:cursor x")
        await screen.shows("No hits. Esc clears; p searches all projects.")

    play(memory, story)


def test_a_session_is_opened_read_and_searched(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.press(*"deadlock", "down", "o")
        await screen.shows("lock-order problem")
        await screen.press("slash", *"timeout", "enter")
        listing = screen.app.screen.query_one("#list", OptionList)
        first = listing.highlighted
        await screen.press("n")
        assert listing.highlighted != first
        await screen.press("escape")
        await screen.shows("hits in")

    play(memory, story)


def test_a_session_is_resumed_after_a_second_enter(memory: Memory, tmp_path: Path) -> None:
    """Only one whose folder and log are there; nobody becomes an agent by one slip."""
    log = Conversation(cwd=str(tmp_path))
    log.user("make the tea")
    log.reply("made")
    home = Path(os.environ["HOME"])
    log.write(home / ".claude" / "projects" / "tea" / f"{log.session}.jsonl")
    memory.import_logs([home / ".claude"])

    async def story(screen: Screen) -> None:
        await screen.press(*"tea")
        await screen.shows("make the tea", "#list")
        await screen.press("down", "enter")
        await screen.shows("Enter runs it", "#foot")
        await screen.press("enter")

    app = play(memory, story, here=None)

    assert app.return_value is not None
    assert app.return_value.words[-1] == log.session  # type: ignore[union-attr]


def test_picking_gives_the_reference(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.press("down", "enter")

    app = play(memory, story, picks=True)

    assert str(app.return_value).startswith("claude-code:a75df633")


def test_a_wrong_line_of_the_memory_is_rejected_and_taken_back(memory: Memory) -> None:
    before = memory.remember(project=WEBSHOP)
    assert before is not None
    first = before.notes[0].text

    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.press("escape", "m")
        await screen.shows("Memory of webshop")
        await screen.shows(first[:40], "#shown")
        await screen.press("x")
        await screen.shows("Rejected", "#foot")
        while first in screen.text("#list"):
            await screen.pilot.pause(0.02)
        await screen.press("u")
        await screen.shows("Undone", "#foot")
        await screen.shows(first[:40], "#list")

    play(memory, story)

    after = memory.remember(project=WEBSHOP)
    assert after is not None
    assert first in [note.text for note in after.notes]


def test_a_line_of_ones_own_is_told_first(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.press("escape", "m")
        await screen.shows("Memory of webshop")
        await screen.press("a", *"the tea is green", "enter")
        await screen.shows("Saved", "#foot")
        await screen.shows("the tea is green", "#list")

    play(memory, story)

    found = memory.remember(project=WEBSHOP)
    assert found is not None
    assert "the tea is green" in found.pack


def test_what_an_agent_proposed_is_accepted_in_review(memory: Memory) -> None:
    memory.notes.add("the coffee is black", project=WEBSHOP, by="agent")

    async def story(screen: Screen) -> None:
        await screen.shows("1 to review")
        await screen.press("escape", "r")
        await screen.shows("the coffee is black", "#list")
        await screen.press("y")
        await screen.shows("Accepted", "#foot")
        await screen.shows("Nothing to review.")

    play(memory, story)

    assert [note.status for note in memory.notes.search("coffee")] == ["active"]


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (140, 40), (220, 60)])
def test_any_size_will_do(memory: Memory, size: tuple[int, int]) -> None:
    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.press(*"lock", "down", "j", "k", "tab", "question_mark")

    play(memory, story, size=size)


def test_markup_and_escapes_in_logs_are_text(memory: Memory, tmp_path: Path) -> None:
    log = Conversation(cwd=str(tmp_path))
    log.user("[bold]fix[/] the [/] brackets \x1b[2J\x1b]0;title\x07 now")
    log.reply("[red]done[/red] [link=http://evil.example]x")
    log.write(tmp_path / ".claude" / "projects" / "x" / f"{log.session}.jsonl")
    memory.import_logs([tmp_path / ".claude"])

    async def story(screen: Screen) -> None:
        await screen.press(*"brackets")
        await screen.shows("[bold]fix[/] the [/] brackets", "#shown")
        assert "\x1b" not in screen.text()
        await screen.press("down", "o")
        await screen.shows("[red]done[/red]")

    play(memory, story, here=None)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine")
def test_it_runs_in_a_terminal_and_leaves_it_as_it_was(store: Path, tmp_path: Path) -> None:
    socket = str(tmp_path / "tmux")
    line = f"{sys.executable} -m recollect tui --store {store}; echo left with $?"

    def tmux(*words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", socket, *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    def wait_for(what: str) -> None:
        began = time.monotonic()
        while what not in tmux("capture-pane", "-p"):
            assert time.monotonic() - began < 20, tmux("capture-pane", "-p")
            time.sleep(0.1)

    tmux("new-session", "-d", "-x", "100", "-y", "30", "-e", f"RECOLLECT_HOME={tmp_path}", "sh")
    try:
        tmux("send-keys", line, "Enter")
        wait_for("Newest")
        tmux("send-keys", "deadlock")
        wait_for("Deadlock while migration")
        tmux("send-keys", "C-c")
        wait_for("left with 0")
    finally:
        tmux("kill-server")


def test_what_is_not_committed_comes_first(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes back to half-done work sees the session that it is from."""
    folder = tmp_path / "webshop"
    file = folder / "shop" / "feeds" / "cache.py"
    file.parent.mkdir(parents=True)
    file.write_text("new\n")
    for words in (["init", "-q"], ["remote", "add", "origin", "git@github.com:acme/webshop.git"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    monkeypatch.chdir(folder)

    async def story(screen: Screen) -> None:
        await screen.shows("Behind your uncommitted changes")
        lines = screen.text("#list").splitlines()
        assert lines[0].strip() == "Behind your uncommitted changes"
        assert "Cache supplier price feeds in SQLite instead of Redis" in lines[1]
        assert lines[2].strip() == "cache.py"
        await screen.shows("now use it in catalog/prices.py", "#shown")

    play(memory, story)


def test_a_click_chooses_and_a_second_one_opens(memory: Memory) -> None:
    """Only Enter, twice, leaves for the agent."""

    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.pilot.click("#list", offset=(10, 2))
        await screen.shows("Cache supplier price feeds", "#shown")
        assert "resume" in screen.text("#foot")
        await screen.pilot.double_click("#list", offset=(10, 2))
        await screen.shows("↑↓ turn")
        await screen.shows("Cache supplier price feeds", "#head")

    play(memory, story)


def test_a_session_is_handed_over_by_one_key(memory: Memory) -> None:
    """The prompt for the other agent is copied; nothing is started."""

    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.press("down", "h")
        await screen.shows("copied: the prompt for another agent", "#foot")
        assert "Release webshop 2.14.0" in screen.app.clipboard

    play(memory, story)


def test_keys_that_come_fast_are_not_taken_for_words(memory: Memory) -> None:
    """Down goes to the list at once: the next key acts there."""

    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        screen.app.simulate_key("down")
        screen.app.simulate_key("j")
        await screen.pilot.pause(0.2)
        assert screen.app.screen.query_one("#box", Input).value == ""

    play(memory, story)


def test_an_opened_turn_shows_what_its_edits_changed(memory: Memory) -> None:
    async def story(screen: Screen) -> None:
        await screen.shows("Newest here")
        await screen.press(*"AssertionError autocommit_block")
        await screen.shows("hits in")
        await screen.shows("copy with the worker running", "#shown")
        await screen.press("ctrl+o")
        await screen.shows("env.py")
        await screen.press("space")
        await screen.shows("-        with connection.begin():")

    play(memory, story)
