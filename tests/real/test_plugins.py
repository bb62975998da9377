"""The plugins in the real agents: valid, installed, and at work."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from recollect import __version__
from recollect.serve.agents import claude_code
from tests.real.agents import AGENTS, Agent, environment
from tests.real.machine import RECOLLECT, Machine
from tests.real.steps import Say
from tests.real.stub import Stub
from tests.real.test_context import PAIR, earlier_work

ROOT = Path(__file__).parents[2]


def command(agent: Agent, *words: str) -> str:
    """What a command of the agent itself prints, which must work."""
    ran = subprocess.run(
        [str(agent.program), *words], cwd=agent.home,
        env=environment(agent.home) | agent.variables(),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


@pytest.fixture
def claude(machine: Machine, stub: Stub) -> Agent:
    """Claude Code with the plugin, installed from this repository as a marketplace."""
    agent = AGENTS["claude-code"](machine.home, stub)
    command(agent, "plugin", "marketplace", "add", str(ROOT))
    command(agent, "plugin", "install", "recollect@recollect")
    return agent


@pytest.fixture
def gemini(machine: Machine, stub: Stub) -> Agent:
    """Gemini CLI with the extension."""
    agent = AGENTS["gemini-cli"](machine.home, stub)
    command(agent, "extensions", "install", str(ROOT / "plugins" / "gemini-cli"), "--consent")
    return agent


def put_on_path(machine: Machine) -> None:
    """Where a tool installer would put it."""
    folder = machine.home / ".local" / "bin"
    folder.mkdir(parents=True)
    (folder / "recollect").symlink_to(RECOLLECT)


@pytest.mark.parametrize(
    "path", [ROOT, ROOT / "plugins" / "claude-code"], ids=["marketplace", "plugin"]
)
def test_claude_code_finds_no_fault(path: Path, machine: Machine, stub: Stub) -> None:
    """Not even something to warn of."""
    told = command(
        AGENTS["claude-code"](machine.home, stub), "plugin", "validate", "--strict", str(path)
    )

    assert "Validation passed" in told


def test_gemini_finds_no_fault(machine: Machine, stub: Stub) -> None:
    """It looks at the manifest; that the hooks and the skill are found is tried below."""
    told = command(
        AGENTS["gemini-cli"](machine.home, stub),
        "extensions",
        "validate",
        str(ROOT / "plugins" / "gemini-cli"),
    )

    assert "has been successfully validated" in told


def test_claude_code_takes_every_part(claude: Agent) -> None:
    """What it lists is what it found in the folder."""
    (listed,) = json.loads(command(claude, "plugin", "list", "--json"))
    details = command(claude, "plugin", "details", "recollect")

    assert (listed["id"], listed["version"], listed["enabled"]) == (
        "recollect@recollect",
        __version__,
        True,
    )
    assert list(listed["mcpServers"]) == ["recollect"]
    assert re.search(r"Skills \(\d\) .*\brecollect\b", details)
    assert (
        f"Hooks ({len(claude_code.HOOKS.events)})  {', '.join(claude_code.HOOKS.events)}" in details
    )


@pytest.mark.parametrize(
    ("plugged", "server"),
    [("claude", "plugin:recollect:recollect"), ("gemini", "recollect (from recollect)")],
)
def test_a_plugin_brings_a_server_that_answers(
    plugged: str, server: str, machine: Machine, request: pytest.FixtureRequest
) -> None:
    """The agent itself connects to it."""
    put_on_path(machine)

    told = command(request.getfixturevalue(plugged), "mcp", "list")

    (line,) = (line for line in told.splitlines() if server in line)
    assert line.endswith("Connected")


def test_gemini_takes_every_part(gemini: Agent) -> None:
    """The server and the skill; hooks are not listed, but tried below."""
    told = command(gemini, "extensions", "list")

    assert f"recollect ({__version__})" in told
    assert "MCP servers:\n  recollect\n" in told
    assert "Agent skills:\n  recollect: " in told


@pytest.mark.parametrize("plugged", ["claude", "gemini"])
def test_with_a_plugin_an_agent_is_told_what_the_project_taught(
    plugged: str, machine: Machine, request: pytest.FixtureRequest
) -> None:
    """As after `recollect install`, and once: installing as well adds nothing."""
    put_on_path(machine)
    machine.learn(earlier_work(machine))
    agent: Agent = request.getfixturevalue(plugged)
    rows = machine.rows("install", agent.agent)
    agent.stub.will(agent.shell("shopctl check paint"), Say("That did not work."))

    agent.run("is there paint?", machine.shop)

    assert {row["state"] for row in rows} == {"skipped"}
    assert agent.stub.said[0].count(PAIR) == 1


@pytest.mark.parametrize(("plugged", "messages"), [("claude", 0), ("gemini", 1)])
def test_with_a_plugin_but_without_recollect_an_agent_works_as_ever(
    plugged: str, messages: int, machine: Machine, request: pytest.FixtureRequest
) -> None:
    """No hook fails. What is said to the person once is shown in a window.

    With one prompt, only Gemini prints it.
    """
    agent: Agent = request.getfixturevalue(plugged)
    agent.stub.will(agent.shell("./bin/ledger count"), Say("It is locked."))
    path = [
        folder
        for folder in os.environ["PATH"].split(os.pathsep)
        if not os.path.exists(os.path.join(folder, "recollect"))
    ]

    told = agent.run("count the ledger", machine.shop, PATH=os.pathsep.join(path))

    assert "It is locked." in told
    about_hooks = [line for line in told.splitlines() if "hook" in line.lower()]
    assert ["recollect is not on the PATH" in line for line in about_hooks] == [True] * messages
    assert "recalled by=" not in "".join(agent.stub.said)
