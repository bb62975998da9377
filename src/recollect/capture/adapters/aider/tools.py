"""What happens in a turn of aider's: edits, commands and what they print, commits, tokens, trouble.

A reply proposes edits, in blocks of its Markdown; aider's notices say which of
them it carried out. What is in an edit and how it went are put together here.
"""

from __future__ import annotations

import re
from typing import Any

from recollect.capture.adapters.aider import records
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.values import money_of
from recollect.model.logs import ToolKind

_COMMAND = re.compile(r"(/[\w-]+(?=\s|$)|!)\s*(.*)$", re.DOTALL)
_SHELL = {"/run", "/test", "/git", "/lint", "!"}
# Commands that carry a question to the model: what comes back is an answer, not what the command
# printed. The question alone is then written once more, like a prompt.
_TALK = {"/ask", "/code", "/architect", "/context", "/help", "/chat-mode"}
# Commands about the chat itself; aider takes a beginning of a name for the name.
_ABOUT_CHAT = (
    "/add", "/add-clipboard-image", "/clear", "/clipboard", "/commit", "/copy", "/copy-context",
    "/diff", "/drop", "/editor-model", "/exit", "/load", "/ls", "/map", "/map-refresh", "/model",
    "/models", "/multiline-mode", "/paste", "/quit", "/read-only", "/reasoning-effort", "/report",
    "/reset", "/save", "/settings", "/think-tokens", "/tokens", "/undo", "/voice", "/weak-model",
)  # fmt: skip
Edits = dict[str, list[dict[str, str]]]

_FENCE = re.compile(r"^(`{3,}|~{3,})")
_SEARCH = re.compile(r"^<{5,9} SEARCH")
_DIVIDER = re.compile(r"^={5,9}\s*$")
_REPLACE = re.compile(r"^>{5,9} REPLACE")
# What models put around a file's name, against the rules.
_DECORATION = "`*#: \t"


def is_about_chat(prompt: str) -> bool:
    """Whether a prompt only tells aider what to do with the chat: nobody is asked anything."""
    command = _COMMAND.match(prompt)
    if command is None or "\n" in prompt:
        return False
    name, given = command[1], command[2].strip()
    if name in ("/chat", "/chat-mode"):
        return " " not in given
    if name in _TALK:
        return not given
    return name not in _SHELL and any(known.startswith(name) for known in _ABOUT_CHAT)


class AiderActions:
    """What aider does, one turn after another, told by its notices."""

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
        self.spent: records.AiderTokens | None = None
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

    def command_given(self, text: str) -> None:
        """The person had aider itself do something; what it prints belongs to that."""
        self.close()
        name, _, given = text.partition(" ")
        self.command, self.given, self.question = name, given.strip(), ""

    def is_asked_again(self, prompt: str) -> bool:
        """Whether a prompt repeats the question of the command before it, as aider does."""
        asked, self.question = self.question, ""
        return asked != "" and prompt.strip() == asked

    def answered(self, answer: str) -> None:
        """The model said something; what it wants to change is done in what follows."""
        self.edits, self.command, self.question = proposed_edits(answer), "", ""

    def notice(self, text: str, spendings: int) -> int:
        """A line about what happened; returns how many lines about tokens the session has had."""
        if tokens := records.TOKENS.match(text):
            spendings += 1
            self.close()
            self._spend(records.tokens_in(tokens), f"{self.session}/{spendings}", text)
        elif edited := records.APPLIED.match(text):
            self._edit("edit", edited[1], ok=True)
        elif created := records.CREATED.match(text):
            self._edit("create", created[1], ok=True)
        elif declined := records.DECLINED.match(text):
            self._edit("edit", declined[1], output=text, ok=None if "--dry-run" in text else False)
        elif text == records.MISFIT:
            self._open("edit", "edit", self._only_edit(), ok=False)
        elif linted := records.LINTING.match(text):
            self._open("shell", "lint", {"command": linted[1]}, ok=False)
        elif (ran := records.RUNNING.match(text)) and not self._is_persons():
            self._open("shell", "run", {"command": ran[1]})
        elif commit := records.COMMIT.match(text):
            self.close()
            self.commits.append(f"{commit[1]} {commit[2]}")
        elif text == records.INTERRUPT:
            self._interrupt()
        elif records.ASIDE.match(text) and not self.command:
            self.close()
        elif records.FAULT.match(text):
            self._fail(text)
        else:
            self._print(text)
        return spendings

    def carry(self, line: str) -> None:
        """A further line of a notice; where a cache helped, the cost of a message is one."""
        if self.spent is not None and records.COST.match(line):
            self._use(self.spent, money_of(records.paid(line)))
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
        """Whether a command that a person ran is open: until then aider has nothing to say."""
        return self.call is not None and self.call[1] in _SHELL

    def _print(self, line: str) -> None:
        """A line that a call printed.

        A command of the person's is a call as soon as it prints something.
        """
        if self.call is None and self.command and line:
            if self.command == "/web":
                self._open("web", self.command, {"url": self.given})
            else:
                command = f"{self.command} {self.given}".strip()
                self._open("other", self.command, {"command": command})
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
            None,
            name,
            input_of_edit(path, self.edits),
            kind="edit",
            target=path,
            output=output,
            ok=ok,
        )

    def _only_edit(self) -> dict[str, Any] | None:
        """What the answer wanted to change, if that was one file."""
        return input_of_edit(next(iter(self.edits)), self.edits) if len(self.edits) == 1 else None

    def _interrupt(self) -> None:
        """Someone pressed ^C: an abort, unless the answer was there already."""
        self.close()
        if self.spent is None and not self.interrupted and not self.command:
            self.dialogue.say("abort", "")
        self.interrupted = True

    def _spend(self, spent: records.AiderTokens, key: str, line: str) -> None:
        self.spent, self.key = spent, key
        self._use(spent, money_of(records.paid(line)))
        if spent.rounded:
            self.dialogue.learn(telemetry={"tokens_approximate": True})

    def _use(self, spent: records.AiderTokens, paid: float | None) -> None:
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


# What a reply proposes ---------------------------------------------------------


def proposed_edits(reply: str) -> Edits:
    """The blocks of a reply: what to search and put there, a diff, or a whole file."""
    edits: Edits = {}
    lines = reply.split("\n")
    named, number = "", 0
    while number < len(lines):
        line = lines[number]
        opening = _FENCE.match(line)
        if opening is None:
            named = line.strip(_DECORATION) or named
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end].rstrip() != opening[1]:
            end += 1
        _block(line[opening.end() :].strip(), lines[number + 1 : end], named, edits)
        number = end + 1
    return edits


def input_of_edit(path: str, edits: Edits) -> dict[str, Any]:
    """The input of the call that edited a file."""
    found = edits.get(path, [])
    if len(found) == 1:
        return {"path": path, **found[0]}
    return {"path": path, "edits": found} if found else {"path": path}


def _block(language: str, lines: list[str], named: str, edits: Edits) -> None:
    if any(map(_SEARCH.match, lines)):
        _search_and_replace(lines, named, edits)
    elif language == "diff":
        target = next(
            (line[4:].split("\t")[0].strip() for line in lines if line.startswith("+++ ")), named
        )
        edits.setdefault(target.removeprefix("b/"), []).append({"patch": "\n".join(lines)})
    elif named and " " not in named:
        edits.setdefault(named, []).append({"content": "\n".join(lines)})


def _search_and_replace(lines: list[str], named: str, edits: Edits) -> None:
    old: list[str] = []
    new: list[str] = []
    into: list[str] | None = None
    for line in lines:
        if _SEARCH.match(line):
            old, new = [], []
            into = old
        elif into is old and _DIVIDER.match(line):
            into = new
        elif into is new and _REPLACE.match(line):
            edit = {"old_string": "\n".join(old), "new_string": "\n".join(new)}
            edits.setdefault(named, []).append(edit)
            into = None
        elif into is not None:
            into.append(line)
        else:
            # Older versions want the name inside the fence.
            named = line.strip(_DECORATION) or named
