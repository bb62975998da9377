"""Makes items of an export's messages; those of a sub-agent make a session of their own."""

from __future__ import annotations

import os
import re

from recollect.capture.adapters.specstory.records import (
    SpecStoryHead,
    SpecStoryMessage,
    text_of_part,
    time_in,
)
from recollect.capture.adapters.specstory.tools import tool_use
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.values import non_empty
from recollect.model.client_commands import is_client_command
from recollect.model.logs import EventKind, Item

FOLDER, HISTORY = ".specstory", "history"
# How SpecStory calls the agents whose own logs we read; the beginning
# of its word decides, in lower case.
_AGENTS = {
    "claude": "claude-code",
    "codex": "codex",
    "copilot cli": "copilot-cli",
    "cursor": "cursor",
    "gemini": "gemini-cli",
    "antigravity": "antigravity",
    "factory droid": "droid",
    "droid": "droid",
    "vscode": "vscode-copilot-chat",
    "vs code": "vscode-copilot-chat",
}
# What Claude Code writes in the user's name, and SpecStory passes on.
_COMMAND = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_MOST_COMMAND = 10_000
_INJECTED = (
    "<local-command-",
    "<system-reminder>",
    "<bash-stdout>",
    "<task-notification>",
    "Caveat: The messages below",
)
_CONTINUED = "This session is being continued from a previous conversation"
_INTERRUPTED = "[Request interrupted by user"


class SpecStoryReader:
    """Makes items of one export."""

    def __init__(self, path: str, head: SpecStoryHead) -> None:
        name = name_in_text(path).removesuffix(".md")
        self.head = head
        self.session = head.session or name
        self.started_at = head.started_at if head.started_at is not None else time_in(name)
        self.cwd = _project(path)
        self.main = Dialogue(self.session)
        self.sidechain = Dialogue(f"{self.session}/sidechain")
        self.begun = False
        self.turns = 0
        self.model: str | None = None
        self.commanded_at: int | None = None

    def items(self) -> list[Item]:
        return self.main.drain() + self.sidechain.drain()

    def take(self, message: SpecStoryMessage) -> None:
        if message.sidechain:
            self._aside(message)
        elif message.by_user:
            self._asked(message)
        else:
            self._introduce()
            self.commanded_at = None
            self._answered(self.main, message)
            if message.model and message.model != self.model:
                self.model = message.model
                self.main.learn(telemetry={"model": message.model})

    def _introduce(self) -> None:
        """Say what is known of the session, once it has a message: some exports are empty."""
        if self.begun:
            return
        self.begun = True
        head = self.head
        meta = {"exported_from": head.agent, "markdown_version": head.version}
        self.main.facts(
            copy_of=self._copied(),
            origin="interactive",
            cwd=self.cwd,
            title=head.title,
            started_at=self.started_at,
            meta=non_empty(meta) or None,
        )

    def _copied(self) -> str | None:
        """The session that this repeats, if its agent's own logs are read."""
        word = (self.head.agent or "").lower()
        known = (agent for beginning, agent in _AGENTS.items() if word.startswith(beginning))
        original = next(known, None)
        if original is None and word.endswith("copilot ide"):
            original = "vscode-copilot-chat"
        return f"{original}:{self.head.session}" if original and self.head.session else None

    def _asked(self, message: SpecStoryMessage) -> None:
        text = "\n".join(map(text_of_part, message.parts))
        if not text or text.startswith(_INJECTED) or self._is_expansion(message):
            return
        self._introduce()
        command = _COMMAND.search(text[:_MOST_COMMAND])
        if command:
            arguments = _ARGUMENTS.search(text[:_MOST_COMMAND])
            text = f"{command[1]} {arguments[1] if arguments else ''}".strip()
        if text.startswith(_INTERRUPTED):
            self.main.say("abort", "", at=message.at)
        elif text.startswith(_CONTINUED):
            self.main.say("compaction", text, at=message.at)
        elif command and is_client_command(text):
            self.main.say("command", text, at=message.at)
        else:
            self.turns += 1
            self.model = None
            self.main.prompt(message.id or f"{self.session}/{self.turns}", text, at=message.at)
        self.commanded_at = message.at if command else None

    def _is_expansion(self, message: SpecStoryMessage) -> bool:
        """Whether this is what a command stands for: it follows it at once, in the user's name."""
        expanded = self.commanded_at is not None and message.at == self.commanded_at
        self.commanded_at = None
        return expanded

    def _aside(self, message: SpecStoryMessage) -> None:
        """A sub-agent's message: its turn is that of the session in which it works."""
        self._introduce()
        if not self.sidechain.state.turn:
            self.sidechain.facts(
                parent=self.session, origin="subagent", cwd=self.cwd, copy_of=self._copied()
            )
        key = f"{self.session}/sidechain/{self.turns}"
        if self.sidechain.state.turn != key:
            self.sidechain.begin(key, at=message.at, author="agent")
        # What a sub-agent is asked stands in the agent's name, and no model said it.
        is_task = message.model is None and all(part.kind == "text" for part in message.parts)
        if message.by_user or is_task:
            self.sidechain.say("prompt", "\n".join(map(text_of_part, message.parts)), at=message.at)
        else:
            self._answered(self.sidechain, message)

    def _answered(self, dialogue: Dialogue, message: SpecStoryMessage) -> None:
        for part in message.parts:
            if part.kind == "tool":
                use = tool_use(part.lines)
                dialogue.call(
                    None,
                    use.name,
                    use.input,
                    at=message.at,
                    kind=use.kind,
                    output=use.output,
                    ok=use.ok,
                    exit_code=use.exit_code,
                )
            else:
                kind: EventKind = "reasoning" if part.kind == "thought" else "reply"
                dialogue.say(kind, text_of_part(part), at=message.at)


def _project(path: str) -> str | None:
    """The folder that an export's own folders are in; nothing when it was put elsewhere."""
    history = os.path.dirname(path)
    folder = os.path.dirname(history)
    if os.path.basename(history) == HISTORY and os.path.basename(folder) == FOLDER:
        return os.path.dirname(folder)
    return None
