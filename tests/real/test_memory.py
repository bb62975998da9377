"""The whole way round, with nothing but hooks: an agent works, its log is
imported, the next session is told.

With two of the agents whose logs we read; what the others are told is tried in
test_context.py, what their logs tell in test_logs.py.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.real.agents import Agent
from tests.real.machine import Machine
from tests.real.steps import Say

Start = Callable[[str], Agent]

READ = ["claude-code", "codex"]
PAIR = "`shopctl` is not installed here (command not found); use `./bin/shopctl`"


def work_once(agent: Agent, machine: Machine) -> None:
    """A session in which the first command is not found and another form of it works."""
    agent.stub.will(
        agent.shell("shopctl check stock"),
        agent.shell("./bin/shopctl check stock"),
        Say("There are twelve flanges."),
    )
    agent.run("is the flange in stock?", machine.shop)
    machine.wait()


@pytest.mark.parametrize("name", READ)
def test_a_command_that_failed_is_remembered_in_the_next_session(
    name: str, start: Start, machine: Machine
) -> None:
    """The promise of it all: nobody imports anything, nobody asks, and
    the same mistake is not made twice.
    """
    agent = start(name)
    machine.recollect("install", name)
    work_once(agent, machine)
    first = [said.count(PAIR) for said in agent.stub.said]
    agent.stub.will(
        agent.shell("shopctl check paint"),
        agent.shell("./bin/shopctl check paint"),
        Say("There is paint."),
    )

    agent.run("and paint?", machine.shop)

    assert first == [0, 0, 0]
    # Once at the start, once more with the result of the command; what was said is not said again.
    assert [said.count(PAIR) for said in agent.stub.said] == [1, 2, 2]


@pytest.mark.parametrize(
    ("name", "option"), [("claude-code", "--no-session-persistence"), ("codex", "--ephemeral")]
)
def test_a_run_that_leaves_no_log_leaves_nothing_with_us(
    name: str, option: str, start: Start, machine: Machine
) -> None:
    """Whoever asks an agent to keep nothing does not mean: except for the others."""
    agent = start(name)
    machine.recollect("install", name)
    agent.stub.will(Say("Nobody will know."))

    agent.run("keep this to yourself", machine.shop, option)
    machine.wait()

    assert machine.rows("sessions") == []
