"""What happens in a turn of aider's: edits, commands and what
they print, commits, tokens, trouble.
"""

from __future__ import annotations

import re
from typing import Any

from recollect.capture.adapters.aider import notices
from recollect.capture.adapters.aider.edits import Edits, given, proposed
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.values import money_of
from recollect.model.logs import ToolKind

_COMMAND = re.compile(r"(/[\w-]+(?=\s|$)|!)\s*(.*)$", re.DOTALL)
_SHELL = {"/run", "/test", "/git", "/lint", "!"}
# Commands that carry a question to the model: what comes back is an answer, not what the command
# printed. The question alone is then written once more, like a prompt.
_TALK = {"/ask", "/code", "/architect", "/context", "/help", "/chat-mode"}


class Work:
    """One turn after another, told by aider's notices."""

    def __init__(self, dialogue: Dialogue, session: str) -> None:
        self.dialogue, self.session = dialogue, session
        self.model: str | None = None
        self.begin("", None)

    def begin(self, prompt: str, model: str | None) -> None:
        """A turn begins; a command of the person's is carried out by aider itself."""
        self.model = model
        self.command = self.given = self.question = ""
        # The call that may still print something: its kind, name, input and whether it went well.
        self.call: tuple[ToolKind, str, dict[str, Any] | None, bool | None] | None = None
        self.printed: list[str] = []
        self.edits: Edits = {}
        self.commits: list[str] = []
        self.spent: notices.Spent | None = None
        self.key = ""
        self.interrupted = False
        self.fault = ""
        command = _COMMAND.match(prompt)
        if command and command[1] in _SHELL and command[2]:
            self._open("shell", command[1], {"command": command[2]})
        elif command and command[1] in _TALK:
            self.question = command[2].strip()
        elif command:
            self.command, self.given = command[1], command[2].strip()

    def is_asked_again(self, prompt: str) -> bool:
        """Whether a prompt is the question of the command before
        it, which aider writes down twice.
        """
        asked, self.question = self.question, ""
        return asked != "" and prompt.strip() == asked

    def answered(self, answer: str) -> None:
        """The model said something; what it wants to change is done in what follows."""
        self.edits, self.command, self.question = proposed(answer), "", ""

    def notice(self, text: str, spendings: int) -> int:
        """A line about what happened; returns how many lines about tokens the session has had."""
        if tokens := notices.TOKENS.match(text):
            spendings += 1
            self.close()
            self._spend(notices.spent(tokens), f"{self.session}/{spendings}", text)
        elif edited := notices.APPLIED.match(text):
            self._edit("edit", edited[1], ok=True)
        elif created := notices.CREATED.match(text):
            self._edit("create", created[1], ok=True)
        elif declined := notices.DECLINED.match(text):
            self._edit("edit", declined[1], output=text, ok=None if "--dry-run" in text else False)
        elif text == notices.MISFIT:
            self._open("edit", "edit", self._only_edit(), ok=False)
        elif linted := notices.LINTING.match(text):
            self._open("shell", "lint", {"command": linted[1]}, ok=False)
        elif (ran := notices.RUNNING.match(text)) and not self._is_persons():
            self._open("shell", "run", {"command": ran[1]})
        elif commit := notices.COMMIT.match(text):
            self.close()
            self.commits.append(f"{commit[1]} {commit[2]}")
        elif text == notices.INTERRUPT:
            self._interrupt()
        elif notices.ASIDE.match(text) and not self.command:
            self.close()
        elif notices.FAULT.match(text):
            self._fail(text)
        else:
            self._print(text)
        return spendings

    def carry(self, line: str) -> None:
        """A further line of a notice; where a cache helped, the cost of a message is one."""
        if self.spent is not None and notices.COST.match(line):
            self._use(self.spent, money_of(notices.paid(line)))
        else:
            self._print(line.rstrip())

    def end(self) -> None:
        """The turn is over, or all that there is of it so far was told."""
        self.close()
        if self.commits:
            self.dialogue.learn(telemetry={"commits": self.commits})

    def close(self) -> None:
        """The call that was open has printed all that it will."""
        if self.call is not None:
            kind, name, what, ok = self.call
            output = "\n".join(self.printed).strip()
            self.dialogue.call(None, name, what, kind=kind, ok=ok, output=output or None)
        self.call, self.printed = None, []

    def _open(
        self, kind: ToolKind, name: str, what: dict[str, Any] | None, *, ok: bool | None = None
    ) -> None:
        self.close()
        self.call = (kind, name, what, ok)

    def _is_persons(self) -> bool:
        """Whether the call that is open is a command that a person ran: aider has
        nothing to say until it is through.
        """
        return self.call is not None and self.call[1] in _SHELL

    def _print(self, line: str) -> None:
        """A line that a call printed.

        A command of the person's is a call as soon as it prints something.
        """
        if self.call is None and self.command and line:
            if self.command == "/web":
                self._open("web", self.command, {"url": self.given})
            else:
                self._open(
                    "other", self.command, {"command": f"{self.command} {self.given}".strip()}
                )
        if self.call is not None:
            self.printed.append(line)

    def _fail(self, text: str) -> None:
        """Something went wrong; what is tried again fails with the same words."""
        self.close()
        if text != self.fault:
            self.fault = text
            self.dialogue.say("error", text)

    def _edit(self, name: str, path: str, *, ok: bool | None, output: str | None = None) -> None:
        self.close()
        self.dialogue.call(
            None, name, given(path, self.edits), kind="edit", target=path, output=output, ok=ok
        )

    def _only_edit(self) -> dict[str, Any] | None:
        """What the answer wanted to change, if that was one file."""
        return given(next(iter(self.edits)), self.edits) if len(self.edits) == 1 else None

    def _interrupt(self) -> None:
        """Someone pressed ^C: an abort, unless the answer was there already."""
        self.close()
        if self.spent is None and not self.interrupted and not self.command:
            self.dialogue.say("abort", "")
        self.interrupted = True

    def _spend(self, spent: notices.Spent, key: str, line: str) -> None:
        self.spent, self.key = spent, key
        self._use(spent, money_of(notices.paid(line)))
        if spent.rounded:
            self.dialogue.learn(telemetry={"tokens_approximate": True})

    def _use(self, spent: notices.Spent, paid: float | None) -> None:
        self.dialogue.usage(
            self.key,
            model=self.model,
            # What was sent includes what the cache gave and took.
            input=max(0, spent.sent - spent.hit - spent.written),
            cache_read=spent.hit,
            cache_write=spent.written,
            output=spent.received,
            cost_usd=paid,
        )
