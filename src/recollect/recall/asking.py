"""From what somebody typed to an answer: mode, vector, page, and what should be said besides.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

import os
from array import array
from operator import mul

from recollect.clock import now_ms
from recollect.errors import EncoderUnavailable, UsageError
from recollect.lookup import Query, Scope, SearchResult, Term
from recollect.recall.search import Asked, search
from recollect.recall.when import find_span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.embed import Encoder
    from recollect.recall.closeness import Closeness
    from recollect.store import Store


MODES = ("hybrid", "text", "vector")


class Meaning:
    """The query as a vector, or the reason why there is none."""

    __slots__ = ("unembedded", "vector", "why_not")

    def __init__(self, store: Store, encoder: Callable[[], Encoder], text: str) -> None:
        self.vector: array[float] | None = None
        self.why_not = ""
        self.unembedded = store.unembedded()
        made_by = store.vector_encoder()
        if made_by is None:
            self.why_not = "no turn is embedded yet: `recollect embed` does it, or wait for the work after an import"
            return
        try:
            chosen = encoder()
            if chosen.name == made_by:
                self.vector = apart(chosen.encode_query(text), store.mean_vector())
            else:
                self.why_not = f"the stored vectors are by {made_by}, not {chosen.name}: run `recollect embed`"
        except EncoderUnavailable as error:
            self.why_not = f"{error}; {error.hint}"


def apart(vector: array[float], mean: array[float] | None) -> array[float] | None:
    """What sets a vector apart from all that is stored; None when that is nothing.

    All turns of a store have something in common, such as two people's names
    or one framework, and a query that mentions it would be near to all of
    them. Without that part R@10 on conversations is 0.01 higher.
    """
    if mean is not None and len(mean) == len(vector):
        shared = sum(map(mul, vector, mean))
        vector = array("f", [number - shared * common for number, common in zip(vector, mean, strict=True)])
    return vector if any(vector) else None


def ask(
    store: Store,
    encoder: Callable[[], Encoder],
    query: Query,
    *,
    mode: str = "hybrid",
    domains: dict[str, list[str]],
    limit: int = 10,
    offset: int = 0,
    cursor: str | None = None,
    explain: bool = False,
    here: str | None = None,
) -> SearchResult:
    """One page of answers to a query."""
    if mode not in MODES:
        raise UsageError(f"no mode is called {mode}", hint=f"known: {', '.join(MODES)}")
    stamp = _stamp(query, mode)
    upto = None
    if cursor is not None:
        offset, upto = _read(cursor, stamp)
    remarks = store.remarks(query, domains)
    text = wording(query)
    meaning = Meaning(store, encoder, text) if mode != "text" and text else None
    if meaning is None or meaning.vector is None:
        mode = "text"
        if meaning is not None and meaning.why_not:
            remarks.append(f"searched by words only: {meaning.why_not}")
    now = now_ms()
    asked = Asked(
        Scope(query, domains, upto=upto),
        by_words=mode != "vector",
        vector=meaning.vector if meaning else None,
        closeness=_closeness(text) if mode == "hybrid" else None,
        span=find_span(text, now),
        here=store.find_project(_with_those_above(here)) if here else None,
        now=now,
        limit=limit,
        offset=offset,
        explain=explain,
    )
    result = search(store, asked)
    if not result.hits and any(term.quoted and not term.negated for term in query.terms):
        asked.scope = Scope(_unquoted(query), domains, upto=upto)
        result = search(store, asked)
        result.relaxed = bool(result.hits)
    result.mode, result.remarks = mode, remarks
    result.unembedded = meaning.unembedded if meaning else 0
    if result.more:
        result.cursor = f"{offset + limit}.{upto or store.last_turn()}.{stamp:08x}"
    return result


def _with_those_above(folder: str) -> list[str]:
    """A folder and all it is in, the innermost first."""
    found = [folder]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _closeness(text: str) -> Closeness:
    from recollect.recall.closeness import Closeness

    return Closeness(text)


def wording(query: Query) -> str:
    """What a query says apart from its filters and from what it does not want."""
    return " ".join(term.text for term in query.terms if not term.negated)


def _unquoted(query: Query) -> Query:
    terms = [term if term.negated else Term(term.text, prefix=term.prefix) for term in query.terms]
    return Query(terms, query.filters, query.remarks)


def _stamp(query: Query, mode: str) -> int:
    """Tells one search from another."""
    from zlib import crc32

    return crc32(repr((query.terms, sorted(query.filters.items()), mode)).encode("utf-8", "replace"))


def _read(cursor: str, stamp: int) -> tuple[int, int]:
    """Where the next page begins and which turns it may have."""
    offset, _, rest = cursor.partition(".")
    upto, _, made_for = rest.partition(".")
    if not (offset.isdecimal() and upto.isdecimal() and len(cursor) < 60):
        raise UsageError(f"{cursor[:60]!r} is no cursor", hint="use the one that the answer before ended with")
    if made_for != f"{stamp:08x}":
        raise UsageError("this cursor belongs to another search", hint="repeat the query, filters and mode it came from")
    return int(offset), int(upto)
