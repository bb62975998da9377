"""The lines of an aider history, in order, become sessions, turns and events.

Three voices share the file, and only the ends of lines tell them apart: what
aider writes itself, prompts (`#### …`) and notices (`> …`), ends in two spaces,
a Markdown line break. A heading or a quotation in the model's answer does not.
A file that an editor stripped of these spaces is read more leniently: there,
a heading of the fourth level outside of a code block is taken for a prompt.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

import msgspec

from recollect.capture.adapters import _aider_notices as notices
from recollect.capture.adapters._aider_edits import Edits, given, proposed
from recollect.capture.logs.dialogue import Dialogue, Standing
from recollect.capture.logs.values import money_of
from recollect.model import Author, Item, ToolKind, milliseconds

_COMMAND = re.compile(r"(/[\w-]+|!)(?:\s+(.*)|\s*)$", re.DOTALL)
_COMMAND_LINE = re.compile(r"(?:\S*[/\\])?(?:aider(?:\.exe)?|__main__\.py)(?: (.*))?$")
_HEADLESS = {"-m", "--message", "--msg", "-f", "--message-file"}
_SHELL = {"/run", "/test", "/git", "/lint", "!"}
# Commands that carry a question to the model: what comes back is an answer, not what the command printed. The question
# alone is then written once more, like a prompt.
_TALK = {"/ask", "/code", "/architect", "/context", "/help", "/chat-mode"}
_REASONING = re.compile(r"-{10,}\n► \*\*THINKING\*\*\n(.*?)\n-{10,}\n► \*\*ANSWER\*\*(?:\n|$)", re.DOTALL)
_MOST_COMMITS = 20
# A checkpoint may hold 64 KB.
_MOST_STATE_BYTES = 48 << 10


class State(msgspec.Struct):
    """What must be remembered from line to line, and from one import to the next."""

    standing: Standing = msgspec.field(default_factory=Standing)
    # The session: when it began, as the log says it, and how often that second came before.
    session: str = ""
    began: str = ""
    again: int = 0
    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    meta: dict[str, str] = msgspec.field(default_factory=dict)
    model: str | None = None
    told: bool = False
    turns: int = 0
    calls: int = 0
    spendings: int = 0
    # The line before: whose it was, and whether a blank one came after it.
    voice: str = ""
    blank: bool = True
    spaced: bool = False
    fenced: bool = False
    # The turn.
    begins: bool = False
    command: str = ""
    question: str = ""
    call: str = ""
    output: list[str] = msgspec.field(default_factory=list)
    model_of_turn: str | None = None
    spent: dict[str, int] = msgspec.field(default_factory=dict)
    spent_in_turn: bool = False
    interrupted: bool = False
    commits: list[str] = msgspec.field(default_factory=list)
    # The answer: a mark of it, because an architect's is the editor's prompt, and what it would change.
    answer: str = ""
    edits: Edits = msgspec.field(default_factory=dict)


class Transcript:
    """Takes a history line by line; see `Reader` in `capture.logs.appended`."""

    def __init__(self, place: str, cwd: str | None, state: State | None) -> None:
        self.place, self.cwd = place, cwd
        self.state = state or State(session=f"earlier-{place}")
        self.dialogue = Dialogue(self.state.session, self.state.standing)
        self.items: list[Item] = []
        self.said: list[str] = []
        self.shown = True

    def drain(self) -> list[Item]:
        """What was made of the lines so far; what is still being said counts as said."""
        self._finish_saying()
        self._show_output()
        self.items += self.dialogue.drain()
        items, self.items = self.items, []
        return items

    def save(self) -> bytes:
        """The state, without the largest things when it is too large: a call then has what it printed so far."""
        state = msgspec.msgpack.encode(self.state)
        if len(state) > _MOST_STATE_BYTES:
            self.state.edits, self.state.output, self.state.call = {}, [], ""
            state = msgspec.msgpack.encode(self.state)
        return state

    # Whose line it is

    def take(self, line: str) -> None:
        """One more line, without its end."""
        state = self.state
        if not line.strip():
            self._blank()
        elif header := notices.HEADER.match(line):
            self._begin_session(header[1])
        elif self._is_prompt(line):
            self._speak("prompt")
            self.said.append(line[5:].rstrip())
        elif self._is_notice(line):
            carried = state.spaced and not line.endswith("  ")
            self._speak("carried" if carried else "notice")
            self._notice(line[2:].strip())
        elif state.voice in ("carried", "ending"):
            self._carry(line)
        else:
            self._speak("answer")
            self.said.append(line)
            if line.startswith("```"):
                state.fenced = not state.fenced
        self.state.blank = not line.strip()

    def _is_prompt(self, line: str) -> bool:
        if not line.startswith("####") or line[4:5] not in ("", " "):
            return False
        # Aider puts an empty line before each prompt, and none inside.
        return (self.state.blank or self.state.voice == "prompt") and self._is_aiders(line)

    def _is_notice(self, line: str) -> bool:
        if line[:1] != ">" or line[1:2] not in ("", " "):
            return False
        if self._is_aiders(line):
            return True
        # A notice of several lines has a mark on its first and the two spaces on its last.
        return notices.TOKENS.match(line, 2) is not None or (not self.state.blank and self._may_print())

    def _may_print(self) -> bool:
        """Whether aider had the word, or was told to do something."""
        state = self.state
        if state.voice == "prompt":
            return self.said[0][:1] in ("/", "!") if self.said else bool(state.command or state.call)
        return state.voice in ("notice", "carried", "ending")

    def _is_aiders(self, line: str) -> bool:
        if line.endswith("  "):
            self.state.spaced = True
            return True
        return not self.state.spaced and not self.state.fenced

    def _speak(self, voice: str) -> None:
        """Somebody says something: what another one was saying is finished."""
        state = self.state
        # Prompts are kept apart by an empty line.
        if self.said and (voice != state.voice or (voice == "prompt" and state.blank)):
            self._finish_saying()
        if voice in ("prompt", "answer"):
            self._close()
        state.voice = voice
        if voice == "prompt" and not self.said and state.blank:
            # Not the rest of a prompt whose beginning an earlier pass saw.
            state.begins = True

    def _blank(self) -> None:
        state = self.state
        if state.voice == "ending":
            state.voice = "notice"
        if state.voice == "carried":
            state.output.append("")
        elif state.voice == "answer":
            self.said.append("")
        elif state.voice == "prompt":
            self._finish_saying()

    def _carry(self, line: str) -> None:
        """A further line of a notice; it ends with one that ends in two spaces, if nothing follows that at once."""
        state = self.state
        if notices.COST.match(line):
            self._paid(line)
        else:
            self._print(line.rstrip())
        state.voice = "ending" if line.endswith("  ") else "carried"

    # What is said

    def _begin_session(self, began: str) -> None:
        self._finish_saying()
        self._close()
        before = self.state
        again = before.again + 1 if began == before.began else 0
        number = f".{again + 1}" if again else ""
        session = f"{re.sub(r'[-:]', '', began).replace(' ', '-')}{number}-{self.place}"
        self.state = State(session=session, began=began, again=again, spaced=before.spaced)
        self.state.facts["started_at"] = milliseconds(began)
        self.items += self.dialogue.drain()
        self.dialogue = Dialogue(session, self.state.standing)

    def _finish_saying(self) -> None:
        said, self.said = self.said, []
        if said and self.state.voice == "prompt":
            self._prompt("\n".join(said))
        elif said:
            self._answer("\n".join(said).strip())

    def _prompt(self, text: str) -> None:
        state = self.state
        if notices.ANSWER.match(text) or text == "<blank>" or (state.question and text.strip() == state.question):
            state.begins, state.question = False, ""
            return
        if not state.begins:
            self.dialogue.say("prompt", text)
            return
        self._tell()
        author = self._author(text)
        state.begins, state.command, state.turns = False, "", state.turns + 1
        state.model_of_turn = state.meta.get("editor_model", state.model) if author == "agent" else state.model
        state.spent, state.spent_in_turn, state.interrupted, state.commits, state.edits = {}, False, False, [], {}
        self.dialogue.prompt(f"{state.session}/{state.turns}", text, author=author)
        command = _COMMAND.match(text)
        if command and command[1] in _SHELL and command[2]:
            self._open("shell", command[1], {"command": command[2]})
        elif command and command[1] in _TALK:
            state.question = (command[2] or "").strip()
        elif command:
            state.command = command[1]

    def _author(self, text: str) -> Author:
        if _mark(text) == self.state.answer:
            # In architect mode the answer of one model is what the other is asked.
            return "agent"
        return "system" if text.startswith(notices.LINT_PROMPT) else "human"

    def _answer(self, text: str) -> None:
        # Before the first prompt nobody answers: it is what was left of an older part of the file.
        if not text or not self.state.turns:
            return
        self.state.answer, self.state.edits, self.state.command, self.state.question = _mark(text), proposed(text), "", ""
        for thought in _REASONING.findall(text):
            self.dialogue.say("reasoning", thought.strip())
        self.dialogue.say("reply", _REASONING.sub("", text).strip())

    def _tell(self) -> None:
        """Say what is known of the session, once it has a turn: many are opened and closed again."""
        state = self.state
        if not state.told:
            state.told = True
            self.dialogue.facts(**{"origin": "interactive", "cwd": self.cwd, **state.facts, "meta": state.meta or None})

    # What aider says

    def _notice(self, text: str) -> None:
        if not self._announcement(text) and self.state.turns:
            self._event(text)

    def _announcement(self, text: str) -> bool:
        """Whether a line is about the session."""
        state = self.state
        if started := _COMMAND_LINE.match(text):
            if not state.turns and _HEADLESS & {word.split("=")[0] for word in (started[1] or "").split()}:
                state.facts["origin"] = "headless"
            return not state.turns
        if version := notices.VERSION.match(text):
            state.facts["agent_version"] = version[1]
        elif model := notices.MODEL.match(text):
            state.model = state.model_of_turn = model[1].rstrip(",")
            known = {"model": state.model, "edit_format": model["format"], "weak_model": model["weak"]}
            state.meta |= {name: value for name, value in known.items() if value}
        elif helper := notices.HELPER.match(text):
            state.meta[f"{helper[1].lower()}_model"] = helper[2]
        else:
            return False
        if state.told:
            self.dialogue.facts(meta=dict(state.meta), agent_version=state.facts.get("agent_version"))
        return True

    def _event(self, text: str) -> None:
        """A line about what happened in the turn."""
        state = self.state
        if tokens := notices.TOKENS.match(text):
            self._close()
            self._tokens(notices.spent(tokens), money_of(notices.paid(text)))
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
        elif ran := notices.RUNNING.match(text):
            self._open("shell", "run", {"command": ran[1]})
        elif commit := notices.COMMIT.match(text):
            self._close()
            state.commits = [*state.commits, f"{commit[1]} {commit[2][:200]}"][-_MOST_COMMITS:]
            self.dialogue.learn(telemetry={"commits": list(state.commits)})
        elif text == notices.INTERRUPT:
            self._interrupt()
        elif notices.ASIDE.match(text):
            if state.command:
                self._print(text)
            else:
                self._close()
        elif notices.FAULT.match(text):
            self._close()
            self.dialogue.say("error", text)
        else:
            self._print(text)

    def _interrupt(self) -> None:
        """Someone pressed ^C: an abort, unless the answer was there already."""
        self._close()
        if not self.state.spent_in_turn and not self.state.interrupted and not self.state.command:
            self.dialogue.say("abort", "")
        self.state.interrupted = True

    def _only_edit(self) -> dict[str, Any] | None:
        """What the answer wanted to change, if that was one file."""
        edits = self.state.edits
        return given(next(iter(edits)), edits) if len(edits) == 1 else None

    def _edit(self, name: str, path: str, *, ok: bool | None, output: str | None = None) -> None:
        self._close()
        what = given(path, self.state.edits)
        self.dialogue.call(None, name, what, kind="edit", target=path, output=output, ok=ok)

    def _tokens(self, spent: notices.Spent, paid: float | None) -> None:
        state = self.state
        state.spendings += 1
        state.spent_in_turn = True
        state.spent = {
            "input": max(0, spent.sent - spent.hit - spent.written),
            "cache_read": spent.hit,
            "cache_write": spent.written,
            "output": spent.received,
        }
        self._use(paid)
        if spent.rounded:
            self.dialogue.learn(telemetry={"tokens_approximate": True})

    def _paid(self, line: str) -> None:
        """What the last message cost; where a cache helped, that stands on a line of its own."""
        if self.state.spent:
            self._use(money_of(notices.paid(line)))

    def _use(self, paid: float | None) -> None:
        state = self.state
        key = f"{state.session}/{state.spendings}"
        self.dialogue.usage(key, model=state.model_of_turn, cost_usd=paid, **state.spent)  # type: ignore[arg-type]

    # Calls, and what they print

    def _open(self, kind: ToolKind, name: str, what: dict[str, Any] | None, *, ok: bool | None = None) -> None:
        self._close()
        state = self.state
        state.calls += 1
        state.call, state.output = f"{state.session}/{state.calls}", []
        self.dialogue.call(state.call, name, what, kind=kind, ok=ok)

    def _print(self, line: str) -> None:
        """A line that a command printed; a command of the person's that aider carries out is a call when it prints something."""
        state = self.state
        if not state.call and state.command and line:
            self._open("web" if state.command == "/web" else "other", state.command, None)
        if state.call:
            state.output.append(line)
            self.shown = False

    def _show_output(self) -> None:
        if self.state.call and not self.shown:
            self.dialogue.result(self.state.call, "\n".join(self.state.output).strip(), last=False)
            self.shown = True

    def _close(self) -> None:
        self._show_output()
        self.state.standing.waiting.pop(self.state.call, None)
        self.state.call, self.state.output = "", []


def _mark(text: str) -> str:
    """The same for texts that differ in white space only."""
    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()
