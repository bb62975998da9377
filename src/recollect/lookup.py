"""What a search asks and what it gives back.

Apart from model.py because a cold search may not afford what that imports:
these are plain classes with slots, and nothing else is loaded for them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Term:
    """One thing that must be found, or with `negated` must not be."""

    __slots__ = ("negated", "prefix", "text")

    def __init__(self, text: str, *, prefix: bool = False, negated: bool = False) -> None:
        self.text, self.prefix, self.negated = text, prefix, negated

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and repr(self) == repr(other)

    def __repr__(self) -> str:
        return f"Term({self.text!r}, prefix={self.prefix}, negated={self.negated})"


class Query:
    """What somebody wants to find: terms, and filters by name (each may come more than once)."""

    __slots__ = ("filters", "terms")

    def __init__(self, terms: list[Term] | None = None, filters: dict[str, list[str]] | None = None) -> None:
        self.terms = terms or []
        self.filters = filters or {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and (self.terms, self.filters) == (other.terms, other.filters)

    def __repr__(self) -> str:
        return f"Query({self.terms!r}, {self.filters!r})"

    def having(self, **filters: str | None) -> Query:
        """The same query with more filters; None adds nothing."""
        more = {name: list(values) for name, values in self.filters.items()}
        for name, value in filters.items():
            if value is not None:
                more.setdefault(name, []).append(value)
        return Query(self.terms, more)


class Hit:
    """One search result; the field names are those of the JSON contract."""

    __slots__ = ("agent", "at", "matched", "project", "ref", "score", "session", "snippet", "turn")
    FIELDS = ("ref", "session", "turn", "agent", "project", "at", "score", "matched", "snippet")

    def __init__(
        self,
        *,
        ref: str,
        session: str,
        turn: int,
        agent: str,
        project: str | None,
        at: str | None,
        score: float,
        matched: str,
        snippet: str,
    ) -> None:
        self.ref, self.session, self.turn, self.agent, self.project = ref, session, turn, agent, project
        self.at, self.score, self.matched, self.snippet = at, score, matched, snippet

    def as_dict(self) -> dict[str, object]:
        """The hit as the JSON contract names it."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and self.as_dict() == other.as_dict()

    def __repr__(self) -> str:
        return f"Hit({self.ref!r}, score={self.score:.3f}, snippet={self.snippet!r})"


class SearchResult:
    """Hits, best first, and what should be said about them.

    `relaxed` is true when not all of the words were found together, and hits
    with any of them are shown instead.
    """

    __slots__ = ("hits", "relaxed")

    def __init__(self, hits: list[Hit], *, relaxed: bool = False) -> None:
        self.hits, self.relaxed = hits, relaxed

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
