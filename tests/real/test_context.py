"""What we know reaches the model, in every agent whose real program can be run without a network.

The memory comes from a log of another agent: what one of them learned, the
others are told.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders.work import Work
from tests.real.agents import AGENTS, Agent
from tests.real.machine import Machine
from tests.real.steps import Say

Start = Callable[[str], Agent]

PAIR = "`shopctl` is not installed here (command not found); use `./bin/shopctl`"
ASKED = "asked “where do we keep the left-handed sprocket shims?”"
# Gemini runs a hook before a command, but does not pass on what it says.
TELL_BEFORE_A_COMMAND = [name for name in AGENTS if name != "gemini-cli"]


def earlier_work(machine: Machine) -> Work:
    work = Work(cwd=str(machine.shop))
    work.ask("is the flange in stock?").run(
        "shopctl check stock", "bash: line 1: shopctl: command not found", code=127
    )
    work.run("./bin/shopctl check stock", "12 in stock").done("There are twelve.")
    work.ask("count the ledger").run(
        "./bin/ledger count", "Error: the blue ledger is locked by the warehouse", code=3
    )
    work.run("./bin/unlock --warehouse", "unlocked").run("./bin/ledger count", "41 entries")
    return work.done("There are 41 entries.")


def older_work(machine: Machine) -> Work:
    """What was asked first in a session is not what the next one starts with."""
    work = Work(2, cwd=str(machine.shop))
    work.ask("where do we keep the left-handed sprocket shims?").run(
        "grep -r shims catalogue", "shelf 7"
    ).done("On shelf 7.")
    return work.ask("thanks, please print the label for me").done("It is printed.")


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_told_what_the_project_taught(
    name: str, start: Start, machine: Machine
) -> None:
    """A memory that has to be asked for is not used, so it comes by itself: at
    the start, at the prompt, at a command.
    """
    machine.learn(earlier_work(machine), older_work(machine))
    agent = start(name)
    machine.recollect("install", name)
    agent.stub.will(
        agent.shell("shopctl check paint"),
        agent.shell("./bin/ledger count"),
        Say("That did not work."),
    )

    agent.run("how many left-handed sprocket shims are there?", machine.shop)

    first, after_command, _ = agent.stub.said
    assert (PAIR in first, ASKED in first) == (True, True)
    # At the start, and again with the result of a command that is about to fail in the same way.
    assert after_command.count(PAIR) == (2 if name in TELL_BEFORE_A_COMMAND else 1)


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_an_agent_in_another_project_is_told_nothing(
    name: str, start: Start, machine: Machine
) -> None:
    """What holds in one project is noise in the next."""
    machine.learn(earlier_work(machine))
    agent = start(name)
    machine.recollect("install", name)
    elsewhere = machine.shop.with_name("garden")
    elsewhere.mkdir()
    agent.stub.will(agent.shell("shopctl check paint"), Say("That did not work."))

    agent.run("is there paint?", elsewhere)

    assert [said.count("recalled by=") for said in agent.stub.said] == [0, 0]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_an_agent_is_itself_again_after_uninstalling(
    name: str, start: Start, machine: Machine
) -> None:
    """Whoever tries us out must be able to leave."""
    machine.learn(earlier_work(machine))
    agent = start(name)
    machine.recollect("install", name)
    machine.recollect("uninstall", name)
    agent.stub.will(agent.shell("shopctl check paint"), Say("That did not work."))

    agent.run("is there paint?", machine.shop)

    assert [("recalled by=" in said, "recollect" in said) for said in agent.stub.said] == [
        (False, False)
    ] * 2
