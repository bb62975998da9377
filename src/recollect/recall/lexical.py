"""Search by words: all of them first, any of them only when that finds too little.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.clock import iso
from recollect.lookup import Hit, SearchResult
from recollect.recall.snippet import snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.lookup import Query
    from recollect.store import Store


def search(store: Store, query: Query, *, domains: dict[str, list[str]], limit: int, offset: int = 0) -> SearchResult:
    """The turns a query finds, each with a snippet cut from what was said."""
    matches = store.search_text(query, domains=domains, any_word=False, limit=limit, offset=offset)
    relaxed = False
    if not matches and not offset and sum(not term.negated for term in query.terms) > 1:
        matches = store.search_text(query, domains=domains, any_word=True, limit=limit, offset=offset)
        relaxed = bool(matches)
    words = store.words([term.text for term in query.terms if not term.negated])
    hits = [
        Hit(
            ref=f"{match.session}#{match.ordinal}",
            session=match.session,
            turn=match.ordinal,
            agent=match.agent,
            project=match.project,
            at=iso(match.at),
            score=round(match.score, 4),
            matched="text",
            snippet=snippet(store.turn_rows(match.turn), words),
        )
        for match in matches
    ]
    return SearchResult(hits, relaxed=relaxed)
