"""What was said and done in an OpenCode session, from its messages and their parts.

A turn begins with a message that a person wrote. Messages in the user's name
that hold only synthetic parts (a reminder, "continue" after a compaction, the
result of a sub-task) belong to the turn that is going on, and so does a prompt
that OpenCode repeats because it did not fit before a compaction.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from msgspec import Struct

from recollect.capture.adapters.opencode.records import (
    OpenCodeFailure,
    OpenCodeMessage,
    OpenCodePart,
    OpenCodePath,
    OpenCodeTimes,
    OpenCodeTokens,
    OpenCodeToolState,
)
from recollect.capture.adapters.opencode.tokens import spent
from recollect.capture.adapters.opencode.tools import call_of
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import Fields, fields_of, list_of, moment_of, money_of, text_of
from recollect.model.logs import Author, Item, Origin, SessionFacts

# Parts that say nothing which we keep, or only what other parts say too.
_SILENT = {
    "text", "file", "subtask", "step-start", "step-finish", "snapshot", "patch", "agent",
    "compaction", "source-url",
}  # fmt: skip
# What OpenCode says in the user's name when a person runs a command with an exclamation mark.
_RAN = "The following tool was executed by the user"
# A quote that ends an argument of `opencode run`; one that the argument
# itself has is written after a backslash.
_CLOSING_QUOTE = re.compile(r'(?<!\\)"')
_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")


class OpenCodeSession(Struct):
    """What is known of a session, whichever place tells it."""

    id: str
    parent: str | None = None
    # The session that a sub-agent's parent is itself a part of.
    grandparent: str | None = None
    forked_from: str | None = None
    directory: Any = None
    title: Any = None
    version: Any = None
    created: Any = None
    permission: Any = None
    revert: Any = None
    changes: Fields = {}

    @property
    def native(self) -> str:
        """The session's id; a sub-agent's begins with its parent's."""
        return f"{self.parent}/{self.id}" if self.parent else self.id

    @property
    def native_parent(self) -> str | None:
        """The id of the session that this one is a part or a fork of."""
        if self.parent is None:
            return self.forked_from
        return f"{self.grandparent}/{self.parent}" if self.grandparent else self.parent

    @property
    def origin(self) -> Origin:
        """Who talks to the agent: `opencode run` creates its sessions with questions forbidden."""
        if self.parent:
            return "subagent"
        rules = map(fields_of, list_of(self.permission))
        denied = {rule.get("permission") for rule in rules if rule.get("action") == "deny"}
        return "headless" if {"question", "plan_enter"} <= denied else "interactive"


class OpenCodeWholeMessage(NamedTuple):
    """A message with its parts.

    None when it cannot be read. Its key is its id, or the one that it was copied from.
    """

    id: str
    key: str
    message: OpenCodeMessage | None
    parts: list[OpenCodePart]


def items_of(
    info: OpenCodeSession, messages: list[OpenCodeWholeMessage], problems: ProblemCounter
) -> list[Item]:
    """A session's items; none when nobody has said anything yet."""
    if not messages:
        return []
    reader = OpenCodeReader(info, problems)
    reader.unread = {told.id for told in messages if told.message is None}
    for number, told in enumerate(messages):
        reader.take(told, following=messages[number + 1] if number + 1 < len(messages) else None)
    reader.close(_undone_from(info, messages))
    return reader.dialogue.items


def _undone_from(info: OpenCodeSession, messages: list[OpenCodeWholeMessage]) -> int:
    """The first message that was taken back; with a part, it is the first after that part's."""
    revert = fields_of(info.revert)
    for number, told in enumerate(messages):
        if told.id == revert.get("messageID"):
            return number + 1 if revert.get("partID") else number
    return len(messages)


class OpenCodeReader:
    """Makes items of one session's messages."""

    def __init__(self, info: OpenCodeSession, problems: ProblemCounter) -> None:
        self.info, self.problems = info, problems
        self.dialogue = Dialogue(info.native)
        self.author: Author = "agent" if info.parent else "human"
        # The turn that each message in the user's name began or belongs to,
        # and the place where turns began.
        self.turns: dict[str, str] = {}
        self.unread: set[str] = set()
        self.begun: dict[str, int] = {}
        self.telemetry: dict[str, dict[str, Any]] = {}
        self.started: dict[str, int | None] = {}
        self.meta: dict[str, Any] = {}
        # How the last prompt begins, and whether there was a compaction
        # since because it did not fit.
        self.words: str | None = None
        self.overflowed = False
        self.cwd: str | None = text_of(info.directory)
        self.count = 0
        title = text_of(info.title)
        self.facts = SessionFacts(
            session=info.native,
            whole=True,
            parent=info.native_parent,
            origin=info.origin,
            cwd=self.cwd,
            title=None if title is None or _UNTITLED.fullmatch(title) else title,
            started_at=moment_of(info.created),
            agent_version=text_of(info.version),
        )
        self.dialogue.items.append(self.facts)

    def take(self, told: OpenCodeWholeMessage, *, following: OpenCodeWholeMessage | None) -> None:
        """One more message, in the order of the conversation."""
        message = told.message
        if message is None:
            pass
        elif message.role == "user":
            self._user(told, message, following)
        elif message.role == "assistant":
            self._assistant(told, message)
        else:
            self.problems.unknown("message of the role", message.role)
        self.count += 1

    def close(self, undone_from: int) -> None:
        """All messages were taken: what is known only now."""
        for turn, telemetry in self.telemetry.items():
            if telemetry:
                self.dialogue.learn(turn=turn, telemetry=telemetry)
        for turn, place in self.begun.items():
            if place >= undone_from:
                self.dialogue.undo(turn)
        self.facts.cwd = self.cwd
        self.facts.meta = {**self.meta, **self.info.changes} or None

    # Messages

    def _user(
        self,
        told: OpenCodeWholeMessage,
        message: OpenCodeMessage,
        following: OpenCodeWholeMessage | None,
    ) -> None:
        at = created_at(message)
        text = self._typed(told.parts) or _shell_command(told, following)
        # Without any parts it is one that was just sent: they follow.
        synthetic = text is None and bool(told.parts)
        self.overflowed |= any(
            part.type == "compaction" and part.overflow is True for part in told.parts
        )
        repeated = not synthetic and self._is_repeated(told.parts)
        if self.begun and (synthetic or repeated):
            self.turns[told.id] = self.dialogue.turn
            return
        key = told.key
        self.turns[told.id] = key
        self.begun[key] = self.count
        self.started[key] = at
        self.dialogue.begin(key, at=at, author="system" if synthetic else self.author)
        self.dialogue.say("prompt", text, at=at)

    def _is_repeated(self, parts: list[OpenCodePart]) -> bool:
        """Whether a prompt is the one before it once more.

        Its pictures are then texts, behind the words.
        """
        words = next((text_of(part.text) for part in parts if part.type == "text"), None)
        repeated = self.overflowed and words is not None and words == self.words
        self.words, self.overflowed = words, False
        return repeated

    def _typed(self, parts: list[OpenCodePart]) -> str | None:
        """What a person wrote, with a mark for each file that came with it.

        None when it was not a person.
        """
        said = []
        for part in parts:
            if part.type == "text" and part.synthetic is not True and part.ignored is not True:
                text = text_of(part.text) or ""
                said.append(_unquoted(text) if self.facts.origin == "headless" else text)
            elif part.type == "subtask":
                said.append(text_of(part.prompt) or "")
            # A file that was named in the text has the place of its name there.
            elif (
                part.type == "file"
                and part.synthetic is not True
                and not fields_of(part.source).get("text")
            ):
                said.append(f"[{text_of(part.filename) or text_of(part.mime) or 'file'}]")
            else:
                self._pass_over(part)
        return "\n".join(text for text in said if text) or None

    def _assistant(self, told: OpenCodeWholeMessage, message: OpenCodeMessage) -> None:
        dialogue, at, prompt = self.dialogue, created_at(message), text_of(message.parentID)
        if prompt in self.unread:
            # It waits until what it answers can be read: it would be taken
            # for an answer to something else.
            return
        if prompt is not None:
            self._answer(prompt)
        if message.summary is True:
            said = [text_of(part.text) for part in told.parts if part.type == "text"]
            dialogue.say("compaction", "\n".join(filter(None, said)), at=at)
            # One that failed is the end of it: what comes then is a person's.
            self.overflowed &= message.error is None
        else:
            for part in told.parts:
                self._part(part, at)
        self._fault(message.error, at)
        if told.key == told.id:
            # A copy is counted where it was copied from.
            self._usage(told, message, at)
        self._learn(message)

    def _answer(self, prompt: str) -> None:
        """What follows belongs to this message's turn.

        One that was deleted has a turn without words.
        """
        if prompt not in self.turns:
            self.turns[prompt] = prompt
            self.begun[prompt] = self.count
            self.dialogue.begin(prompt, author=self.author)
        self.dialogue.state.turn = self.turns[prompt]

    def _learn(self, message: OpenCodeMessage) -> None:
        """Where and how a message came about: the last one of a turn speaks for it."""
        cwd = text_of(message.path.cwd) if isinstance(message.path, OpenCodePath) else None
        self.cwd = self.cwd or cwd
        turn = self.dialogue.turn
        if cwd and cwd != self.cwd:
            self.dialogue.learn(cwd=cwd, turn=turn)
        facts = {
            "agent": message.agent or message.mode,
            "provider": message.providerID,
            "variant": message.variant,
        }
        self.meta |= {name: value for name, value in facts.items() if text_of(value)}
        telemetry = self.telemetry.setdefault(turn, {})
        if text_of(message.finish):
            telemetry["stop_reason"] = message.finish
        started = self.started.get(turn)
        times = message.time if isinstance(message.time, OpenCodeTimes) else OpenCodeTimes()
        completed = moment_of(times.completed)
        if started is not None and completed is not None and completed >= started:
            telemetry["duration_ms"] = completed - started

    def _usage(self, told: OpenCodeWholeMessage, message: OpenCodeMessage, at: int | None) -> None:
        # A message holds the cost of all its steps, but the tokens of its last one.
        ends = [part.tokens for part in told.parts if part.type == "step-finish"]
        steps = [tokens for tokens in ends if isinstance(tokens, OpenCodeTokens)]
        used = spent(steps or [message.tokens], at)
        self.dialogue.usage(
            told.key,
            model=text_of(message.modelID),
            at=at,
            cost_usd=money_of(message.cost),
            **used._asdict(),
        )

    def _fault(self, error: object, at: int | None) -> None:
        if isinstance(error, OpenCodeFailure):
            text = text_of(fields_of(error.data).get("message")) or text_of(error.name)
            aborted = error.name == "MessageAbortedError"
            self.dialogue.say("abort" if aborted else "error", text, at=at)

    # Parts

    def _part(self, part: OpenCodePart, at: int | None) -> None:
        time, dialogue = part.time, self.dialogue
        if isinstance(time, OpenCodeTimes):
            at = moment_of(time.start or time.created) or at
        match part.type:
            case "text":
                dialogue.say("reply", text_of(part.text), at=at)
            case "reasoning":
                dialogue.say("reasoning", text_of(part.text), at=at)
            case "tool":
                dialogue.items.append(call_of(part, dialogue.session, dialogue.turn, at))
            case "retry":
                self._fault(part.error, at)
            case _:
                self._pass_over(part)

    def _pass_over(self, part: OpenCodePart) -> None:
        if not isinstance(part.type, str) or part.type not in _SILENT:
            self.problems.unknown("part of the type", part.type)


def created_at(message: OpenCodeMessage | None) -> int | None:
    """When a message was begun."""
    if message is None:
        return None
    return moment_of(message.time.created) if isinstance(message.time, OpenCodeTimes) else None


def _unquoted(text: str) -> str:
    """A prompt as it was given to `opencode run`, without the quotes put around it."""
    inner = text[1:-1]
    quoted = text.startswith('"') and text.endswith('"') and " " in inner
    if not quoted or _CLOSING_QUOTE.search(inner):
        return text
    return inner.replace('\\"', '"')


def _shell_command(
    told: OpenCodeWholeMessage, following: OpenCodeWholeMessage | None
) -> str | None:
    """The command that a person ran with an exclamation mark; what it gave is told as an answer."""
    ran = any(part.type == "text" and part.text == _RAN for part in told.parts)
    if following is None or not ran:
        return None
    for part in following.parts:
        given = part.state.input if isinstance(part.state, OpenCodeToolState) else None
        if command := text_of(fields_of(given).get("command")):
            return f"!{command}"
    return None
