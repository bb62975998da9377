"""How well a turn answers a query: every weight is here, with the evidence for it.

    score  =  trust · (words + SESSION · session + CLOSENESS · closeness)
              + MEANING · meaning + WHEN · when + FULLNESS · fullness

Words: what the turn holds of the query's words, rare ones counting more.
Meaning: how near its vector is to the query's. Closeness: how near its words
are to each word of the query, one by one (worked out for the best turns only).
Session: what the whole session holds of the words. When: whether it happened
at a time the query names. Fullness: whether the turn says much at all. Each is
divided by the largest of its kind, so that the best turn has 1. Trust says
whether words can be believed: when no turn holds more than a small part of the
query, those that hold some do so by chance, and meaning has to decide.

A conversation goes on: the turn before asks what this one answers. So a word
that is missing here counts a share if a neighbour holds it, and each turn gets
a share of its neighbours' meaning. In the end one's own project, recency and
how the turn came about change the score by a few percent.

The weights were chosen on conversations 1–3 of LoCoMo and the development part
of our own set (bench/retrieval.py). The optimum is flat: on LoCoMo's part no
weight changed by a third moves R@10 by more than 0.01, whereas leaving a part
out costs what docs/performance.md lists.

On the path of a cold search: plain dictionaries, no numpy.
"""

from __future__ import annotations

from math import exp, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from recollect.model.search import Findings, Place

MEANING = 1.0
CLOSENESS = 1.0
SESSION = 0.7
WHEN = 0.8
FULLNESS = 0.3
# Words are not trusted when no turn holds more than the first of these shares of
# the query (rare words counting more, mentions in output less), and fully from
# the second on. Of closeness a little is always believed.
TRUST_FROM, TRUST_FULL = 0.25, 0.4
CLOSENESS_TRUST = 0.2
# Whoever types fewer words than this chose them, and means them.
FEW_WORDS = 4
# A second mention adds less than the first. Length is not held against a turn:
# on conversations every correction for it lost.
SATURATION = 0.9
# What counts of a word in the turns before and after this one, by distance;
# of meaning it is this part of the same shares.
BEFORE = (0.6, 0.4)
AFTER = (0.3, 0.2)
REACH = max(len(BEFORE), len(AFTER))
MEANING_SHARE = 0.6
# So many different words and a turn is full: "yes, go on" is not.
FULL_WORDS = 22
# Sums of the same numbers in another order differ in the last place.
ALL_OF_IT = 1 - 1e-9
# Mild: these only decide between turns that are about equally good.
RECENT = 0.03
RECENT_DAYS = 60.0
OWN_PROJECT = 0.04
SUBAGENT = -0.05
NOT_LIVE = -0.05


class Words:
    """What the words of a query say of each turn and of each session.

    `weights` has, for each clue, the turns that hold it with what that is
    worth. `held` is how much of what is `needed` a turn holds, rare words
    counting more; `firmly` holds back on words that are only in its output.
    `needs` is the same clue by clue, and `rarest` what a word counts that
    nobody has.
    """

    def __init__(self, findings: Findings) -> None:
        self.weights: list[dict[int, float]] = []
        self.needs: list[dict[int, float]] = []
        self.rarest = rarity_of(0, findings.all_turns)
        self.turns: dict[int, float] = {}
        self.sessions: dict[int, float] = {}
        self.held: dict[int, float] = {}
        self.firmly: dict[int, float] = {}
        self.needed, self.words = 0.0, 0
        # What the best candidate has, once that is known.
        self.most = 0.0
        for holding in findings.holdings:
            rarity = rarity_of(holding.count, findings.all_turns)
            # An extra clue is made of words that are needed already.
            need = 0.0 if holding.clue.extra else rarity
            self.needed += need
            self.words += not holding.clue.extra
            worth = {
                turn: rarity * _saturated(strength) for turn, strength in holding.turns.items()
            }
            self.weights.append(worth)
            self.needs.append(dict.fromkeys(worth, need))
            for turn, weight in worth.items():
                self.turns[turn] = self.turns.get(turn, 0.0) + weight
                self.held[turn] = self.held.get(turn, 0.0) + need
                self.firmly[turn] = self.firmly.get(turn, 0.0) + min(need, weight)
            self._add_sessions(findings, holding.turns)
        self.trust = self._trust()
        self._session_of = findings.sessions
        self._most_in_turn = max(self.turns.values(), default=0.0) or 1.0
        self._most_in_session = max(self.sessions.values(), default=0.0) or 1.0

    def _add_sessions(self, findings: Findings, turns: Mapping[int, float]) -> None:
        strengths: dict[int, float] = {}
        for turn, strength in turns.items():
            session = findings.sessions[turn]
            strengths[session] = strengths.get(session, 0.0) + strength
        rarity = rarity_of(len(strengths), findings.all_sessions)
        for session, strength in strengths.items():
            self.sessions[session] = self.sessions.get(session, 0.0) + rarity * _saturated(strength)

    def promise(self, turn: int) -> float:
        """What the words say of a turn before anything else is known of it."""
        if turn not in self.turns:
            return 0.0
        in_session = self.sessions[self._session_of[turn]] / self._most_in_session
        return self.turns[turn] / self._most_in_turn + SESSION * in_session

    def share(self, turn: int) -> float:
        """How much of the query a turn holds, between 0 and 1."""
        return self.held.get(turn, 0.0) / self.needed if self.needed else 0.0

    def is_partial(self, turn: int) -> bool:
        """Whether a turn holds some of the words and not all."""
        return turn in self.held and self.share(turn) < ALL_OF_IT

    def complete(self) -> list[int]:
        """The turns that hold every word."""
        return [turn for turn in self.held if not self.is_partial(turn)]

    def _trust(self) -> float:
        """Whether the words of the query can be believed, between 0 and 1."""
        if self.words < FEW_WORDS:
            return 1.0
        best = max(self.firmly.values(), default=0.0) / self.needed if self.needed else 0.0
        return min(1.0, max(0.0, (best - TRUST_FROM) / (TRUST_FULL - TRUST_FROM)))


def rarity_of(count: int, everything: int) -> float:
    return log(1 + (max(everything - count, 0) + 0.5) / (count + 0.5))


def _saturated(strength: float) -> float:
    return (SATURATION + 1) * strength / (strength + SATURATION)


class Score:
    """What a turn's score is made of. Parts are between 0 and 1, `lift` is around 1."""

    __slots__ = (
        "around",
        "closeness",
        "cosine",
        "fullness",
        "lift",
        "meaning",
        "place",
        "session",
        "trust",
        "when",
        "words",
    )

    def __init__(self, place: Place) -> None:
        self.place = place
        # The turns nearby that are candidates too, each with the share it lends.
        self.around: list[tuple[Score, float]] = []
        self.words = self.cosine = self.meaning = self.closeness = self.session = self.when = (
            self.fullness
        ) = 0.0
        self.lift = self.trust = 1.0

    def parts(self) -> dict[str, float]:
        """What is added up, by name."""
        close = CLOSENESS * (CLOSENESS_TRUST + (1 - CLOSENESS_TRUST) * self.trust)
        return {
            "words": self.trust * self.words, "meaning": MEANING * self.meaning,
            "closeness": close * self.closeness,
            "session": self.trust * SESSION * self.session, "when": WHEN * self.when,
            "fullness": FULLNESS * self.fullness,
        }  # fmt: skip

    @property
    def total(self) -> float:
        close = CLOSENESS * self.closeness
        told = self.words + SESSION * self.session + (1 - CLOSENESS_TRUST) * close
        rest = (
            MEANING * self.meaning
            + CLOSENESS_TRUST * close
            + WHEN * self.when
            + FULLNESS * self.fullness
        )
        return self.lift * (self.trust * told + rest)

    def reason(self) -> dict[str, object]:
        """The parts of the score, whose sum is multiplied by `lift`."""
        return {name: round(part, 3) for name, part in {**self.parts(), "lift": self.lift}.items()}


def set_neighbours(scores: Iterable[Score]) -> None:
    """Tell each candidate which others are near it in its session."""
    pool = list(scores)
    at = {(score.place.session, score.place.ordinal): score for score in pool}
    shares = [(-distance, share) for distance, share in enumerate(BEFORE, 1)]
    shares += [(distance, share) for distance, share in enumerate(AFTER, 1)]
    for score in pool:
        session, ordinal = score.place.session, score.place.ordinal
        near = ((at.get((session, ordinal + step)), share) for step, share in shares)
        score.around = [(other, share) for other, share in near if other is not None]


def sum_nearby(score: Score, tables: Iterable[Mapping[int, float]]) -> float:
    """A sum over words, each counting where it stands strongest: here, or a share of it nearby."""
    turn = score.place.turn
    total = 0.0
    for weights in tables:
        best = weights.get(turn, 0.0)
        for other, share in score.around:
            lent = share * weights.get(other.place.turn, 0.0)
            if lent > best:
                best = lent
        total += best
    return total


def set_words(scores: Iterable[Score], words: Words) -> None:
    """Score the words of each candidate, and of its session."""
    pool = list(scores)
    words.most = _set("words", pool, lambda score: sum_nearby(score, words.weights), words.most)
    _set(
        "session",
        pool,
        lambda score: words.sessions.get(score.place.session, 0.0),
        max(words.sessions.values(), default=0.0),
    )


def set_meaning(scores: Iterable[Score], most: float = 0.0) -> float:
    """Score the vectors of each candidate and its neighbours.

    Returns what the best one has, or `most` if that is given.
    """

    def value(score: Score) -> float:
        return score.cosine + MEANING_SHARE * sum(
            share * near.cosine for near, share in score.around
        )

    return _set("meaning", scores, value, most)


def set_closeness(scores: Iterable[Score], tables: list[dict[int, float]]) -> None:
    """Score how close the words of candidates are to each word of the
    query, of which rarely met ones count more.
    """
    pool = list(scores)
    weighed = []
    for table in tables:
        rarity = log(1 + len(pool) / (1 + sum(table.values())))
        weighed.append({turn: rarity * similarity for turn, similarity in table.items()})
    _set("closeness", pool, lambda score: sum_nearby(score, weighed))


def _set(
    name: str, scores: Iterable[Score], value: Callable[[Score], float], largest: float = 0.0
) -> float:
    """Give each score a part, divided by the largest there is, which is returned."""
    found = [(score, value(score)) for score in scores]
    largest = largest or max((part for _, part in found), default=0.0)
    for score, part in found:
        setattr(score, name, max(0.0, part / largest) if largest > 0 else 0.0)
    return largest


def lift(place: Place, *, now: int, here: str | None) -> float:
    """By how much the score of a turn is changed for what it is, whatever was asked."""
    change = 1.0
    if place.at is not None:
        change += RECENT * exp(-max(now - place.at, 0) / (RECENT_DAYS * 86_400_000))
    if here is not None and place.project == here:
        change += OWN_PROJECT
    if place.origin == "subagent":
        change += SUBAGENT
    if not place.live:
        change += NOT_LIVE
    return change


def best_first(
    scores: Iterable[Score], *, last: Callable[[Score], bool] | None = None
) -> list[Score]:
    """Best first, of the copies of a turn in forks only the best.

    What is true of `last` comes after all else.
    """
    return unique(
        sorted(
            scores,
            key=lambda score: (last is not None and last(score), -score.total, score.place.turn),
        )
    )


def unique(scores: Iterable[Score]) -> list[Score]:
    """The same without the copies of turns that came before."""
    first: dict[tuple[str, str], Score] = {}
    for score in scores:
        first.setdefault((score.place.agent, score.place.key), score)
    return list(first.values())
