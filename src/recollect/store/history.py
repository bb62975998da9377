"""A session's turns as distilling sees them: everything that
happened, without the store's dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from recollect.model.calls import Call, PlainEvent
from recollect.model.logs import Author
from recollect.model.sessions import Tokens
from recollect.store.events import events_in


class Passage:
    """One turn: where it is, who began it, and its events as stored rows
    (see `store.bodies` for the columns).

    One that is not `whole` had its events let go: its rows are what little stays of them.
    """

    __slots__ = (
        "_events",
        "at",
        "author",
        "ended_at",
        "live",
        "ordinal",
        "project",
        "ref",
        "rows",
        "said",
        "tokens",
        "turn",
        "whole",
    )

    def __init__(
        self, turn: int, ref: str, ordinal: int, author: Author, live: bool, project: str | None,
        at: int | None, ended_at: int | None, tokens: Tokens, rows: list[list[Any]],
        whole: bool = True,
    ) -> None:  # fmt: skip
        self.turn, self.ref, self.ordinal, self.author, self.live, self.project = (
            turn,
            ref,
            ordinal,
            author,
            live,
            project,
        )
        self.at, self.ended_at, self.tokens, self.rows, self.whole = (
            at,
            ended_at,
            tokens,
            rows,
            whole,
        )
        self._events: list[Call | PlainEvent] | None = None
        self.said: str | None = None
        """What `distill.tasks.tasks.prompt_of` took for its prompt, once that was asked."""

    @property
    def events(self) -> list[Call | PlainEvent]:
        """What happened in it, in order."""
        if self._events is None:
            self._events = events_in(self.turn, self.rows)
        return self._events


def state_of(passages: Sequence[Passage]) -> str:
    """Equal for the same turns with the same events, however these are stored.

    Another one when anything in them changed.
    """
    import xxhash

    whole = xxhash.xxh3_64()
    for passage in passages:
        whole.update(msgspec.msgpack.encode((passage.ordinal, passage.live, passage.rows)))
    return whole.hexdigest()
