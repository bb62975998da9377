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

from recollect.capture.adapters.gemini_cli.prompts import typed
from recollect.capture.logs.chats import Message


class Replay:
    """The messages of one file, in the order of their first appearance."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.undone: set[str] = set()
        # Messages under new ids, each with the id of what it repeats, where that is known.
        self.copies: dict[str, str | None] = {}
        # The list as the agent has it now, in its order.
        self._list: dict[str, None] = {}

    def take(self, message: Message) -> None:
        """One more message, or a later version of one."""
        self.messages[message.id] = message
        self.undone.discard(message.id)
        self._list[message.id] = None

    def restart(self) -> None:
        """The agent was started anew and begins with an empty list; nothing is undone by that."""
        self._list = {}

    def rewind(self, ident: str) -> None:
        """Undo a message and all after it.

        All there are when it is not known, as the agent does.
        """
        last = None
        while self._list and last != ident:
            last, _ = self._list.popitem()
            self.undone.add(self.copies.get(last) or last)

    def exchange(self, messages: list[Message]) -> None:
        """Take the list that the model is given from here on."""
        given = {message.id for message in messages}
        dropped = [ident for ident in self._list if ident not in given]
        for message in messages:
            # What is known already is fuller: long outputs are cut here.
            self.messages.setdefault(message.id, message)
        kept = given
        # The model's own messages name it; those that were written down again do not.
        if dropped and not any(message.model for message in messages):
            kept = (given | self._pass_over(messages, dropped)) - self.copies.keys()
        self._undo_after(kept)
        self._list = dict.fromkeys(message.id for message in messages)

    def _pass_over(self, messages: list[Message], dropped: list[str]) -> set[str]:
        """Find out which messages are copies; returns what they are copies of."""
        originals: dict[str, list[str]] = {}
        for ident in dropped:
            old = self.messages[ident]
            if old.type == "user" and (text := typed(old)):
                # A copy of a copy goes back to the first.
                originals.setdefault(text, []).append(self.copies.get(ident) or ident)
        for message in messages:
            repeated = originals.get(typed(message)) if message.type == "user" else None
            if repeated:
                self.copies[message.id] = repeated.pop(0)
            elif message.type != "user":
                self.copies[message.id] = None
        return {original for message in messages if (original := self.copies.get(message.id))}

    def _undo_after(self, kept: set[str]) -> None:
        """What was dropped from the end is undone; what was dropped before that only makes room."""
        after: list[str] = []
        for ident in reversed(self._list):
            if (self.copies.get(ident) or ident) in kept:
                self.undone.update(after)
                return
            after.append(self.copies.get(ident) or ident)
