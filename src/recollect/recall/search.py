"""Search by word, by meaning, or by both.

    words ─► clues ─► the text index ─┐
                                      ├─► candidates and their neighbours ─► scores ─► hits
    text ─► vector ─► nearest turns ──┘

Words and meaning are weighed together; when the best of it all is no evidence
that anything here has to do with the query, the answer is empty. Without a
vector the answer is the best that words can give.

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
    from recollect.model.search import Clue, Place, Scope
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
# Of a long query so many words are looked at for what stands beside them.
MOST_IN_PHRASES = 16
# So many of the best are asked whether anything here is relevant.
NEAREST_SHOWN = 10
# Whoever reads on beyond the candidates gets so many by meaning.
MOST_BEYOND = 1_000
MOST_BODIES = 100


class SearchRequest:
    """A search as somebody wants it: in which turns, by what, and which page."""

    __slots__ = (
        "closeness",
        "explain",
        "here",
        "known",
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
        # How much of the query the encoder knows.
        self.known = 1.0
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
        rank.Words(
            store.text.find([] if request.mode == "vector" else wanted, request.scope, rank.FIELDS)
        ),
    )
    ranked = pool.ranked()
    if not pool.is_relevant(ranked[:NEAREST_SHOWN]):
        return SearchResult([], nearest=_hits(store, ranked[:1], pool.matched, _words(wanted)))
    if len(ranked) <= end:
        ranked = rank.unique([*ranked, *pool.beyond()])
    page = ranked[request.offset : end]
    hits = _hits(store, page, pool.matched, _words(wanted), explain=request.explain)
    return SearchResult(
        hits, more=len(ranked) > end, relaxed=any(pool.is_partial(score) for score in page)
    )


def _words(wanted: list[Clue]) -> list[str]:
    return list(dict.fromkeys(word for clue in wanted for word in clue.words))


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
        self.background = (0.0, 1.0)
        if request.vector is not None:
            self.background = store.nearest.background(request.vector)
            self.near = dict(
                store.nearest.search(request.vector, request.scope, limit=MOST_BY_MEANING)
            )
        self.worded = self._by_words()
        self.meaning_counts = rank.meaning_counts(self._share_alone())
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
        """The turns that words can find, best first.

        By words alone those that hold all of them, if there are enough, else any.
        """
        words = self.words
        if self.request.vector is not None:
            return sorted(words.turns, key=lambda turn: (-words.score(turn), turn))
        complete = words.complete()
        enough = 1 if words.words < rank.FEW_WORDS else ENOUGH
        found = complete if len(complete) >= enough else words.turns
        return sorted(found, key=lambda turn: (words.is_partial(turn), -words.score(turn), turn))

    def _share_alone(self) -> float:
        """Which share of the store's turns stands alone; 0 where it is too small to matter."""
        words = self.words
        # No more turns can be alone than there are sessions: most stores need no look.
        few = words.all_sessions <= rank.ALONE_FROM * words.all_turns
        return 0.0 if few or self.request.vector is None else self.store.turns.share_alone()

    def _promising(self, places: dict[int, Place]) -> list[Place]:
        """The best of the first candidates, as far as one can tell so soon."""
        promise = {}
        for turn, place in places.items():
            score = rank.Score(place, self.meaning_counts)
            score.words = self.words.score(turn)
            if turn in self.near:
                rank.set_meaning(score, self.near[turn], self.background, self.request.known)
            promise[turn] = score.total
        best = sorted(places, key=lambda turn: (-promise[turn], turn))
        return [places[turn] for turn in best[:MOST_WITH_NEIGHBOURS]]

    def _score(self, place: Place) -> rank.Score:
        score = rank.Score(place, self.meaning_counts)
        score.when = self.request.span.nearness(place.at) if self.request.span else 0.0
        score.lift = rank.lift(place, now=self.request.now, here=self.request.here)
        return score

    def _add_meaning(self, scores: dict[int, rank.Score], vector: Sequence[float]) -> None:
        for turn, (cosine, said) in self.store.nearest.compare(vector, list(scores)).items():
            self.said[turn] = said
            rank.set_meaning(scores[turn], cosine, self.background, self.request.known)
        # Each word is noted as a number of two bytes.
        sizes = {turn: len(self.said[turn]) // 2 for turn in scores if turn in self.said}
        rank.set_context(scores.values(), sizes)

    def ranked(self) -> list[rank.Score]:
        """Best first; the best by words and vectors are compared
        word by word before the last say.
        """
        found = list(self.scores.values())
        by_words = self.request.vector is None
        if by_words:
            # By words alone a turn must hold some, and holding all of them
            # comes before any other merit.
            found = [score for score in found if score.place.turn in self.words.turns]
        best = sorted(found, key=lambda score: (-score.total, score.place.turn))[:MOST_COMPARED]
        if self.request.closeness is not None:
            nearby = [other for one in best for other, _ in one.around]
            around = {score.place.turn: score for score in (*best, *nearby)}
            compared = {turn: score for turn, score in around.items() if turn in self.said}
            rank.set_closeness(
                compared.values(),
                self.request.closeness.tables({turn: self.said[turn] for turn in compared}),
                self.request.closeness.known,
            )
        self._add_phrases(best)
        return rank.best_first(found, last=self.is_partial if by_words else None)

    def _add_phrases(self, best: list[rank.Score]) -> None:
        """Look where the words of the query stand in the best turns."""
        weights = self.words.weights
        row = [
            clue.words[0]
            for clue in clues(self.request.scope.query)
            if clue.words[0] in weights and len(clue.words) == 1 and not clue.extra
        ][:MOST_IN_PHRASES]
        if len(row) > 1 and best:
            turns = [score.place.turn for score in best]
            places = self.store.text.positions(
                row, turns, sum(self.words.counts[word] for word in row)
            )
            rank.set_phrases(best, places, [weights[word] for word in row], self.words.needed)

    def is_relevant(self, best: list[rank.Score]) -> bool:
        """Whether these have to do with the query.

        Who asks for words or for vectors alone, or for something in quotes, has
        said what an answer is.
        """
        query = self.request.scope.query
        if self.request.mode != "hybrid" or any(t.quoted or t.prefix for t in query.terms):
            return True
        if any(self.words.share(score.place.turn) >= rank.ALL_OF_IT for score in best):
            return True
        most = max((score.evidence(self.words) for score in best), default=0.0)
        # What the store is made of is looked at only where it may matter.
        return most >= rank.relevant(self.words.all_turns) or most >= rank.relevant(
            self.words.all_turns, self.store.turns.share_at_work()
        )

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
