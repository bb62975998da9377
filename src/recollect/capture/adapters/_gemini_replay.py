"""A log of changes, replayed: what a person saw in the end, and what was undone on the way.

A message that comes again replaces the one with its id, and stays in its
place. `$rewindTo` takes a message and all after it away. `$set` changes what is
known of the session; with `messages` in it, the whole list is exchanged.

The list is exchanged for several reasons. A request was stopped: then its end
is missing. The conversation was summarised, or long outputs were cut to save
room: then old messages are missing, or stand there again under new ids. A
person still sees them, so they stay as they were, and copies are passed over.
"""

from __future__ import annotations

from recollect.capture.adapters._gemini_prompts import typed
from recollect.capture.logs.chats import Message


class Replay:
    """The messages of one file, in the order of their first appearance."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.undone: set[str] = set()
        # Messages under new ids, each with the id of what it repeats, where that is known.
        self.copies: dict[str, str | None] = {}

    def take(self, message: Message) -> None:
        """One more message, or a later version of one."""
        self.messages[message.id] = message

    def rewind(self, ident: str) -> None:
        """Undo a message and all after it; all there are when it is not known, as the agent does."""
        ident = self.copies.get(ident) or ident
        idents = list(self.messages)
        self.undone.update(idents[idents.index(ident) if ident in self.messages else 0 :])

    def exchange(self, messages: list[Message]) -> None:
        """Take the list that the model is given from here on."""
        given = {message.id for message in messages}
        dropped = [old for old in self._shown() if old.id not in given]
        kept = [message.id for message in messages if message.id in self.messages]
        for message in messages:
            # What is known already is fuller: long outputs are cut here.
            self.messages.setdefault(message.id, message)
        # The model's own messages name it; those that were written down again do not.
        if dropped and not any(message.model for message in messages):
            kept += self._pass_over(messages, dropped)
        self._undo_after(kept, dropped)

    def _shown(self) -> list[Message]:
        return [message for ident, message in self.messages.items() if ident not in self.undone and ident not in self.copies]

    def _pass_over(self, messages: list[Message], dropped: list[Message]) -> list[str]:
        """Find out which messages are copies; returns what they are copies of."""
        originals: dict[str, list[str]] = {}
        for old in dropped:
            if old.type == "user" and (text := typed(old)):
                originals.setdefault(text, []).append(old.id)
        found = []
        for message in messages:
            repeated = originals.get(typed(message)) if message.type == "user" else None
            if repeated:
                found.append(repeated.pop(0))
                self.copies[message.id] = found[-1]
            elif message.type != "user":
                self.copies[message.id] = None
        return found

    def _undo_after(self, kept: list[str], dropped: list[Message]) -> None:
        """What was dropped from the end is undone; what was dropped before that only makes room."""
        places = {ident: place for place, ident in enumerate(self.messages)}
        last = max((places[ident] for ident in kept if ident not in self.copies), default=len(places))
        self.undone.update(old.id for old in dropped if places[old.id] > last)
