"""Search by word, by meaning, or by both.

    words ─► clues ─► the text index ─┐
                                      ├─► candidates and their neighbours ─► scores ─► hits
    text ─► vector ─► nearest turns ──┘

All words first: turns that hold only some of them are shown when those that
hold all are too few. Without a vector the answer is the best that words can
give.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.search import Hit, SearchResult
from recollect.recall import rank
from recollect.recall.clues import clues
from recollect.recall.snippet import snippet
from recollect.system.clock import iso, now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.model.calls import Call, PlainEvent
    from recollect.model.search import Place, Scope
    from recollect.recall.closeness import Closeness
    from recollect.recall.when import TimeSpan
    from recollect.store import Store

# Candidates by words and by meaning; of these the best, whose neighbours are
# candidates too; and of all of them the best, which are compared word by word.
# Twice as many of each change no R@10 or MRR of our sets by more than 0.006.
MOST_BY_WORDS = 100
MOST_BY_MEANING = 100
MOST_WITH_NEIGHBOURS = 30
MOST_COMPARED = 20
# Turns that hold only some of the words are candidates when fewer than so many
# hold all of them; of a short query one will do, because its words were chosen.
ENOUGH = 10
# Whoever reads on beyond the candidates gets so many by meaning.
MOST_BEYOND = 1_000
MOST_BODIES = 100


class SearchRequest:
    """A search as somebody wants it: in which turns, by what, and which page."""

    __slots__ = (
        "closeness",
        "explain",
        "here",
        "limit",
        "mode",
        "now",
        "offset",
        "scope",
        "span",
        "vector",
    )

    def __init__(
        self,
        scope: Scope,
        *,
        mode: str = "text",
        now: int | None = None,
        span: TimeSpan | None = None,
    ) -> None:
        self.scope, self.mode, self.span = scope, mode, span
        self.now = now_ms() if now is None else now
        self.vector: Sequence[float] | None = None
        self.closeness: Closeness | None = None
        self.here: str | None = None
        self.limit, self.offset, self.explain = 10, 0, False


def search(store: Store, request: SearchRequest) -> SearchResult:
    """The turns that answer, each with a snippet cut from what was said."""
    end = request.offset + request.limit
    wanted = clues(request.scope.query)
    if not wanted and request.vector is None:
        # Filters alone ask for what is new; signs alone, such as an emoji, are in no index.
        signs = any(not term.negated for term in request.scope.query.terms)
        places = (
            []
            if signs
            else store.turns.newest(request.scope, limit=request.limit + 1, offset=request.offset)
        )
        scores = [rank.Score(place) for place in places[: request.limit]]
        return SearchResult(
            _hits(store, scores, lambda _: "text", [], explain=request.explain),
            more=len(places) > request.limit,
        )
    pool = Candidates(
        store,
        request,
        rank.Words(store.text.find([] if request.mode == "vector" else wanted, request.scope)),
    )
    ranked = pool.ranked()
    if len(ranked) <= end:
        ranked = rank.unique([*ranked, *pool.beyond()])
    page = ranked[request.offset : end]
    words = list(dict.fromkeys(word for clue in wanted for word in clue.words))
    hits = _hits(store, page, pool.matched, words, explain=request.explain)
    return SearchResult(
        hits, more=len(ranked) > end, relaxed=any(pool.is_partial(score) for score in page)
    )


def nearest(store: Store, scope: Scope, vector: Sequence[float], limit: int) -> SearchResult:
    """The turns whose vectors are nearest to one, by that alone; the score is the cosine."""
    found = dict(store.nearest.search(vector, scope, limit=limit))
    places = store.turns.places(found)
    hits = _hits(store, [rank.Score(places[turn]) for turn in found], lambda _: "meaning", [])
    for hit, cosine in zip(hits, found.values(), strict=True):
        hit.score = round(cosine, 4)
    return SearchResult(hits, mode="vector")


class Candidates:
    """The turns that may be an answer, with their scores.

    Which they are does not depend on which page is asked for: all pages of
    an answer are cut from one list.
    """

    def __init__(self, store: Store, request: SearchRequest, words: rank.Words) -> None:
        self.store, self.request, self.words = store, request, words
        self.near: dict[int, float] = {}
        self.further: dict[int, float] = {}
        self.said: dict[int, bytes] = {}
        self.most_meaning = 0.0
        if request.vector is not None:
            self.near = dict(
                store.nearest.search(request.vector, request.scope, limit=MOST_BY_MEANING)
            )
        self.worded = self._by_words()
        places = store.turns.places({*self.worded[:MOST_BY_WORDS], *self.near})
        if request.vector is not None:
            # A neighbour may be meant without holding a word; by words alone it would be no answer.
            places |= store.turns.neighbours(self._promising(places), rank.REACH, request.scope)
        self.scores = {turn: self._score(place) for turn, place in places.items()}
        rank.set_neighbours(self.scores.values())
        rank.set_words(self.scores.values(), words)
        if request.vector is not None:
            self._add_meaning(self.scores, request.vector)

    def _by_words(self) -> list[int]:
        """The turns that words can find, best first: those that hold all of
        them if there are enough, else any.
        """
        complete = self.words.complete()
        enough = 1 if self.words.words < rank.FEW_WORDS else ENOUGH
        found = complete if len(complete) >= enough else self.words.turns
        return sorted(
            found, key=lambda turn: (self.words.is_partial(turn), -self.words.promise(turn), turn)
        )

    def _promising(self, places: dict[int, Place]) -> list[Place]:
        """The best of the first candidates, as far as one can tell so soon."""
        most_near = max(self.near.values(), default=0.0) or 1.0

        def promise(turn: int) -> float:
            return (
                self.words.trust * self.words.promise(turn) + self.near.get(turn, 0.0) / most_near
            )

        return [
            places[turn]
            for turn in sorted(places, key=lambda turn: (-promise(turn), turn))[
                :MOST_WITH_NEIGHBOURS
            ]
        ]

    def _score(self, place: Place) -> rank.Score:
        score = rank.Score(place)
        # By words alone there is nothing else to believe.
        score.trust = self.words.trust if self.request.vector is not None else 1.0
        score.when = self.request.span.nearness(place.at) if self.request.span else 0.0
        score.lift = rank.lift(place, now=self.request.now, here=self.request.here)
        return score

    def _add_meaning(self, scores: dict[int, rank.Score], vector: Sequence[float]) -> None:
        for turn, (cosine, said) in self.store.nearest.compare(vector, list(scores)).items():
            self.said[turn] = said
            scores[turn].cosine = max(0.0, cosine)
            scores[turn].fullness = min(1.0, len(said) / 2 / rank.FULL_WORDS)
        self.most_meaning = rank.set_meaning(scores.values(), self.most_meaning)
        for turn, score in scores.items():
            if turn not in self.said:
                # Not embedded yet: its words have to speak for all that is not known of it.
                score.meaning = score.closeness = score.fullness = score.words

    def ranked(self) -> list[rank.Score]:
        """Best first; the best by words and vectors are compared
        word by word before the last say.
        """
        found = self.scores.values()
        if self.request.vector is None:
            # By words alone a turn must hold some, and holding all of them
            # comes before any other merit.
            return rank.best_first(
                (score for score in found if score.place.turn in self.words.turns),
                last=self.is_partial,
            )
        if self.request.closeness is not None:
            best = sorted(found, key=lambda score: -score.total)[:MOST_COMPARED]
            nearby = [other for one in best for other, _ in one.around]
            around = {score.place.turn: score for score in (*best, *nearby)}
            compared = {turn: score for turn, score in around.items() if turn in self.said}
            rank.set_closeness(
                compared.values(),
                self.request.closeness.tables({turn: self.said[turn] for turn in compared}),
            )
        return rank.best_first(found)

    def beyond(self) -> list[rank.Score]:
        """What comes after the candidates for somebody who reads on, best first."""
        vector = self.request.vector
        if vector is not None:
            most = max(MOST_BEYOND, self.request.offset + self.request.limit + 1)
            self.further = dict(self.store.nearest.search(vector, self.request.scope, limit=most))
        turns = {*self.worded, *self.further} - self.scores.keys()
        scores = {
            turn: self._score(place) for turn, place in self.store.turns.places(turns).items()
        }
        rank.set_neighbours([*self.scores.values(), *scores.values()])
        rank.set_words(scores.values(), self.words)
        if vector is not None:
            self._add_meaning(scores, vector)
        return rank.best_first(scores.values(), last=self.is_partial if vector is None else None)

    def matched(self, score: rank.Score) -> str:
        """Whether words, meaning or both speak for a turn."""
        if score.place.turn not in self.words.turns:
            return "meaning"
        near = self.near if score.place.turn in self.scores else self.further
        return "both" if score.place.turn in near else "text"

    def is_partial(self, score: rank.Score) -> bool:
        """Whether a turn holds some of the words and not all."""
        return self.words.is_partial(score.place.turn)


def _hits(
    store: Store,
    scores: list[rank.Score],
    matched: Callable[[rank.Score], str],
    words: list[str],
    *,
    explain: bool = False,
) -> list[Hit]:
    """Scores as they are shown; of a long page only some bodies are in memory at a time."""
    hits = []
    for start in range(0, len(scores), MOST_BODIES):
        some = scores[start : start + MOST_BODIES]
        events = store.turns.events_of([score.place.turn for score in some])
        hits += [
            _hit(score, events[score.place.turn], matched(score), words, explain=explain)
            for score in some
            if score.place.ref not in store.left_out and not _is_aside(events[score.place.turn])
        ]
    return hits


def _is_aside(events: list[Call | PlainEvent]) -> bool:
    """Whether a turn, which a neighbour of it may call up, only told a client what to do."""
    return bool(events) and all(event.kind == "command" for event in events)


def _hit(
    score: rank.Score,
    events: list[Call | PlainEvent],
    matched: str,
    words: list[str],
    *,
    explain: bool,
) -> Hit:
    place = score.place
    said, writer = snippet(events, words)
    return Hit(
        ref=place.ref,
        session=place.session_ref,
        turn=place.ordinal,
        agent=place.agent,
        project=place.project,
        at=iso(place.at),
        score=round(score.total, 4),
        matched=matched,
        snippet=said,
        # What an agent was asked by another, or by itself, is no person's word.
        provenance="assistant" if writer == "user" and not place.by_person else writer,
        external=place.external,
        reason=score.reason() if explain else None,
    )
