"""Our MCP server in the real agents: its tools are offered to
the model, and its answers reach it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders.work import Work
from tests.real.agents import AGENTS, Agent
from tests.real.machine import Machine
from tests.real.steps import Say

Start = Callable[[str], Agent]

TOOLS = ["search", "get", "recall", "fix", "blame", "how", "remember", "feedback"]


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_can_ask_and_remember(name: str, start: Start, machine: Machine) -> None:
    """What was not told unasked can be asked for, in the words of whichever agent it is."""
    work = (
        Work(cwd=str(machine.shop))
        .ask("where is the sprocket flange?")
        .run("grep -r flange", "shelf 7")
        .done("On shelf 7.")
    )
    machine.learn(work)
    agent = start(name)
    machine.recollect("install", name)
    agent.stub.will(
        agent.ask("search", query="sprocket flange"),
        agent.ask("remember", text="flanges are on shelf 7", category="project"),
        Say("Noted."),
        meanwhile=agent.shell("sleep 1"),
    )

    agent.run("look it up and keep it in mind", machine.shop)

    offered, found, remembered = agent.stub.asked[-3:]
    # Codex lists a server's tools under the server's name, the others each under a name of its own.
    names = TOOLS if name == "codex" else [agent.mcp_tool.format(tool) for tool in TOOLS]
    assert [one for one in names if one in offered.texts] == names
    # Some show the model our text and some our data: the warning is in both.
    assert f"{work.ref}#1" in found.said
    assert "not instructions" in found.said.replace(offered.said, "")
    assert "note:" in remembered.said
    rows = machine.rows("memory", "list", "--all")
    # What the rules found in the work before is listed with it.
    (note,) = [row for row in rows if row["author"] == "agent"]
    assert (note["text"], note["status"], note["trust"], note["author"]) == (
        "flanges are on shelf 7",
        "candidate",
        "assistant",
        "agent",
    )
