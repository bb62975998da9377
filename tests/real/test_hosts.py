"""What we rely on in the agents themselves, tried out with a hook that is not ours.

When one of these fails after a version was raised, the agent has changed:
record it again (`tests/real/record.py`), read the diff, and adapt.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.real import hooks
from tests.real.agents import Agent, Codex
from tests.real.machine import Machine
from tests.real.record import GOLDEN, work
from tests.real.steps import Say

Start = Callable[[str], Agent]

# The events whose context the model gets to see: at the start, for a
# prompt, before and after a command.
PASSED_ON = {
    "claude-code": "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure",
    "codex": "SessionStart UserPromptSubmit PreToolUse PostToolUse",
    "gemini-cli": "SessionStart BeforeAgent AfterTool",
    "copilot-cli": "sessionStart userPromptSubmitted preToolUse postToolUse",
}
# An answer to these would make the agent go on, or be an error.
NOT_TO_ANSWER = {"Stop", "SubagentStop", "SessionEnd", "PreCompact"}


@pytest.mark.parametrize("name", hooks.EVENTS)
def test_an_agent_gives_its_hooks_what_was_recorded(
    name: str, start: Start, machine: Machine, tmp_path: Path
) -> None:
    """Our hook finds what it needs by these names."""
    agent = start(name)
    hooks.register(agent, tmp_path / "given", {})

    work(agent, machine.shop)

    recorded = {
        file.stem: fields(json.loads(file.read_text()))
        for file in (GOLDEN / "hooks" / name).iterdir()
    }
    found: dict[str, set[str]] = {}
    for event, payload in hooks.given(tmp_path / "given"):
        found.setdefault(event, fields(payload))
    assert found == recorded


@pytest.mark.parametrize("name", hooks.EVENTS)
def test_an_agent_passes_on_what_its_hooks_say(
    name: str, start: Start, machine: Machine, tmp_path: Path
) -> None:
    """Where it does not, we stay silent; where it begins to, we could speak."""
    agent = start(name)
    events = [event for event in hooks.EVENTS[name].split() if event not in NOT_TO_ANSWER]
    hooks.register(agent, tmp_path / "given", {event: f"context of {event}." for event in events})

    work(agent, machine.shop)

    told = "\n".join(agent.stub.said)
    assert [event for event in events if f"context of {event}." in told] == PASSED_ON[name].split()


def test_claude_code_takes_ten_thousand_characters(
    start: Start, machine: Machine, tmp_path: Path
) -> None:
    """More is moved to a file, and the model sees its beginning; our packs stay below."""
    agent = start("claude-code")
    hooks.register(
        agent, tmp_path / "given", {"SessionStart": "x" * 10_000, "UserPromptSubmit": "y" * 10_001}
    )
    agent.stub.will(Say("That is long."))

    agent.run("hello", machine.shop)

    (said,) = agent.stub.said
    assert ("x" * 10_000 in said, "y" * 3_000 in said) == (True, False)


def test_codex_runs_only_hooks_that_were_trusted(start: Start, machine: Machine) -> None:
    """The reason why installing says that there is something left to do."""
    agent = start("codex")
    assert isinstance(agent, Codex)
    agent.trusted = False
    machine.recollect("memory", "add", "the flanges are on shelf 7")
    machine.recollect("jobs", "run")
    machine.recollect("install", "codex")
    agent.stub.will(Say("I know nothing."), Say("Shelf 7."))

    agent.run("where are the flanges?", machine.shop)
    agent.trust_hooks(machine.shop)
    agent.run("where are the flanges?", machine.shop)

    assert ["the flanges are on shelf 7" in said for said in agent.stub.said] == [False, True]


def fields(value: Any, path: str = "$") -> set[str]:
    """The names in a payload, each with where it is."""
    if not isinstance(value, dict):
        return {path}
    return {name for key, inner in value.items() for name in fields(inner, f"{path}.{key}")}
