"""From what somebody typed to an answer: mode, vector, page, and what should be said besides.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

import os

from recollect.errors import EncoderUnavailable, UsageError, find_meant
from recollect.model.search import Query, Scope, SearchResult, Term
from recollect.recall.meaning import NOTHING_STORED, Meaning
from recollect.recall.search import SearchRequest, search
from recollect.recall.stop_words import STOP_WORDS
from recollect.recall.when import find_span, read_span
from recollect.system.clock import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.embed import Encoder
    from recollect.recall.when import TimeSpan
    from recollect.store import Store

MODES = ("hybrid", "text", "vector")
MARKS = ",;:?!.¿。？、"
# Words of questions about nothing but a time: what did I work on, what happened.
OF_DOING = frozenset((
    "anything", "change", "changed", "changes", "doing", "done", "everything", "get", "got",
    "happen", "happened", "list", "project", "repo", "repository", "session", "sessions", "show",
    "something", "stuff", "tell", "thing", "things", "work", "worked", "working",
    "was", "habe", "ich", "haben", "wir", "gemacht", "getan", "an", "in", "am", "im",
    "qué", "que", "hice", "hicimos", "la", "el", "en", "qu'est-ce", "ai", "j'ai", "fait",
    "dans", "tôi", "đã", "làm", "gì", "我", "我们", "做了什么", "做了些什么", "干了什么", "在",
    "私", "私は", "は", "に", "何をした", "何をしましたか", "何した", "何をやった",
    "나", "나는", "내가", "뭐", "뭘", "무엇을", "했어", "했지", "했나요", "에서",
))  # fmt: skip


def ask(
    store: Store,
    encoder: Callable[[], Encoder],
    scope: Scope,
    *,
    mode: str = "hybrid",
    limit: int = 10,
    offset: int = 0,
    cursor: str | None = None,
    explain: bool = False,
    here: str | None = None,
) -> SearchResult:
    """One page of answers to a query."""
    if mode not in MODES:
        raise UsageError(f'There is no mode "{mode}".', hint=f"Choose {', '.join(MODES)}.")
    query, upto = scope.query, None
    stamp = _stamp(query, mode)
    if cursor is not None:
        offset, upto = _read(cursor, stamp)
    query, span = _read_times(store, scope)
    scope = Scope(query, scope.domains, upto=upto)
    notices = remarks(store, scope)
    request, meaning = make_request(store, encoder, scope, mode=mode, span=span)
    if meaning.why_not:
        is_empty = meaning.why_not == NOTHING_STORED
        notices.append(f"{'' if is_empty else 'Searched by word only. '}{meaning.why_not}")
    request.limit, request.offset, request.explain = limit, offset, explain
    # By what is stored of the folder: asking git whose it is would cost more than the search.
    request.here = store.projects.find(with_those_above(here)) if here else None
    result = search(store, request)
    quoted = any(term.quoted and not term.negated for term in query.terms)
    if quoted and not result.hits and not store.turns.newest(request.scope, limit=1):
        request.scope = Scope(_unquoted(query), scope.domains, upto=upto)
        result = search(store, request)
        result.relaxed = bool(result.hits)
        notices.append("No turn has the phrase in quotes. Its words were searched one by one.")
    if result.nearest is not None:
        notices.append(f"Nothing relevant found. Nearest: {result.nearest.ref}")
    result.mode, result.remarks, result.unembedded = request.mode, notices, meaning.unembedded
    if result.more and limit:
        result.cursor = f"{offset + limit}.{upto or store.turns.last()}.{stamp:08x}"
    return result


def make_request(
    store: Store,
    encoder: Callable[[], Encoder],
    scope: Scope,
    *,
    mode: str = "hybrid",
    span: TimeSpan | None = None,
) -> tuple[SearchRequest, Meaning]:
    """A search with everything that can be worked out of its words; `span` is
    a time that was taken out of them already.

    Without a vector it is one by words.
    """
    text = _said(scope.query)
    meaning = Meaning(store, encoder, text) if mode != "text" and text else Meaning.none()
    now = now_ms()
    request = SearchRequest(
        scope,
        mode=mode if meaning.vector is not None else "text",
        now=now,
        span=span or find_span(text, now),
    )
    request.vector = meaning.vector
    if request.mode == "hybrid":
        from recollect.recall.closeness import Closeness

        try:
            request.closeness = Closeness(text)
            if (store.vectors.encoder() or "").startswith("static:"):
                request.known = request.closeness.known
        except EncoderUnavailable:
            # The vectors are by another model, and do without the table of words.
            request.closeness = None
    return request, meaning


def _said(query: Query) -> str:
    return " ".join(term.text for term in query.terms if not term.negated)


def _read_times(store: Store, scope: Scope) -> tuple[Query, TimeSpan | None]:
    """The query without the words that say a time, and the time.

    "what did I do yesterday" and "last week in webshop" ask for nothing but a
    time and a project: these become filters.
    """
    query = scope.query
    plain = not any(term.quoted or term.negated or term.prefix for term in query.terms)
    if not plain or not {"since", "until"}.isdisjoint(query.filters):
        return query, None
    span, rest = read_span(_said(query), now_ms())
    dates = span.dates() if span else None
    if span is None or dates is None:
        return query, None
    left = [word for word in rest.split() if not _is_filler(word)]
    first, last = dates
    when = query.having(since=first, until=last)
    read = f"from {first} to {last}" if first != last else f"of {first}"
    if len(left) == 1 and "project" not in query.filters:
        named = {"project": [left[0].strip(MARKS)]}
        if store.turns.newest(Scope(Query([], named), scope.domains), limit=1):
            when, left = when.having(**named), []
            read += f" in {named['project'][0]}"
    if left:
        kept = [term for term in query.terms if term.text.lower() in rest.split()]
        return Query(kept or query.terms, query.filters, query.remarks), span
    when.terms = []
    some = store.turns.newest(Scope(when, scope.domains), limit=1)
    these = "These are the turns" if some else "There are no turns"
    when.remarks = [*query.remarks, f"{these} {read}. To search words, quote them."]
    return when, None


def _is_filler(word: str) -> bool:
    plain = word.strip(MARKS)
    return not plain or plain in STOP_WORDS or plain in OF_DOING


def with_those_above(folder: str) -> list[str]:
    """A folder and all it is in, the innermost first."""
    found = [folder]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _unquoted(query: Query) -> Query:
    terms = [term if term.negated else Term(term.text, prefix=term.prefix) for term in query.terms]
    return Query(terms, query.filters, query.remarks)


def _stamp(query: Query, mode: str) -> int:
    """Tells one search from another."""
    from zlib import crc32

    return crc32(
        repr((query.terms, sorted(query.filters.items()), mode)).encode("utf-8", "replace")
    )


def _read(cursor: str, stamp: int) -> tuple[int, int]:
    """Where the next page begins and which turns it may have."""
    offset, _, rest = cursor.partition(".")
    upto, _, made_for = rest.partition(".")
    # No store has a turn of more than 15 digits, and SQLite takes no number of more than 18.
    if not all(number.isdecimal() and len(number) <= 15 for number in (offset, upto)):
        raise UsageError(
            f'"{cursor[:50]}" is not a cursor.', hint="Use the one that the last page ended with."
        )
    if made_for != f"{stamp:08x}":
        raise UsageError(
            "This cursor belongs to another search.",
            hint="Repeat the query, filters and mode that it came from.",
        )
    return int(offset), int(upto)


def remarks(store: Store, scope: Scope) -> list[str]:
    """What a person should know about a query besides what it finds."""
    filters, made = scope.query.filters, list(scope.query.remarks)
    if "outcome" in filters or "-outcome" in filters:
        undigested = store.digests.count_outdated()
        if undigested:
            made.append(
                f"Sessions without an outcome: {undigested}. Work it out now: recollect jobs run"
            )
    made += _unknown_agents(store, filters.get("agent", []))
    known = ", ".join(scope.domains) or "none yet; add some under [domains] in config.toml"
    for value in filters.get("domain", []) + filters.get("-domain", []):
        if value not in scope.domains:
            made.append(f'There is no domain "{value}". Domains: {known}')
    return made


def _unknown_agents(store: Store, wanted: list[str]) -> list[str]:
    """What to say of agents by names that none here has."""
    if not wanted:
        return []
    known = store.sessions.agents()
    # claude is claude-code, as the filter has it.
    names = list(dict.fromkeys(name for agent in known for name in (agent.split("-")[0], agent)))
    made = []
    for value in wanted:
        if not known or "*" in value or "?" in value or value.lower() in names:
            continue
        if any(agent.startswith(f"{value.lower()}-") for agent in known):
            continue
        near = find_meant(value, names)
        hint = f"Did you mean {near}?" if near else f"Agents here: {', '.join(known)}."
        made.append(f"There is no agent `{value[:50]}`. {hint}")
    return made
