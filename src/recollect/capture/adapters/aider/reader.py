"""The lines of an aider history, in order, become sessions, turns and events.

Three voices share the file, and only the ends of lines tell them apart: what
aider writes itself, prompts (`#### …`) and notices (`> …`), ends in two spaces,
a Markdown line break. A heading or a quotation in the model's answer does not.
A file that an editor stripped of these spaces is read more leniently: there,
a heading of the fourth level outside of a code block is taken for a prompt.

A turn is over when the next begins, so a pass ends before the last one it met:
that one is told as far as it goes, and from its start again when there is more.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

import msgspec

from recollect.capture.adapters.aider import records
from recollect.capture.adapters.aider.tools import AiderActions, is_about_chat
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.values import non_empty
from recollect.model.logs import Author, Checkpoint, Event, Item, milliseconds

_COMMAND_LINE = re.compile(r"(?:\S*[/\\])?(?:aider(?:\.exe)?|__main__\.py)(?: (.*))?$")
_HEADLESS = {"-m", "--message", "--msg", "-f", "--message-file"}
# Aider draws a line of dashes above each of these marks.
_THINKING, _ANSWER, _RULE = "► **THINKING**\n", "► **ANSWER**", "- \n"


class AiderState(msgspec.Struct):
    """What must be remembered where a turn or a session begins."""

    session: str = ""
    # When the session began, as the log says it, and how often that second came before.
    began: str = ""
    again: int = 0
    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    meta: dict[str, str] = msgspec.field(default_factory=dict)
    told: bool = False
    turns: int = 0
    spendings: int = 0
    # Whether aider's lines end in two spaces here.
    spaced: bool = False
    # A mark of the last answer: an architect's is the editor's prompt.
    answer: str = ""
    # The turn that was told from here on, when there was less of it.
    provisional: str = ""


class AiderReader:
    """Makes items of a history, line by line."""

    def __init__(
        self, place: str, cwd: str | None, position: int, state: AiderState | None
    ) -> None:
        self.place, self.cwd = place, cwd
        self.state = state or AiderState(session=f"earlier-{place}")
        self.dialogue = Dialogue(self.state.session)
        self.actions = AiderActions(self.dialogue, self.state.session)
        self.items: list[Item] = []
        # Where to go on: at the line that began the last turn, or its session.
        self.mark = self.candidate = (position, msgspec.msgpack.encode(self.state))
        # The line before: whose it was, and whether it was empty.
        self.voice, self.blank, self.fenced = "", True, False
        self.said: list[str] = []

    def drain(self) -> list[Item]:
        """The items so far."""
        self.items += self.dialogue.drain()
        items, self.items = self.items, []
        return items

    def finish(self) -> list[Item]:
        """The rest of the items, at the end of a pass: what is still being said counts as said."""
        self._finish_saying()
        self.actions.end()
        self._settle("")
        return self.drain()

    def checkpoint(self) -> Checkpoint:
        """Where the next pass goes on."""
        position, encoded = self.mark
        state = msgspec.msgpack.decode(encoded, type=AiderState)
        state.provisional = self.dialogue.state.turn if state.session == self.state.session else ""
        return Checkpoint(position, msgspec.msgpack.encode(state))

    # Whose line it is

    def take(self, line: str, position: int) -> None:
        """One more line, without its end, and where it begins."""
        if not line.strip():
            self._pause()
        elif self.blank and (header := records.HEADER.match(line)):
            self._finish_saying()
            self.mark = (position, msgspec.msgpack.encode(self.state))
            self._begin_session(header[1])
        elif self._is_prompt(line):
            self._speak("prompt", position)
            self.said.append(line[5:].rstrip())
        elif self._is_notice(line):
            goes_on = self.state.spaced and not line.endswith("  ")
            self._speak("carried" if goes_on else "notice", position)
            self._notice(line[2:].strip())
        elif self.voice in ("carried", "ending"):
            self.actions.carry(line)
            # It ends with a line that ends in two spaces, if nothing follows that at once.
            self.voice = "ending" if line.endswith("  ") else "carried"
        else:
            self._speak("answer", position)
            self.said.append(line)
            self.fenced ^= line.startswith("```")
        self.blank = not line.strip()

    def _is_prompt(self, line: str) -> bool:
        if not line.startswith("####") or line[4:5] not in ("", " "):
            return False
        if self.fenced and self.voice == "answer":
            # A model shows a history in a block of code. Aider says something before it asks again.
            return False
        # Aider puts an empty line before each prompt, and none inside.
        return (self.blank or self.voice == "prompt") and self._is_aiders(line)

    def _is_notice(self, line: str) -> bool:
        if line[:1] != ">" or line[1:2] not in ("", " "):
            return False
        if self._is_aiders(line):
            return True
        # A notice of several lines has a mark on its first and the two spaces on its last.
        return records.TOKENS.match(line, 2) is not None or (not self.blank and self._may_print())

    def _may_print(self) -> bool:
        """Whether aider had the word, or was told to do something."""
        if self.voice == "prompt":
            return bool(self.said) and self.said[0][:1] in ("/", "!")
        return self.voice in ("notice", "carried", "ending")

    def _is_aiders(self, line: str) -> bool:
        if line.endswith("  "):
            self.state.spaced = True
            return True
        return not self.state.spaced and not self.fenced

    def _speak(self, voice: str, position: int) -> None:
        """Somebody says something: what another one was saying is finished."""
        # Prompts are kept apart by an empty line.
        if voice != self.voice or (voice == "prompt" and self.blank):
            self._finish_saying()
        if voice == "prompt" and not self.said:
            self.candidate = (position, msgspec.msgpack.encode(self.state))
        if voice == "answer" and self.voice != "answer":
            self.actions.close()
            self.fenced = False
        self.voice = voice

    def _pause(self) -> None:
        if self.voice == "ending":
            self.voice = "notice"
        if self.voice == "carried":
            self.actions.carry("")
        elif self.voice == "answer":
            self.said.append("")

    # What is said

    def _begin_session(self, began: str) -> None:
        self.actions.end()
        self._settle("")
        before = self.state
        again = before.again + 1 if began == before.began else 0
        number = f".{again + 1}" if again else ""
        session = f"{re.sub(r'[-:]', '', began).replace(' ', '-')}{number}-{self.place}"
        self.state = AiderState(session=session, began=began, again=again, spaced=before.spaced)
        self.state.facts["started_at"] = milliseconds(began)
        self.items += self.dialogue.drain()
        self.dialogue = Dialogue(session)
        self.actions = AiderActions(self.dialogue, session)
        self.voice, self.fenced = "", False

    def _finish_saying(self) -> None:
        said, self.said = self.said, []
        if said and self.voice == "prompt":
            self._prompt("\n".join(said))
        elif said:
            self._answer("\n".join(said).strip())

    def _prompt(self, text: str) -> None:
        state = self.state
        if records.ANSWER.match(text) or text == "<blank>" or self.actions.is_asked_again(text):
            return
        if is_about_chat(text):
            # Before anything was asked nothing comes of it that lasts.
            if self.dialogue.state.turn:
                self.actions.command_given(text)
                self.dialogue.say("command", text)
            return
        self.actions.end()
        self.mark = self.candidate
        self._tell()
        state.turns += 1
        author = self._author(text)
        key = f"{state.session}/{state.turns}-{_mark(text)[:8]}"
        self._settle(key)
        self.dialogue.prompt(key, text, author=author)
        model = state.meta.get("model")
        if author == "agent":
            model = state.meta.get("editor_model", model)
        self.actions.begin(text, model)

    def _author(self, text: str) -> Author:
        if _mark(text) == self.state.answer:
            # In architect mode the answer of one model is what the other is asked.
            return "agent"
        return "system" if text.startswith(records.LINT_PROMPT) else "human"

    def _settle(self, key: str) -> None:
        """Take back the turn that an earlier pass told from here, with half of its prompt."""
        before, self.state.provisional = self.state.provisional, ""
        if before and before != key:
            self.dialogue.undo(before)

    def _answer(self, text: str) -> None:
        if not text or not self._has_turn(begun=self.state.began != ""):
            return
        self.state.answer = _mark(text)
        before, marked, thought = text.partition(_THINKING)
        thought, answered, answer = thought.partition(_ANSWER)
        if marked and answered:
            self.dialogue.say("reasoning", thought.strip(_RULE))
            text = f"{before.rstrip(_RULE)}\n{answer}".strip()
        self.dialogue.say("reply", text)
        self.actions.answered(text)

    def _has_turn(self, *, begun: bool) -> bool:
        """Whether there is a turn to add to; if one may be begun, for what nobody asked here.

        Several aiders may run in one project, and write to one file: the
        answer to a prompt of one comes after another has begun its session.
        """
        if not self.dialogue.state.turn and begun:
            self._tell()
            key = f"{self.state.session}/0"
            self.dialogue.begin(key, author="system")
            # Without a word, but a prompt: by it the turn is known when it
            # is told again from its start.
            self.dialogue.items.append(Event(session=self.state.session, turn=key, kind="prompt"))
        return self.dialogue.state.turn != ""

    def _tell(self) -> None:
        """Say what is known of the session, once it has a turn: many end without one."""
        state = self.state
        if not state.told:
            state.told = True
            self.dialogue.facts(
                **{"origin": "interactive", "cwd": self.cwd, **state.facts},
                meta=dict(state.meta) or None,
            )

    # What aider says

    def _notice(self, text: str) -> None:
        if self._announcement(text):
            return
        if self._has_turn(begun=records.TOKENS.match(text) is not None):
            self.state.spendings = self.actions.notice(text, self.state.spendings)

    def _announcement(self, text: str) -> bool:
        """Whether a line is about the session."""
        state = self.state
        if not state.turns and (started := _COMMAND_LINE.match(text)):
            if _HEADLESS & {word.split("=")[0] for word in (started[1] or "").split()}:
                state.facts["origin"] = "headless"
            return True
        if version := records.VERSION.match(text):
            state.facts["agent_version"] = version[1]
        elif model := records.MODEL.match(text):
            known = {
                "model": model[1].rstrip(","),
                "edit_format": model["format"],
                "weak_model": model["weak"],
            }
            state.meta |= non_empty(known)
            self.actions.model = state.meta["model"]
        elif helper := records.HELPER.match(text):
            state.meta[f"{helper[1].lower()}_model"] = helper[2]
        else:
            return False
        if state.told:
            self.dialogue.facts(
                meta=dict(state.meta), agent_version=state.facts.get("agent_version")
            )
        return True


def _mark(text: str) -> str:
    """The same for texts that differ in white space only."""
    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()
