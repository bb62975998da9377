"""A hook of our own that tells what an agent gives to its hooks, and what becomes of the answer.

Registered with an agent by hand, for each of its events. When it runs (this
file is also the program) it keeps what it was given in a folder and answers
with a text, so that a test can look for the text in the agent's next request.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib import resources
from pathlib import Path
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.real.agents import Agent

# The events of each agent that we use, or decided not to.
EVENTS = {
    "claude-code": (
        "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStop "
        "PreCompact Stop SessionEnd"
    ),
    "codex": "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SessionEnd",
    "gemini-cli": "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent PreCompress SessionEnd",
    "copilot-cli": "sessionStart userPromptSubmitted preToolUse postToolUse agentStop sessionEnd",
}


def register(agent: Agent, folder: Path, answers: dict[str, str]) -> None:
    """Let every event of an agent come to this file.

    Those in `answers` get their text as context.
    """
    commands = {
        event: shlex.join(
            [sys.executable, __file__, str(folder), event, answers.get(event, ""), agent.agent]
        )
        for event in EVENTS[agent.agent].split()
    }
    if agent.agent == "copilot-cli":
        entries = {
            event: [{"type": "command", "bash": command, "timeoutSec": 5}]
            for event, command in commands.items()
        }
        agent.write_json(".copilot/hooks/recorder.json", {"version": 1, "hooks": entries})
        return
    # Only Gemini counts in milliseconds.
    timeout = 5_000 if agent.agent == "gemini-cli" else 3
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]
        for event, command in commands.items()
    }
    path = {
        "claude-code": ".claude/settings.json",
        "codex": ".codex/hooks.json",
        "gemini-cli": ".gemini/settings.json",
    }[agent.agent]
    file = agent.home / path
    agent.write_json(
        path, (json.loads(file.read_text()) if file.exists() else {}) | {"hooks": hooks}
    )


def plug_in(agent: Agent, answers: dict[str, str]) -> None:
    """Put our plugin into OpenCode, which has no hooks.

    Instead of us it asks a shell that knows the answers.
    """
    script = (
        resources.files("recollect.serve.agents")
        .joinpath("opencode.js")
        .read_text(encoding="utf-8")
    )
    # What it is asked comes last, after `hook opencode`; the answers are
    # what the script itself is called.
    shell = ["sh", "-c", 'printf %s "$0"', json.dumps({"context": next(iter(answers.values()))})]
    plugin = agent.home / ".config" / "opencode" / "plugins" / "recollect.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(
        script.replace("EVENTS", json.dumps(list(answers)), 1).replace(
            "PROGRAM", json.dumps(shell), 1
        )
    )


def given(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """The events that came, in order, each with what it was given.

    The tools of a sub-agent are of a kind of their own.
    """
    found = []
    for file in sorted(folder.glob("*.json")):
        payload = json.loads(file.read_text())
        event = file.stem.partition("-")[2]
        found.append(
            (
                f"{event}-in-sub-agent"
                if "agent_id" in payload and "tool_name" in payload
                else event,
                payload,
            )
        )
    return found


def main(folder: Path, event: str, text: str, agent: str) -> None:
    received = sys.stdin.read()
    folder.mkdir(exist_ok=True)
    # Events of one agent come one after the other, so that counting is enough.
    (folder / f"{len(list(folder.iterdir())):03d}-{event}.json").write_text(received)
    if text:
        flat = {"additionalContext": text}
        print(
            json.dumps(
                flat
                if agent == "copilot-cli"
                else {"hookSpecificOutput": {"hookEventName": event, **flat}}
            )
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
