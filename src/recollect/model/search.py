"""What a search asks and what it gives back.

Apart from model.py because a cold search may not afford what that imports:
these are plain classes with slots, and nothing else is loaded for them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    # What a filter is given: a value, several that are alternatives, or nothing.
    Filter = str | Sequence[str] | None


# The filters of the query language, and which turns each one picks; there is also `meta.KEY`.
FILTERS = {
    "agent": "of this agent",
    "project": "of this project",
    "session": "of this session",
    "domain": "of the projects of this domain",
    "file": "that read or changed this file",
    "tool": "that called this tool, or this kind of tool",
    "model": "answered by this model",
    "since": "from this time on",
    "until": "up to this time",
    "outcome": "with this outcome",
    "is": "of this kind",
}
META = "meta."
# Filters that take one of a few words.
CHOICES = {
    "outcome": ("success", "partial", "fail", "uncertain", "abandoned"),
    "is": ("error", "human", "live", "subagent", "headless", "external"),
}
# Nobody filters by longer values, or by more of them; what is longer was pasted.
# SQLite stops at expressions 1,000 deep.
LONGEST_VALUE = 1_000
MOST_VALUES = 100


def meta_key(name: str) -> str:
    """The key in a filter's name such as meta.git.branch; empty when the name is no such thing."""
    key = name[len(META) :] if name[: len(META)].lower() == META else ""
    return key if key.replace("_", "").replace("-", "").replace(".", "").isalnum() else ""


class Term:
    """One thing that must be found, or with `negated` must not be.

    What was `quoted` stands as it was written: its words in a row.
    """

    __slots__ = ("negated", "prefix", "quoted", "text")

    def __init__(
        self, text: str, *, prefix: bool = False, negated: bool = False, quoted: bool = False
    ) -> None:
        self.text, self.prefix, self.negated, self.quoted = text, prefix, negated, quoted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        how = f"prefix={self.prefix}, negated={self.negated}, quoted={self.quoted}"
        return f"Term({self.text!r}, {how})"

    def _values(self) -> tuple[object, ...]:
        return self.text, self.prefix, self.negated, self.quoted


class Query:
    """What somebody wants to find: terms, and filters by name.

    The values of one filter are alternatives; a name with a minus before it,
    such as `-agent`, leaves out what has any of its values. `remarks` is what
    the person should be told about how the text was understood.
    """

    __slots__ = ("filters", "remarks", "terms")

    def __init__(
        self,
        terms: list[Term] | None = None,
        filters: dict[str, list[str]] | None = None,
        remarks: list[str] | None = None,
    ) -> None:
        self.terms, self.filters, self.remarks = terms or [], filters or {}, remarks or []

    def __eq__(self, other: object) -> bool:
        mine = (self.terms, self.filters, self.remarks)
        return isinstance(other, Query) and mine == (other.terms, other.filters, other.remarks)

    def __repr__(self) -> str:
        return f"Query({self.terms!r}, {self.filters!r}, {self.remarks!r})"

    def having(self, **filters: Filter) -> Query:
        """The same query with more filters, each a value or several; None adds nothing."""
        more = {name: list(values) for name, values in self.filters.items()}
        for name, value in filters.items():
            values = [value] if isinstance(value, str) else value
            if values:
                more.setdefault(name, []).extend(values)
        return Query(self.terms, more, self.remarks)


class Scope:
    """The turns a search may find: those that pass a query's filters, hold
    its phrases and not what it negates.

    `upto` leaves out turns that were stored later, so that the pages of one
    search fit together while an agent is writing.
    """

    __slots__ = ("domains", "query", "upto")

    def __init__(
        self, query: Query, domains: dict[str, list[str]], *, upto: int | None = None
    ) -> None:
        self.query, self.domains, self.upto = query, domains, upto


class Clue:
    """One word, or several in a row, that a turn may hold.

    An `extra` clue only adds to what others found: its words are also looked
    for one by one.
    """

    __slots__ = ("extra", "prefix", "words")

    def __init__(
        self, words: tuple[str, ...], *, prefix: bool = False, extra: bool = False
    ) -> None:
        self.words, self.prefix, self.extra = words, prefix, extra

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clue) and (self.words, self.prefix) == (other.words, other.prefix)

    def __hash__(self) -> int:
        return hash((self.words, self.prefix))

    def __repr__(self) -> str:
        return f"Clue({self.words!r}, prefix={self.prefix}, extra={self.extra})"


class Holding:
    """The turns that hold one clue: how many of the whole store, and how
    strongly each that passes the filters. Those in `firm` hold it elsewhere
    than in output.
    """

    __slots__ = ("clue", "count", "firm", "turns")

    def __init__(
        self, clue: Clue, count: int, turns: dict[int, float], firm: Collection[int] = ()
    ) -> None:
        self.clue, self.count, self.turns, self.firm = clue, count, turns, firm


class Findings:
    """What the text index knows about some clues.

    `sessions` says to which session each of the turns belongs; the totals are
    those of the whole store, near enough to tell rare from common.
    """

    __slots__ = ("all_sessions", "all_turns", "holdings", "sessions")

    def __init__(
        self,
        holdings: list[Holding],
        sessions: dict[int, int],
        *,
        all_turns: int,
        all_sessions: int,
    ) -> None:
        self.holdings, self.sessions, self.all_turns, self.all_sessions = (
            holdings,
            sessions,
            all_turns,
            all_sessions,
        )


class Place:
    """Where and when a turn happened, and what else its rank depends on."""

    __slots__ = (
        "agent",
        "at",
        "author",
        "external",
        "key",
        "live",
        "ordinal",
        "origin",
        "project",
        "prompt",
        "session",
        "session_ref",
        "turn",
    )

    def __init__(
        self,
        turn: int,
        session: int,
        session_ref: str,
        agent: str,
        ordinal: int,
        at: int | None,
        project: str | None,
        origin: str,
        live: int,
        key: str,
        author: str = "human",
        external: int = 0,
        prompt: str = "",
    ) -> None:
        self.external, self.prompt = bool(external), prompt
        self.turn, self.session, self.session_ref, self.agent, self.ordinal = (
            turn,
            session,
            session_ref,
            agent,
            ordinal,
        )
        self.at, self.project, self.origin, self.live, self.key, self.author = (
            at,
            project,
            origin,
            live,
            key,
            author,
        )

    @property
    def ref(self) -> str:
        """What a person calls the turn."""
        return f"{self.session_ref}#{self.ordinal}"

    @property
    def is_command(self) -> bool:
        """Whether the prompt is one for the agent's client, such as `/review`, or its expansion."""
        word = self.prompt.split(maxsplit=1)[0] if self.prompt[:1] in "/<" and self.prompt else ""
        return word.startswith("<command-") or (word[1:2].islower() and "/" not in word[1:])

    @property
    def by_person(self) -> bool:
        """Whether a person asked for it here, and not an agent that was at work, or anybody."""
        return self.author == "human" and self.origin != "subagent" and not self.external


class Hit:
    """One search result; the field names are those of the JSON contract.

    `reason` is there when it was asked for: what the score is made of.
    `provenance` says who wrote the snippet: user, assistant, tool or web. With
    `external` its log came with a project, and may be anybody's.
    """

    __slots__ = (
        "agent",
        "at",
        "external",
        "matched",
        "project",
        "provenance",
        "reason",
        "ref",
        "score",
        "session",
        "snippet",
        "turn",
    )
    FIELDS = (
        "ref", "session", "turn", "agent", "project", "at", "score", "matched", "snippet",
        "external",
    )  # fmt: skip

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
        provenance: str = "user",
        external: bool = False,
        reason: dict[str, object] | None = None,
    ) -> None:
        self.ref, self.session, self.turn, self.agent, self.project = (
            ref,
            session,
            turn,
            agent,
            project,
        )
        self.at, self.score, self.matched, self.snippet, self.reason = (
            at,
            score,
            matched,
            snippet,
            reason,
        )
        self.provenance, self.external = provenance, external

    def as_dict(self) -> dict[str, object]:
        """The hit as the JSON contract names it."""
        named: dict[str, object] = {name: getattr(self, name) for name in self.FIELDS}
        return named if self.reason is None else {**named, "reason": self.reason}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and self.as_dict() == other.as_dict()

    def __repr__(self) -> str:
        return f"Hit({self.ref!r}, score={self.score:.3f}, snippet={self.snippet!r})"


class SessionName:
    """What a session is called where there is little room: the start of its id that means no
    other, and its title.
    """

    __slots__ = ("short", "title")

    def __init__(self, short: str, title: str | None) -> None:
        self.short, self.title = short, title


class SearchResult:
    """Hits, best first, and what should be said about them.

    `relaxed` is true when turns are shown that do not hold all of the words.
    `mode` is how the search was made: hybrid falls back to text when meaning
    cannot be had. `unembedded` turns could not be found by meaning yet. When
    there is `more`, `cursor` asks for it. `remarks` are sentences for a person.
    When nothing found is relevant, there are no hits, and `nearest` is what came nearest.
    """

    __slots__ = ("cursor", "hits", "mode", "more", "nearest", "relaxed", "remarks", "unembedded")

    def __init__(
        self,
        hits: list[Hit],
        *,
        mode: str = "text",
        more: bool = False,
        relaxed: bool = False,
        unembedded: int = 0,
        cursor: str | None = None,
        remarks: list[str] | None = None,
        nearest: Sequence[Hit] = (),
    ) -> None:
        self.nearest = nearest[0] if nearest else None
        self.hits, self.mode, self.more, self.relaxed, self.unembedded = (
            hits,
            mode,
            more,
            relaxed,
            unembedded,
        )
        self.cursor, self.remarks = cursor, remarks or []

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
