"""The logs of real agents: imported whole, once, and gone on with.

Logs change with every release; these were written a moment ago. Starting an
agent takes seconds, so each of them works only twice, and the tests look at
what came of it: a session into which we spoke, and the same session continued.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.npm import WANTED
from tests.real.agents import AGENTS
from tests.real.conftest import set_up
from tests.real.dialects import CACHED, INPUT, OUTPUT, THOUGHT
from tests.real.machine import Machine
from tests.real.steps import Say
from tests.real.stub import Request, listening
from tests.real.test_context import PAIR, earlier_work

FIRST, SECOND = "is there paint?", "and blue paint?"
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "opencode": "opencode-ai",
    "copilot-cli": "@github/copilot",
}
# What a session's log decides; the rest is concluded from it later.
LASTING = (
    "id", "cwd", "title", "started_at", "ended_at", "models", "agent_version", "git", "tokens",
    "meta", "turn_list",
)  # fmt: skip
# These say nothing of a code that is 0.
SILENT_ABOUT_SUCCESS = {"claude-code", "gemini-cli"}


@dataclass
class Story:
    """What an agent was asked, what its model was told, and what we have of it."""

    name: str
    machine: Machine
    told: list[Request]
    first: dict[str, Any]
    command: list[str]
    told_later: list[Request]
    second: dict[str, Any]

    def stored(self, *options: str) -> dict[str, Any]:
        """The agent's newest session, with its turns."""
        session, *_ = self.machine.rows("sessions", "--agent", self.name, *options)
        (detail,) = self.machine.rows("show", session["id"], *options)
        return detail


# All tests of one story run in the worker that has it.
STORIES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in AGENTS]


@pytest.fixture(scope="module", params=STORIES)
def story(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    """An agent works, is told what another one learned there, and is continued
    with the command that we give for it.
    """
    name: str = request.param
    home = tmp_path_factory.mktemp(name) / "home"
    home.mkdir()
    with listening() as stub, set_up(home) as machine:
        agent = AGENTS[name](home, stub)
        machine.learn(earlier_work(machine))
        machine.recollect("install", name)
        stub.will(
            agent.shell("shopctl check paint"),
            agent.shell("./bin/shopctl check paint"),
            Say("There are twelve pots."),
        )
        agent.run(FIRST, machine.shop)
        machine.wait()
        story = Story(name, machine, stub.asked, {}, [], [], {})
        # A hook that was too slow stays silent; then there is nothing to see
        # here, and the story is told again.
        assert PAIR in story.told[0].said
        story.first = story.stored()
        story.command = machine.rows("resume", story.first["id"])[0]["words"]
        stub.will(agent.shell("./bin/shopctl check blue"), Say("Twelve as well."))
        agent.go_on(story.command, SECOND, machine.shop)
        machine.wait()
        story.told_later = stub.asked
        machine.recollect("import")
        story.second = story.stored()
        yield story


def used(name: str, steps: int) -> dict[str, int]:
    """What the stub's model says a number of steps used.

    Claude Code is told nothing of what was thought.
    """
    thought = 0 if name == "claude-code" else THOUGHT
    return {
        "input": steps * INPUT,
        "cache_read": steps * CACHED,
        "cache_write": 0,
        "cache_write_1h": 0,
        "output": steps * OUTPUT,
        "reasoning": steps * thought,
    }


def test_a_session_of_a_real_agent_is_imported_whole(story: Story) -> None:
    """Nobody imported it: its hooks did."""
    session = story.first
    (turn,) = session["turn_list"]
    failed, worked = (event for event in turn["events"] if event["kind"] == "tool_call")
    versions = json.loads(WANTED.read_text())["dependencies"]
    assert (session["cwd"], session["model"]) == (str(story.machine.shop), story.told[0].model)
    assert session["agent_version"] == versions.get(PACKAGES.get(story.name))
    # OpenCode asks its model for a title, and the stub has one word for such questions.
    assert session["title"] == ("stub" if story.name == "opencode" else FIRST)
    assert session["tokens"] == used(story.name, 3)
    assert (failed["target"], failed["ok"], failed["exit_code"]) == (
        "shopctl check paint",
        False,
        127,
    )
    assert "shopctl: command not found" in failed["output"]
    success = None if story.name in SILENT_ABOUT_SUCCESS else 0
    assert (worked["target"], worked["ok"], worked["exit_code"]) == (
        "./bin/shopctl check paint",
        True,
        success,
    )
    assert "12 in stock" in worked["output"]
    assert [event["text"] for event in turn["events"] if event["kind"] == "reply"] == [
        "There are twelve pots."
    ]


def test_what_we_told_an_agent_is_neither_a_prompt_nor_learned_again(story: Story) -> None:
    """A memory that reads its own words as news believes them more each time round."""
    found = story.machine.rows("search", "failed here", "--mode", "text")

    assert [turn["prompt"] for turn in story.second["turn_list"]] == [FIRST, SECOND]
    assert found == []


def test_a_session_goes_on_with_the_command_that_we_give_for_it(story: Story) -> None:
    """The agent finds it by our id, its model is told what was said before, and we
    have one session with one turn more.
    """
    assert "There are twelve pots." in story.told_later[0].said
    assert story.second["id"] == story.first["id"]
    assert story.second["started_at"] == story.first["started_at"]
    assert story.second["turn_list"][0] == story.first["turn_list"][0]
    assert story.second["turn_list"][1]["reply"] == "Twelve as well."
    assert story.second["tokens"] == used(story.name, 5)


def test_importing_again_changes_nothing(story: Story) -> None:
    """Nor does it matter in how many steps a log was read, and nothing in it was strange to us."""
    store = ("--store", str(story.machine.home / "at-once.db"))

    again = story.machine.rows("import")[-1]
    at_once = story.machine.rows("import", "--agent", story.name, *store)[-1]

    assert (again["imported"], again["updated"], story.stored()) == (0, 0, story.second)
    assert (at_once["failed"], at_once["problems"]) == (0, 0)
    fresh = story.stored(*store)
    assert {name: fresh[name] for name in LASTING} == {name: story.second[name] for name in LASTING}
