"""What may be told of words that somebody else may have chosen: commands, names, errors.

The quoting guard knows what an argument, a branch or a file name has to look like to be able
to ask for something. It decides whether a command is told, never how much of it: one that it
would cut is told whole when a person typed it, or when it exited well in a session that had
read nothing from outside and its long arguments also stand in a file of the project or in a
second such session. An error is told up to the end of its first sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from recollect.distill.finders.steps import passed, steps
from recollect.model.record import CallRecord, SessionRecord
from recollect.reading.quoting import (
    LITERAL_BYTES,
    NAME_BYTES,
    is_plain_command,
    quoted_path,
)

_MOST = 400
# After the first sentence an error gives advice, and not always its program's own.
_SENTENCE = re.compile(r"(?<=[a-z0-9)'\"])[.;!?](?: |$)")
_ASKS = re.compile(
    r"https?://(?!\S*(?:localhost|127\.|registry\.))|\b(?:curl|wget|bash|sh|eval|base64)\b.*\||"
    r"\b(?:ignore|disregard|forget) (?:all|any|the|previous)\b|\byou (?:must|should|have to"
    r"|need to)\b"
    r"|\bplease\b|\b(?:assistant|agent|system prompt)\b",
    re.IGNORECASE,
)


_FRAME = re.compile(r"<\s*[/\\]?\s*recalled", re.IGNORECASE)
_LITERAL = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)


class Proofs:
    """What the sessions of a project say for a command that the guard would cut."""

    def __init__(self, sessions: Sequence[SessionRecord]) -> None:
        self._sessions = sessions
        self._known: dict[str, bool] = {}

    def may_tell(self, command: str) -> bool:
        """Whether a command is told as it was run."""
        if _FRAME.search(command) or "\n" in command.strip():
            return False
        if is_plain_command(command):
            return True
        if command not in self._known:
            self._known[command] = self._is_typed(command) or self._is_proven(command)
        return self._known[command]

    def _is_typed(self, command: str) -> bool:
        return any(
            command in prompt
            for session in self._sessions
            if session.interactive
            for turn in session.turns
            if turn.by_person
            for prompt in turn.prompts
        )

    def _is_proven(self, command: str) -> bool:
        """Whether it passed, and what is long in it was also chosen elsewhere."""
        found = [session for session in self._sessions if _passed(command, session)]
        if not found:
            return False
        return all(
            self._in_a_file(one) or sum(_runs(one, session) for session in self._sessions) > 1
            for one in long_arguments(command) or [command]
        )

    def _in_a_file(self, argument: str) -> bool:
        """Whether a file of the project that was read holds an argument."""
        return any(
            call.kind == "read"
            and call.passed
            and not turn.tainted
            and _is_below(call, session)
            and argument in call.output
            for session in self._sessions
            for turn, call in session.calls()
        )


def _passed(command: str, session: SessionRecord) -> bool:
    """Whether a step of these words exited well before anything from outside was read."""
    for turn, call in session.calls():
        if call.kind == "shell" and not turn.tainted and command in call.target:
            line = steps(call.target, call.folder, session.folder)
            if any(step.text == command and passed(call, line, at) for at, step in enumerate(line)):
                return True
    return False


def _runs(argument: str, session: SessionRecord) -> bool:
    return any(
        call.kind == "shell" and not turn.tainted and argument in call.target
        for turn, call in session.calls()
    )


def _is_below(call: CallRecord, session: SessionRecord) -> bool:
    """Whether a file that was read is one of the project's."""
    path = call.target.replace("\\", "/")
    home = session.folder.replace("\\", "/").rstrip("/")
    return not re.match(r"/|~|[A-Za-z]:", path) or path.casefold().startswith(f"{home}/".casefold())


def long_arguments(command: str) -> list[str]:
    """The arguments that are long enough to ask for something: quoted texts and long names."""
    texts = [text[1:-1] for text in _LITERAL.findall(command)]
    names = _LITERAL.sub(" ", command).split()
    return [
        one
        for some, most in ((texts, LITERAL_BYTES), (names, NAME_BYTES))
        for one in some
        if len(one.encode("utf-8", "replace")) > most
    ]


@lru_cache(8192)
def is_plain_name(name: str) -> bool:
    """Whether the guard would leave a file's name as it is."""
    return quoted_path(name, _MOST) == name


def asks(text: str) -> bool:
    """Whether a text reads like an instruction to its reader, or names a place to fetch from."""
    return _ASKS.search(text) is not None


def first_sentence(error: str) -> str:
    """An error without the advice after it; empty where it asks for something itself."""
    end = _SENTENCE.search(error)
    said = error[: end.start()] if end else error
    return "" if _ASKS.search(said) else said.strip()
