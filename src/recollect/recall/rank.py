"""How well a turn answers a query: every weight is here, with the evidence for it.

    score = words · (FIRST + firm) + phrase + meaning + closeness + nearby + session + when + lift

Words: what the turn holds of the query's words, rare ones counting more, a
second mention less than the first, a mention in a long text less than one in a
short text; `firm` is the share held elsewhere than in output. Phrase: whether
words that are neighbours in the query stand together. Meaning: how far the
turn's vector stands above those of the store as a whole, for this query; that
of a short turn is helped by the turns around it, which say what it is about,
and where most turns have nothing around them it counts more.
Closeness: how near its words, or its neighbours', are to each word of the
query, one by one (for the best turns only). Nearby: what the turns next to it
hold of the words. Session: what the whole session holds.
When: whether it happened at a time the query names. Lift: what the turn is.

None of it depends on which other turns are candidates, but for the session's
part: a score says how good an answer is, so that a bad one can be told.

The parts and their weights began as a formula that was written before any
result, and were then changed one at a time on the open questions (220, real
logs of 15 repositories) together with LoCoMo's conversations 1-3 and a third
of CoSQA's questions: some 500 variants, and some 150 more when conversations
were found to have lost. With so many the best is partly luck, and differences
of .02 are noise. The optimum is flat: halving or doubling a single weight moves
hit@1, @3 and @10 of the open questions by less than .02. Correction for length
and the weights of the fields carry most of it. What other sets say that chose
nothing is in docs/performance.md.

On the path of a cold search: plain dictionaries, no numpy.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from recollect.model.search import Clue, Findings, Place

    # For each unit of a query, for each column, the places where it stands.
    Standing = Sequence[Sequence[Sequence[int]]]

# Each column of the index: what a mention in it counts, how much its length is
# held against it, and which length in characters leaves a mention as it is. What
# a person asked and what was answered in the end say most about a turn; output
# is long and says least. The lengths lie between the medians and the means of
# real logs. Being fixed they do not move when a store grows. On conversations
# they gain nothing and lose nothing: without a reward for being shorter than usual
# R@10 and MRR move by .002. All weights alike: hit@1 -.02; no correction
# for length: -.18 for words alone.
FIELDS = {
    "prompt": (1.0, 0.6, 290),
    "answer": (1.0, 0.6, 320),
    "replies": (0.6, 0.6, 60),
    "commands": (0.6, 0.6, 120),
    "files": (0.6, 0.6, 32),
    "errors": (0.6, 0.6, 80),
    "output": (0.3, 0.85, 3500),
}
FIRST = 0.35
# A number and a pair of characters of a script without spaces are less than a word.
NUMBER, PAIR = 0.6, 0.5
# A clue that is made of words that are looked for anyway adds this much of itself.
EXTRA = 0.5
# What may stand between two words that are neighbours in the query, and how far
# the second may stand before the first; each pair counts, and the longest chain of pairs.
WITHIN, BEHIND = 4, 2
PAIRS, CHAIN = 0.15, 0.25
# Meaning is counted in standard deviations of the store's cosines to this query.
MEANING, MEANING_FROM, MEANING_MOST = 0.2, 0.5, 8.0
# A turn alone in its session, with no tool call, has nothing around it that says what it is
# about: a note, a piece of code. From a store half of which is so to one of nothing else, up
# to so many times the weight of meaning is added to it. Of CoSQA's development questions (327)
# .8 instead of .2 finds .028 more among ten, and anything from .3 to 1.5 .018 more. That there
# are no tool calls does not decide: conversations have none, and lose .012 of MRR with .3.
ALONE, ALONE_FROM = 3.0, 0.5
CLOSENESS = 0.9
# The share of the words that a turn or one next to it holds firmly; and what the words
# of the turns next to it are worth beyond its own, as if it held that share of them. The
# second is worth .013 of MRR on conversations, and costs real logs nothing.
NEARBY, LENT = 0.3, 1.0
# A turn of fewer different telling words than this is understood by those around it: the
# fewer it has, the more of their meaning counts for it. A quarter of what is looked at in
# real logs is so short, and all of a conversation: what a store is made of decides.
SHORT, AROUND = 50, 0.6
# "Yes, go on" answers nothing: with fewer words than this a turn loses up to so much.
BARE_WORDS, BARE = 11, -0.2
SESSION = 0.4
WHEN = 0.8
# Whoever types fewer words than this chose them, and means them.
FEW_WORDS = 4
# What counts of a word in the turns before and after this one, by distance.
BEFORE = (0.6, 0.4)
AFTER = (0.3, 0.2)
REACH = max(len(BEFORE), len(AFTER))
# Sums of the same numbers in another order differ in the last place.
ALL_OF_IT = 1 - 1e-9
# Mild: these only decide between turns that are about equally good.
RECENT = 0.03
RECENT_DAYS = 60.0
OWN_PROJECT = 0.04
SUBAGENT = -0.1
COMMAND = -0.1
NOT_LIVE = -0.05
# The second turn with the same prompt, which a template or a patrol leaves by the
# hundred. Numbers in it may differ; a shorter prompt says too little to be a copy.
COPY = -0.5
COPY_CHARACTERS, SHORTEST_COPY = 160, 20

# An answer is worth showing when its best turn has some evidence, which is made of the same
# parts: words, pairs and meaning, less for words that nobody here ever used. How much of it
# chance finds grows with the store: of 2,500 turns 3 % of the answerable questions have less
# than .26, of 6,300 less than .39; with 25,000 generated turns around the 2,500 it
# grew no further (.36 silenced .032 of them, .5 silenced .059). In a store of a few
# hundred turns everything is shown. All this was seen where agents work: texts are long
# there and hold any word by chance. Conversations and code are asked about in words that
# say little, and silence was wrong there for up to .02 of the questions; so the less of
# a store has tool calls, the less is asked of an answer, and all where half of it has.
EVIDENCE_PAIRS, EVIDENCE_CHAIN, EVIDENCE_MEANING = 0.6, 0.5, 0.12
UNKNOWN = 1.0
RELEVANT, RELEVANT_FROM, RELEVANT_MOST = 0.146, 400, 0.35
AT_WORK = 0.5


class Words:
    """What the words of a query say of each turn and of each session.

    Each is a share of what is `needed`: rare words count more, and a word that
    nobody has counts most and is missed. `held` is what a turn holds anywhere,
    `firm` what it holds elsewhere than in output. `unknown` is the share of
    the words that no turn of the store has.
    """

    def __init__(self, findings: Findings) -> None:
        self.all_turns, self.all_sessions = findings.all_turns, findings.all_sessions
        self.rarest = rarity_of(0, findings.all_turns)
        self.needed, self.words, self.unknown = 0.0, 0, 0.0
        self.weights: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.tables: list[tuple[float, Mapping[int, float]]] = []
        self.strengths: list[tuple[float, Mapping[int, float]]] = []
        self.turns: dict[int, float] = {}
        self.sessions: dict[int, float] = {}
        self.held: dict[int, float] = {}
        self.firm: dict[int, float] = {}
        for holding in findings.holdings:
            clue = holding.clue
            weight = rarity_of(holding.count, findings.all_turns) / self.rarest * factor(clue)
            if not clue.extra:
                self.needed += weight
                self.words += 1
                self.unknown += 0.0 if holding.count else weight
                self.tables.append((weight, dict.fromkeys(holding.firm, 1.0)))
                if len(clue.words) == 1:
                    self.weights[clue.words[0]] = weight
                    self.counts[clue.words[0]] = holding.count
                for turn in holding.turns:
                    self.held[turn] = self.held.get(turn, 0.0) + weight
                for turn in holding.firm:
                    self.firm[turn] = self.firm.get(turn, 0.0) + weight
            worth = weight * (EXTRA if clue.extra else 1.0)
            counted = {turn: saturated(mentions) for turn, mentions in holding.turns.items()}
            self.strengths.append((worth, counted))
            for turn, strength in counted.items():
                self.turns[turn] = self.turns.get(turn, 0.0) + worth * strength
            self._add_sessions(findings, holding.turns)
        self._most_in_session = max(self.sessions.values(), default=0.0) or 1.0

    def _add_sessions(self, findings: Findings, turns: Mapping[int, float]) -> None:
        strengths: dict[int, float] = {}
        for turn, strength in turns.items():
            session = findings.sessions[turn]
            strengths[session] = strengths.get(session, 0.0) + strength
        rarity = rarity_of(len(strengths), findings.all_sessions)
        for session, strength in strengths.items():
            self.sessions[session] = self.sessions.get(session, 0.0) + rarity * saturated(strength)

    def score(self, turn: int) -> float:
        """What the words of a turn are worth."""
        if turn not in self.turns or not self.needed:
            return 0.0
        return self.turns[turn] / self.needed * (FIRST + self.firm.get(turn, 0.0) / self.needed)

    def share(self, turn: int) -> float:
        """How much of the query a turn holds, between 0 and 1."""
        return self.held.get(turn, 0.0) / self.needed if self.needed else 0.0

    def session_share(self, session: int) -> float:
        """What a session holds, of what the best of them does."""
        return self.sessions.get(session, 0.0) / self._most_in_session

    def is_partial(self, turn: int) -> bool:
        """Whether a turn holds some of the words and not all."""
        return turn in self.held and self.share(turn) < ALL_OF_IT

    def complete(self) -> list[int]:
        """The turns that hold every word."""
        return [turn for turn in self.held if not self.is_partial(turn)]


def relevant(all_turns: int, at_work: float = 1.0) -> float:
    """How much evidence the best turn must have in a store of so many turns, in such
    a share of which an agent was at work.
    """
    by_size = min(RELEVANT_MOST, max(0.0, RELEVANT * log(max(all_turns, 1) / RELEVANT_FROM)))
    return by_size * min(1.0, at_work / AT_WORK)


def meaning_counts(alone: float) -> float:
    """What a deviation of meaning counts in a store, such a share of whose turns stands alone."""
    return MEANING * (1 + ALONE * max(0.0, alone - ALONE_FROM) / (1 - ALONE_FROM))


def factor(clue: Clue) -> float:
    """What a clue counts of a word that is as rare."""
    word = clue.words[0]
    if len(clue.words) > 1:
        return 1.0
    if word.isdigit():
        return NUMBER
    # Pairs of such scripts, which overlap.
    return PAIR if len(word) == 2 and word[0] >= "\u3000" else 1.0


def rarity_of(count: int, everything: int) -> float:
    return log(1 + (max(everything - count, 0) + 0.5) / (count + 0.5))


def saturated(strength: float) -> float:
    """What mentions count together: the second one less than the first."""
    return 2 * strength / (strength + 1)


PARTS = ("words", "phrase", "meaning", "closeness", "nearby", "session", "when", "lift")


class Score:
    """What a turn's score is made of: parts that are added up."""

    __slots__ = (
        "around",
        "chain",
        "closeness",
        "context",
        "cosine",
        "deviations",
        "lent",
        "lift",
        "meaning_counts",
        "nearby",
        "pairs",
        "place",
        "session",
        "when",
        "words",
    )

    def __init__(self, place: Place, meaning_counts: float = MEANING) -> None:
        self.place, self.meaning_counts = place, meaning_counts
        # The turns nearby that are candidates too, each with the share it lends.
        self.around: list[tuple[Score, float]] = []
        self.words = self.pairs = self.chain = self.cosine = self.deviations = 0.0
        self.closeness = self.nearby = self.session = self.when = self.lift = 0.0
        self.lent = self.context = 0.0

    def _parts(self) -> tuple[float, ...]:
        """What is added up, in the order of `PARTS`: names would cost twice as much."""
        above = self.deviations + self.context - MEANING_FROM
        return (
            self.words,
            PAIRS * self.pairs + CHAIN * self.chain,
            self.meaning_counts * min(MEANING_MOST, above) if above > 0 else 0.0,
            CLOSENESS * self.closeness,
            NEARBY * self.nearby + LENT * self.lent,
            SESSION * self.session,
            WHEN * self.when,
            self.lift,
        )

    def parts(self) -> dict[str, float]:
        """What is added up, by name."""
        return dict(zip(PARTS, self._parts(), strict=True))

    @property
    def total(self) -> float:
        return sum(self._parts())

    def evidence(self, words: Words) -> float:
        """How much there is to say that a turn has to do with the query at all."""
        unknown = words.unknown / words.needed if words.needed else 0.0
        told = EVIDENCE_PAIRS * self.pairs + EVIDENCE_CHAIN * self.chain
        above = EVIDENCE_MEANING * min(MEANING_MOST, max(0.0, self.deviations - 1))
        return (self.words + told + above) * (1 - UNKNOWN * unknown)

    def reason(self) -> dict[str, object]:
        """The parts of the score."""
        return {name: round(part, 3) for name, part in self.parts().items()}


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


def sum_nearby(score: Score, tables: Iterable[tuple[float, Mapping[int, float]]]) -> float:
    """A sum over words, each counting where it stands strongest: here, or a share of it nearby."""
    turn = score.place.turn
    total = 0.0
    for weight, table in tables:
        best = table.get(turn, 0.0)
        for other, share in score.around:
            lent = share * table.get(other.place.turn, 0.0)
            if lent > best:
                best = lent
        total += weight * best
    return total


def set_words(scores: Iterable[Score], words: Words) -> None:
    """Score the words of each candidate, of its neighbours and of its session."""
    for score in scores:
        turn = score.place.turn
        score.words = words.score(turn)
        score.session = words.session_share(score.place.session)
        if words.needed and score.around:
            score.nearby = sum_nearby(score, words.tables) / words.needed
            both = sum_nearby(score, words.strengths)
            score.lent = max(0.0, both - words.turns.get(turn, 0.0)) / words.needed
        elif words.needed:
            score.nearby = words.firm.get(turn, 0.0) / words.needed


def set_meaning(score: Score, cosine: float, background: tuple[float, float], known: float) -> None:
    """Score how far a vector stands above those of the store: the mean and the
    deviation of their cosines are its `background`. A query of which the encoder
    knows only a part means that much less.
    """
    mean, deviation = background
    score.cosine = max(0.0, cosine)
    score.deviations = known * (cosine - mean) / deviation


def set_context(scores: Iterable[Score], sizes: Mapping[int, int]) -> None:
    """Score what the turns around a short one mean, by how many words each has."""
    for score in scores:
        size = sizes.get(score.place.turn)
        if size is None:
            continue
        if size < SHORT:
            means = sum(share * max(0.0, other.deviations) for other, share in score.around)
            score.context = AROUND * (1 - size / SHORT) * means
        if size < BARE_WORDS:
            score.lift += BARE * (1 - size / BARE_WORDS)


def set_closeness(scores: Iterable[Score], tables: list[dict[int, float]], known: float) -> None:
    """Score how close the words of candidates and their neighbours are to each
    word of the query, of which rarely met ones count more.
    """
    pool = list(scores)
    weighed = [(log(1 + len(pool) / (1 + sum(table.values()))), table) for table in tables]
    needed = sum(rarity for rarity, _ in weighed) or 1.0
    for score in pool:
        score.closeness = known * sum_nearby(score, weighed) / needed


def set_phrases(
    scores: Iterable[Score],
    places: Mapping[int, Standing],
    weights: Sequence[float],
    needed: float,
) -> None:
    """Score which words that are neighbours in the query stand together in a turn."""
    all_pairs = sum(map(min, weights, weights[1:])) or 1.0
    for score in scores:
        units = places.get(score.place.turn, ())
        pairs = chain = best = 0.0
        for at, (one, other) in enumerate(pairwise(units)):
            if any(map(_stand_together, one, other)):
                pairs += min(weights[at], weights[at + 1])
                chain += weights[at + 1] if chain else weights[at] + weights[at + 1]
                best = max(best, chain)
            else:
                chain = 0.0
        score.pairs, score.chain = pairs / all_pairs, best / needed if needed else 0.0


def _stand_together(one: Sequence[int], other: Sequence[int]) -> bool:
    places = frozenset(other)
    steps = [step for step in range(-BEHIND, WITHIN + 1) if step]
    return bool(places) and any(place + step in places for place in one for step in steps)


def lift(place: Place, *, now: int, here: str | None) -> float:
    """What is added to the score of a turn for what it is, whatever was asked."""
    change = 0.0
    if place.at is not None:
        change += RECENT * exp(-max(now - place.at, 0) / (RECENT_DAYS * 86_400_000))
    if here is not None and place.project == here:
        change += OWN_PROJECT
    if place.origin == "subagent":
        change += SUBAGENT
    if place.is_command:
        change += COMMAND
    if not place.live:
        change += NOT_LIVE
    return change


def best_first(
    scores: Iterable[Score], *, last: Callable[[Score], bool] | None = None
) -> list[Score]:
    """Best first, of the copies of a turn in forks only the best, and turns that
    repeat the prompt of a better one behind those that do not.

    What is true of `last` comes after all else.
    """

    def order(score: Score) -> tuple[bool, float, int]:
        return last is not None and last(score), -score.total, score.place.turn

    ranked = sorted(scores, key=order)
    seen: set[str] = set()
    copies = []
    for score in ranked:
        prompt = score.place.prompt
        said = _normal(prompt) if len(prompt) > SHORTEST_COPY else ""
        if len(said) > SHORTEST_COPY:
            if said in seen:
                copies.append(score)
            seen.add(said)
    for score in copies:
        score.lift += COPY
    return unique(sorted(ranked, key=order) if copies else ranked)


_DIGITS = dict.fromkeys(map(ord, "0123456789"), " ")


def _normal(prompt: str) -> str:
    """A prompt as its copies have it: whatever the case, the blanks and the numbers."""
    return " ".join(prompt.lower().translate(_DIGITS).split())[:COPY_CHARACTERS]


def unique(scores: Iterable[Score]) -> list[Score]:
    """The same without the copies of turns that came before."""
    first: dict[tuple[str, str], Score] = {}
    for score in scores:
        first.setdefault((score.place.agent, score.place.key), score)
    return list(first.values())
