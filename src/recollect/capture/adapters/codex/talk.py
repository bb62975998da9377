"""Codex: what people and agents say, each thing once.

Prompts come as an event for the screen and as an item for the model, where they
stand among many texts that nobody typed. The event is taken; an item only
when no event has followed it before the model answers.
"""

from __future__ import annotations

from recollect.capture.adapters.codex.prompts import (
    INJECTED_KINDS,
    cwd_in,
    is_injected,
    placeholder,
    typed_in,
    typed_part,
)
from recollect.capture.adapters.codex.records import Fields, fields, listed, moment, text_of
from recollect.capture.adapters.codex.tools import texts_in
from recollect.capture.adapters.codex.turns import Turns
from recollect.model.logs import Event, EventKind, SessionFacts


class Talk(Turns):
    """Prompts, replies, reasoning, messages between agents, reviews."""

    def user_message(self, told: Fields, stamp: object) -> None:
        """A prompt, told by an event."""
        message = told.get("message")
        text = message if type(message) is str else ""
        if told.get("kind") in INJECTED_KINDS or is_injected(text):
            return
        has_pictures = told.get("images") or told.get("local_images")
        self.prompted(typed_part(text), _pictures(told) if has_pictures else [], stamp)

    def prompted(self, text: str, pictures: list[str], stamp: object) -> None:
        """A prompt as the screen showed it; the model's copy of it may have come before."""
        state = self.state
        if self._held:
            for held, _, held_stamp in self._held:
                if held == text:
                    stamp = held_stamp
            self._held.clear()
        elif not state.told_by_events and not state.filled and self.has_prompt(text):
            # An earlier read ended between the two.
            state.told_by_events = True
            return
        if not state.told_by_events:
            state.told_by_events = True
        if text or pictures:
            self.open_prompt(text, pictures, stamp)

    def message(self, item: Fields, stamp: object) -> None:
        """A message that the model saw or wrote; developers' messages are nobody's."""
        role, state = item.get("role"), self.state
        if role == "user":
            if not state.told_by_events or state.cwd is None:
                self.user_item(item, stamp)
        elif role == "assistant":
            text = _joined_texts(item.get("content"))
            if "<" in text and ("<oai-mem-citation>" in text or "<proposed_plan>" in text):
                for said in _shown(text):
                    self.say("reply", said, stamp, -1)
            elif state.review and text.startswith(state.review):
                state.review = ""
            else:
                self.say("reply", text, stamp, -1)

    def user_item(self, item: Fields, stamp: object, bare: bool = False) -> None:
        """A text in the user's name: a prompt, when it was typed and no event tells it."""
        state = self.state
        if state.cwd is None and (cwd := cwd_in(item.get("content"))):
            state.cwd = cwd
            self.out.append(SessionFacts(session=self.session, cwd=cwd))
        if state.told_by_events:
            return
        text, pictures = typed_in(item.get("content"))
        if not text and not pictures:
            return
        if bare:
            self.open_prompt(text, pictures, stamp)
        else:
            self.hold(text, pictures, stamp)

    def mail(self, told: Fields, stamp: object) -> None:
        """A message from another agent starts a turn when it woke this one."""
        content, state, who = told.get("content"), self.state, self.state.who
        text = content if isinstance(content, str) else texts_in(content)
        own = (who.agent_path if who else None) or "/root"
        if not text or told.get("author") == own:
            return
        first = who is not None and who.origin == "subagent" and not state.turn
        if first or (state.task and not state.prompts):
            self.open_prompt(text, [], stamp, "agent")

    def say(self, kind: EventKind, text: object, stamp: object, side: int) -> None:
        """A reply or a piece of reasoning, once; `side` is that of `is_twin`."""
        if type(text) is not str or not (bare := text.strip()):
            return
        turn = self.settled or self.content_turn(stamp)
        if not self.is_twin(kind, bare, side):
            self.out.append(
                Event(session=self.session, turn=turn, kind=kind, at=moment(stamp), text=text)
            )

    def reasoning(self, item: Fields, stamp: object) -> None:
        """Each part of a summary, and of the raw thought where a model shows it."""
        for parts in (item.get("summary"), item.get("content")):
            for part in parts if type(parts) is list else ():
                self.say("reasoning", part.get("text") if type(part) is dict else part, stamp, -1)

    def entered_review(self, told: Fields, stamp: object) -> None:
        """A review is asked for by a command, which no message tells."""
        hint = text_of(told.get("user_facing_hint")) or text_of(told.get("prompt")) or ""
        self._held.clear()
        self.open_prompt(f"/review {hint}".strip(), [], stamp)

    def exited_review(self, told: Fields, stamp: object) -> None:
        """What a review found."""
        review = fields(told.get("review_output"))
        lead = text_of(review.get("overall_explanation")) or ""
        lines = [lead]
        for finding in listed(review.get("findings")):
            parts = [text_of(fields(finding).get(name)) for name in ("title", "body")]
            lines.append("\n".join(part for part in parts if part))
        text = "\n\n".join(line for line in lines if line)
        if text:
            self.add("reply", text, stamp)
            # The same is then said as a message to the model.
            self.state.review = lead[:200]

    def add(self, kind: EventKind, text: str, stamp: object) -> None:
        """Something that was said or happened once."""
        turn = self.any_turn(stamp)
        self.state.filled = True
        self.out.append(
            Event(session=self.session, turn=turn, kind=kind, at=moment(stamp), text=text)
        )


def _pictures(told: Fields) -> list[str]:
    pictures = [placeholder(url) for url in listed(told.get("images")) if isinstance(url, str)]
    return pictures + [
        f"[image {path}]" for path in listed(told.get("local_images")) if isinstance(path, str)
    ]


def _joined_texts(content: object) -> str:
    """The texts of a message's content; nearly always it is one."""
    if type(content) is not list:
        return ""
    texts = []
    for part in content:
        if type(part) is dict and type(text := part.get("text")) is str:
            texts.append(text)
    return texts[0] if len(texts) == 1 else "".join(texts)


def _shown(text: str) -> list[str]:
    """A reply as the screen shows it: citations cut away, a proposed plan told apart."""
    if "<oai-mem-citation>" in text:
        before, _, rest = text.partition("<oai-mem-citation>")
        text = before + rest.partition("</oai-mem-citation>")[2]
    if "<proposed_plan>" not in text:
        return [text]
    before, _, rest = text.partition("<proposed_plan>")
    plan, _, after = rest.partition("</proposed_plan>")
    return [before + after, plan]
