"""The whole way round, with nothing but hooks: an agent works, its log is imported, the next session is told.

With the agents whose logs we read.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.real.agents import Agent
from tests.real.machine import Machine
from tests.real.steps import Say

Start = Callable[[str], Agent]

READ = ["claude-code", "codex"]
PAIR = "`shopctl check stock` failed here (exit 127); `./bin/shopctl check stock` worked"


def work_once(agent: Agent, machine: Machine) -> None:
    """A session in which the first command is not found and another form of it works."""
    agent.stub.will(
        agent.shell("shopctl check stock"), agent.shell("./bin/shopctl check stock"), Say("There are twelve flanges.")
    )
    agent.run("is the flange in stock?", machine.shop)
    machine.wait()


@pytest.mark.parametrize("name", READ)
def test_a_command_that_failed_is_remembered_in_the_next_session(name: str, start: Start, machine: Machine) -> None:
    """The promise of it all: nobody imports anything, nobody asks, and the same mistake is not made twice."""
    agent = start(name)
    machine.recollect("install", name)
    work_once(agent, machine)
    first = [said.count(PAIR) for said in agent.stub.said]
    agent.stub.will(agent.shell("shopctl check paint"), agent.shell("./bin/shopctl check paint"), Say("There is paint."))

    agent.run("and paint?", machine.shop)

    assert first == [0, 0, 0]
    # Once at the start, once more with the result of the command; what was said is not said again.
    assert [said.count(PAIR) for said in agent.stub.said] == [1, 2, 2]


@pytest.mark.parametrize("name", READ)
def test_a_session_of_a_real_agent_is_imported_whole(name: str, start: Start, machine: Machine) -> None:
    """Logs change with every release; this one was written a moment ago."""
    agent = start(name)
    machine.recollect("install", name)

    work_once(agent, machine)

    (session,) = machine.rows("sessions")
    (detail,) = machine.rows("show", session["id"])
    (turn,) = detail["turn_list"]
    calls = [event for event in turn["events"] if event["kind"] == "tool_call"]
    assert (session["agent"], session["cwd"], session["turns"], session["tool_calls"]) == (name, str(machine.shop), 1, 2)
    assert turn["prompt"] == "is the flange in stock?"
    assert [(call["target"], call["ok"]) for call in calls] == [
        ("shopctl check stock", False),
        ("./bin/shopctl check stock", True),
    ]
    assert calls[0]["exit_code"] == 127
    assert "shopctl: command not found" in calls[0]["output"]
    assert calls[1]["output"].strip() == "12 in stock"
    assert [event["text"] for event in turn["events"] if event["kind"] == "reply"] == ["There are twelve flanges."]
    assert session["tokens"] == {"input": 36, "cache_read": 0, "cache_write": 0, "output": 21, "reasoning": 0}
    assert machine.rows("import", "--dry-run")[-1]["problems"] == 0


@pytest.mark.parametrize("name", READ)
def test_what_we_told_an_agent_is_not_learned_again(name: str, start: Start, machine: Machine) -> None:
    """A memory that reads its own words as news believes them more each time round."""
    agent = start(name)
    machine.recollect("install", name)
    work_once(agent, machine)
    agent.stub.will(Say("I was told about shopctl."))
    agent.run("what do you know?", machine.shop)
    machine.wait()

    found = machine.rows("search", "failed here", "--mode", "text")

    assert found == []


@pytest.mark.parametrize(("name", "option"), [("claude-code", "--no-session-persistence"), ("codex", "--ephemeral")])
def test_a_run_that_leaves_no_log_leaves_nothing_with_us(name: str, option: str, start: Start, machine: Machine) -> None:
    """Whoever asks an agent to keep nothing does not mean: except for the others."""
    agent = start(name)
    machine.recollect("install", name)
    agent.stub.will(Say("Nobody will know."))

    agent.run("keep this to yourself", machine.shop, option)
    machine.wait()

    assert machine.rows("sessions") == []
