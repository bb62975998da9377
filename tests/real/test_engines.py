"""The user's own agent writes the memory without the user: the real programs, asked once each.

What is asked and what is not sent is read from the request; what is kept, from the notes. And
nothing of the run is imported, whatever became of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.work import Work
from tests.real.agents import Agent, environment
from tests.real.machine import RECOLLECT, Machine
from tests.real.steps import Refuse, Say

Start = Callable[[str], Agent]

AGENTS = ["claude-code", "codex", "gemini-cli", "opencode", "copilot-cli"]
# Stands in the instructions, so that the stub knows the question among others.
MARK = "You write the memory of one software project"
WAIT_SECONDS = 90
LINE = 'Package manager: "only use pnpm here, never npm"'
MEMORY = f"""```MEMORY
## Preferences
- {LINE} [0001#1]
- Made up: `pnpm deploy-everything` [0001#1]
```
```PACK
## Preferences
- {LINE} [0001#1]
```"""


class Desk:
    """A machine with a project's sessions on it, and an agent that may be asked about them."""

    def __init__(self, machine: Machine, agent: Agent) -> None:
        self.machine, self.agent = machine, agent
        agent.stub.marked = MARK
        work = Work(1, cwd=str(machine.shop))
        for prompt in ("only use pnpm here, never npm", "and the cart?", "thanks"):
            work.ask(prompt).run("pnpm test", "12 passed").done("Done.")
        machine.learn(work)

    def recollect(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command of ours where the agent is on the path and knows the stub."""
        environ = environment(self.machine.home) | self.agent.variables()
        folder = str(Path(self.agent.program).parent)
        # The agents try again for minutes when a service refuses.
        environ |= {"CLAUDE_CODE_MAX_RETRIES": "0", "PATH": f"{folder}:{environ['PATH']}"}
        if self.agent.agent == "opencode":
            environ["RECOLLECT_DISTILL_MODEL"] = "stub/stub"
        return subprocess.run(
            [RECOLLECT, *words],
            cwd=self.machine.shop,
            env=environ | {"RECOLLECT_DISTILL_SEND": '["claude-code"]'} | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
        )

    def update(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.recollect("memory", "update", "--engine", self.agent.agent, *words, **variables)

    def told(self) -> list[str]:
        listed = self.recollect("memory", "list", "--author", "engine", "--json").stdout
        return [json.loads(line)["text"] for line in listed.splitlines()]

    def sessions(self) -> int:
        self.recollect("import", "--wait")
        return len(self.recollect("sessions", "--json").stdout.splitlines())


@pytest.fixture
def desk(start: Start, machine: Machine, request: pytest.FixtureRequest) -> Desk:
    return Desk(machine, start(getattr(request, "param", "claude-code")))


EACH = pytest.mark.parametrize("desk", AGENTS, indirect=True)


@EACH
def test_an_agent_writes_the_memory(desk: Desk) -> None:
    """One question with the record in it, no tools; the line that stands in the log is kept."""
    desk.agent.stub.will(Say(MEMORY), Say(MEMORY))

    done = desk.update()

    assert done.returncode == 0, done.stdout + done.stderr
    assert desk.told() == [LINE]
    asked = [one for one in desk.agent.stub.requests if MARK in one.said]
    assert "P only use pnpm here, never npm" in asked[0].said
    assert "pnpm deploy-everything" in asked[1].said
    tools = json.dumps(asked[0].body.get("tools") or [])
    assert "shell" not in tools
    assert "bash" not in tools
    assert '"edit"' not in tools


@EACH
def test_nothing_of_the_run_is_imported(desk: Desk) -> None:
    """It would be found by every search, and learned from."""
    before = desk.sessions()
    desk.agent.stub.will(Say(MEMORY), Say(MEMORY))

    desk.update()

    assert desk.sessions() == before == 1


@EACH
def test_without_a_second_yes_no_session_of_another_maker_is_sent(desk: Desk) -> None:
    """Who uses two agents did not agree that one vendor reads what the other was told."""
    desk.agent.stub.will(Say(MEMORY), Say(MEMORY))

    desk.update(RECOLLECT_DISTILL_SEND="[]")

    sent = "\n".join(one.text for one in desk.agent.stub.requests)
    assert ("never npm" in sent) == (desk.agent.agent == "claude-code")


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Refuse(429, "rate limit reached"), "cannot answer now"),
        (Refuse(401, "invalid api key"), "is not logged in"),
        (Say("I cannot help with that."), "no part called MEMORY"),
        (Say("```MEMORY\n## Preferencias\n- solo pnpm [0001#1]\n```"), "No line of the answer"),
        (Say(MEMORY[:60]), ""),
    ],
    ids=["rate limit", "logged out", "refused", "another language", "half an answer"],
)
def test_after_a_failure_nothing_changed_and_doctor_says_why(
    desk: Desk, step: Say | Refuse, why: str
) -> None:
    """The old memory stays, and the next try waits."""
    desk.agent.stub.will(*[step] * 4)

    done = desk.update()

    if why:
        assert done.returncode == 69
        assert why in done.stdout
        desk.agent.stub.will(*[step] * 4)
        again = desk.update("--force")
        assert again.returncode == 69
        health = desk.recollect("doctor", RECOLLECT_DISTILL_ENGINE="claude-code").stdout
        assert "engine" in health
    assert not [text for text in desk.told() if text != LINE]


def test_a_program_that_is_killed_leaves_the_memory_as_it_was(desk: Desk, tmp_path: Path) -> None:
    """A machine that sleeps, a full memory: the worst that happens is no answer."""
    fake = tmp_path / "bin"
    fake.mkdir()
    script = fake / "claude"
    script.write_text(f"#!/bin/sh\nkill -{signal.SIGKILL.value} $$\n")
    script.chmod(0o755)

    done = desk.update(PATH=f"{fake}:{os.environ['PATH']}")

    assert done.returncode == 69
    assert "was killed" in done.stdout
    assert desk.told() == []


def test_a_program_that_is_not_there_is_named(desk: Desk, tmp_path: Path) -> None:
    done = desk.update(PATH=str(tmp_path))

    assert done.returncode == 69
    assert "claude is not installed" in done.stdout + done.stderr


def test_one_that_does_not_answer_is_given_up(desk: Desk, tmp_path: Path) -> None:
    """It goes with everything that it started."""
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "claude").write_text("#!/bin/sh\nsleep 60 & wait\n")
    (fake / "claude").chmod(0o755)

    done = desk.update(PATH=f"{fake}:{os.environ['PATH']}", RECOLLECT_DISTILL_TIMEOUT_SECONDS="1")

    assert "did not answer within 1 seconds" in done.stdout
