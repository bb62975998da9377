"""A session's turns as distilling sees them: everything that happened in them."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model.calls import Call, PlainEvent
from recollect.model.logs import Author
from recollect.model.sessions import Tokens


class Passage:
    """One turn: where it is, who began it, and what happened in it, in order.

    One that is not `whole` had its events let go: what little stays of them is
    told where somebody asks for that.
    """

    __slots__ = (
        "at", "author", "ended_at", "events", "live", "ordinal", "project", "ref", "said", "tokens",
        "turn", "whole",
    )  # fmt: skip

    def __init__(
        self, turn: int, ref: str, ordinal: int, author: Author, live: bool, project: str | None,
        at: int | None, ended_at: int | None, tokens: Tokens,
        events: Sequence[Call | PlainEvent], whole: bool = True,
    ) -> None:  # fmt: skip
        self.turn, self.ref, self.ordinal, self.author, self.live = turn, ref, ordinal, author, live
        self.project, self.at, self.ended_at, self.tokens = project, at, ended_at, tokens
        self.events, self.whole = events, whole
        self.said: str | None = None
        """What `distill.tasks.tasks.prompt_of` took for its prompt, once that was asked."""
