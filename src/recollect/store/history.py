"""A session's turns as distilling sees them: everything that happened, without the store's dialect."""

from __future__ import annotations

from typing import Any

from recollect.model import Author, Tokens


class Passage:
    """One turn: where it is, who began it, and its events as stored rows (see `store.bodies` for the columns)."""

    __slots__ = ("at", "author", "ended_at", "live", "ordinal", "project", "ref", "rows", "tokens", "turn")

    def __init__(
        self, turn: int, ref: str, ordinal: int, author: Author, live: bool, project: str | None,
        at: int | None, ended_at: int | None, tokens: Tokens, rows: list[list[Any]],
    ) -> None:  # fmt: skip
        self.turn, self.ref, self.ordinal, self.author, self.live, self.project = turn, ref, ordinal, author, live, project
        self.at, self.ended_at, self.tokens, self.rows = at, ended_at, tokens, rows
