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

from recollect.clock import iso, now_ms
from recollect.lookup import Hit, SearchResult
from recollect.recall import rank
from recollect.recall.clues import clues
from recollect.recall.snippet import snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.lookup import Place, Scope
    from recollect.recall.closeness import Closeness
    from recollect.recall.when import Span
    from recollect.store import Store

# Candidates that are looked at closely, and of these the ones whose neighbours
# and words are. More of each changed nothing on any of our sets.
MOST_BY_WORDS = 300
MOST_BY_MEANING = 150
MOST_WITH_NEIGHBOURS = 60
MOST_COMPARED = 50


class Asked:
    """A search as somebody wants it: in which turns, by what, and which page."""

    __slots__ = ("by_words", "closeness", "explain", "here", "limit", "now", "offset", "scope", "span", "vector")

    def __init__(
        self,
        scope: Scope,
        *,
        by_words: bool = True,
        vector: Sequence[float] | None = None,
        closeness: Closeness | None = None,
        span: Span | None = None,
        here: str | None = None,
        now: int | None = None,
        limit: int = 10,
        offset: int = 0,
        explain: bool = False,
    ) -> None:
        self.scope, self.by_words, self.vector, self.closeness = scope, by_words, vector, closeness
        self.span, self.here, self.now = span, here, now_ms() if now is None else now
        self.limit, self.offset, self.explain = limit, offset, explain


def search(store: Store, asked: Asked) -> SearchResult:
    """The turns that answer, each with a snippet cut from what was said."""
    end = asked.offset + asked.limit
    wanted = clues(asked.scope.query, store.words)
    if not wanted and asked.vector is None:
        # Filters alone ask for what is new; signs alone, such as an emoji, are in no index.
        places = [] if asked.scope.query.terms else store.newest_turns(asked.scope, limit=end + 1)
        hits = [_hit(store, rank.Score(place), "text", []) for place in places[asked.offset : end]]
        return SearchResult(hits, more=len(places) > end)
    pool = Pool(store, asked, rank.Words(store.find_clues(wanted if asked.by_words else [], asked.scope)))
    ranked = pool.ranked()
    page = ranked[asked.offset : end]
    words = list(dict.fromkeys(word for clue in wanted for word in clue.words))
    hits = [_hit(store, score, pool.matched(score), words, explain=asked.explain) for score in page]
    return SearchResult(hits, more=len(ranked) > end, relaxed=any(pool.is_partial(score) for score in page))


class Pool:
    """The turns that may be an answer, with their scores."""

    def __init__(self, store: Store, asked: Asked, words: rank.Words) -> None:
        self.store, self.asked, self.words = store, asked, words
        self.near: dict[int, float] = {}
        if asked.vector is not None:
            most = max(MOST_BY_MEANING, asked.offset + asked.limit)
            self.near = dict(store.search_vector(asked.vector, asked.scope, limit=most))
        self.scores: dict[int, rank.Score] = {}
        self._admit(store.places({*self._best_by_words(), *self.near}))
        if asked.vector is not None:
            # A neighbour may be meant without holding a word; by words alone it would be no answer.
            self._admit(store.neighbours(self._places_of_best(MOST_WITH_NEIGHBOURS), rank.REACH, asked.scope))

    def _best_by_words(self) -> list[int]:
        """The best turns by their words: all of the words if there are enough such turns, else any."""
        wanted = self.asked.offset + self.asked.limit
        complete = self.words.complete()
        candidates = complete if len(complete) > wanted else self.words.turns
        return sorted(candidates, key=lambda turn: (-self.words.turns[turn], turn))[: max(MOST_BY_WORDS, wanted + 1)]

    def _admit(self, places: Mapping[int, Place]) -> None:
        """Take more turns in and score all of them anew."""
        new = [turn for turn in places if turn not in self.scores]
        cosines = self.near
        if self.asked.vector is not None:
            cosines = {**self.store.score_vectors(self.asked.vector, [turn for turn in new if turn not in self.near]), **self.near}
        said = self.store.turn_words(new)
        for turn in new:
            score = self.scores[turn] = rank.Score(places[turn])
            score.cosine = max(0.0, cosines.get(turn, 0.0))
            score.fullness = min(1.0, len(said.get(turn, b"")) / 2 / rank.FULL_WORDS)
            score.when = self.asked.span.nearness(score.place.at) if self.asked.span else 0.0
            score.lift = rank.lift(score.place, now=self.asked.now, here=self.asked.here)
        rank.acquaint(self.scores.values())
        rank.set_words(self.scores.values(), self.words)
        if self.asked.vector is not None:
            rank.set_meaning(self.scores.values())

    def _places_of_best(self, count: int) -> list[Place]:
        return [score.place for score in sorted(self.scores.values(), key=lambda score: -score.total)[:count]]

    def ranked(self) -> list[rank.Score]:
        """Best first; the best by words and vectors are compared word by word before the last say."""
        if self.asked.closeness is not None:
            best = [self.scores[place.turn] for place in self._places_of_best(MOST_COMPARED)]
            compared = {score.place.turn: score for one in best for score in (one, *(other for other, _ in one.around))}
            rank.set_closeness(compared.values(), self.asked.closeness.tables(self.store.turn_words(list(compared))))
        found = self.scores.values()
        if self.asked.vector is None:
            # By words alone a turn must hold some, and holding all of them comes before any other merit.
            return rank.folded((score for score in found if score.place.turn in self.words.turns), last=self.is_partial)
        return rank.folded(found)

    def matched(self, score: rank.Score) -> str:
        """Whether words, meaning or both speak for a turn."""
        if score.place.turn not in self.words.turns:
            return "meaning"
        return "both" if score.place.turn in self.near else "text"

    def is_partial(self, score: rank.Score) -> bool:
        """Whether a turn holds some of the words and not all."""
        return self.words.held.get(score.place.turn, self.words.needed) < self.words.needed


def _hit(store: Store, score: rank.Score, matched: str, words: list[str], *, explain: bool = False) -> Hit:
    place = score.place
    return Hit(
        ref=place.ref,
        session=place.session_ref,
        turn=place.ordinal,
        agent=place.agent,
        project=place.project,
        at=iso(place.at),
        score=round(score.total, 4),
        matched=matched,
        snippet=snippet(store.turn_rows(place.turn), words),
        reason=score.reason() if explain else None,
    )
