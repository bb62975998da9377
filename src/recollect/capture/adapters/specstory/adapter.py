"""SpecStory: sessions of other agents as Markdown, one file each, kept in the project.

An export repeats what an agent's own log tells, with less in it. It is of use
where that log is gone, or never was here: people commit these files.
What we rely on is written down in docs/formats/specstory.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from recollect.capture.adapters.specstory.export import (
    GENERATED,
    ROLE,
    SESSION,
    Head,
    Message,
    head_of,
    messages,
    moment,
    text_of_part,
)  # fmt: skip
from recollect.capture.adapters.specstory.tools import tool_use
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import written
from recollect.capture.logs.folders import files_in, name_in_text
from recollect.capture.logs.lines import Unreadable
from recollect.model.logs import Checkpoint, Item, Problem, Source

_FOLDER, _HISTORY = ".specstory", "history"
_ENDING = ".md"
# More than any conversation; an export is held in memory a few times over.
_MOST_BYTES = 64 << 20
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


class SpecStory:
    """SpecStory's exports, in the folders of projects."""

    agent = "specstory"
    name = "SpecStory"
    version = 1
    endings = (_ENDING,)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """None: exports are with the projects they tell of."""
        return []

    def sources(self, root: str) -> Iterator[Source]:
        """The exports of a project, or of one of the two folders that they are in."""
        parent, name = os.path.split(root.rstrip(os.sep))
        if name == _HISTORY and os.path.basename(parent) == _FOLDER:
            yield from self._in(root)
        elif name == _FOLDER:
            yield from self._in(os.path.join(root, _HISTORY))
        else:
            yield from self.in_project(root)

    def in_project(self, folder: str) -> Iterator[Source]:
        """The exports of a project."""
        yield from self._in(os.path.join(folder, _FOLDER, _HISTORY))

    def _in(self, folder: str) -> Iterator[Source]:
        for path in files_in(folder, _ENDING):
            yield self._source(path)

    def _source(self, path: str) -> Source:
        return Source(self.agent, path, appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file with a comment of SpecStory's and a message.

        The oldest have no comment, but their place.
        """
        lines = head.decode("utf-8", "replace").split("\n")
        # The comments come first, but for a title.
        top = list(
            takewhile(lambda line: not line.strip() or line.startswith(("<!--", "#")), lines)
        )
        generated, session = (any(map(mark.match, top)) for mark in (GENERATED, SESSION))
        spoken = any(map(ROLE.match, lines))
        in_place = os.path.dirname(path).endswith(os.path.join(_FOLDER, _HISTORY))
        ours = (generated and (session or spoken)) or (spoken and (session or in_place))
        return self._source(path) if ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole export."""
        try:
            text = written(source.path, _MOST_BYTES)
        except Unreadable as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        lines = text.replace("\r\n", "\n").split("\n")
        head = head_of(lines)
        export = _Export(source.path, head)
        for message in messages(lines):
            export.take(message)
        if not export.begun and head.session is None:
            yield Problem(
                path=source.path,
                kind="bad_record",
                reason="not an export of SpecStory that we know",
            )
        yield from export.items()
        yield Checkpoint(len(text.encode("utf-8", "replace")))


class _Export:
    """One export on its way to items; a sub-agent's messages make a session of their own."""

    def __init__(self, path: str, head: Head) -> None:
        name = name_in_text(path).removesuffix(_ENDING)
        self.head = head
        self.session = head.session or name
        self.started_at = head.started_at if head.started_at is not None else moment(name)
        self.cwd = _project(path)
        self.main = Dialogue(self.session)
        self.side = Dialogue(f"{self.session}/sidechain")
        self.begun = False
        self.turns = 0
        self.model: str | None = None
        self.commanded_at: int | None = None

    def items(self) -> list[Item]:
        return self.main.drain() + self.side.drain()

    def take(self, message: Message) -> None:
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
            meta={name: value for name, value in meta.items() if value} or None,
        )

    def _copied(self) -> str | None:
        """The session that this repeats, if its agent's own logs are read."""
        word = (self.head.agent or "").lower()
        original = next(
            (agent for beginning, agent in _AGENTS.items() if word.startswith(beginning)), None
        )
        if original is None and word.endswith("copilot ide"):
            original = "vscode-copilot-chat"
        return f"{original}:{self.head.session}" if original and self.head.session else None

    def _asked(self, message: Message) -> None:
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
        else:
            self.turns += 1
            self.model = None
            self.main.prompt(message.id or f"{self.session}/{self.turns}", text, at=message.at)
        self.commanded_at = message.at if command else None

    def _is_expansion(self, message: Message) -> bool:
        """Whether this is what a command stands for: it follows it at once, in the user's name."""
        expanded = self.commanded_at is not None and message.at == self.commanded_at
        self.commanded_at = None
        return expanded

    def _aside(self, message: Message) -> None:
        """A sub-agent's message: its turn is that of the session in which it works."""
        self._introduce()
        if not self.side.standing.turn:
            self.side.facts(
                parent=self.session, origin="subagent", cwd=self.cwd, copy_of=self._copied()
            )
        key = f"{self.session}/sidechain/{self.turns}"
        if self.side.standing.turn != key:
            self.side.begin(key, at=message.at, author="agent")
        # What a sub-agent is asked stands in the agent's name, and no model said it.
        if message.by_user or (
            message.model is None and all(part.kind == "text" for part in message.parts)
        ):
            self.side.say("prompt", "\n".join(map(text_of_part, message.parts)), at=message.at)
        else:
            self._answered(self.side, message)

    def _answered(self, dialogue: Dialogue, message: Message) -> None:
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
                dialogue.say(
                    "reasoning" if part.kind == "thought" else "reply",
                    text_of_part(part),
                    at=message.at,
                )


def _project(path: str) -> str | None:
    """The folder that an export's own folders are in; nothing when it was put elsewhere."""
    history = os.path.dirname(path)
    folder = os.path.dirname(history)
    return (
        os.path.dirname(folder)
        if os.path.basename(history) == _HISTORY and os.path.basename(folder) == _FOLDER
        else None
    )
