"""How scores are made, with findings written by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import Clue, Findings, Holding, Place
from recollect.recall import rank

NOW = 1_767_258_000_000
DAY = 86_400_000


def place(turn: int, *, session: int = 1, ordinal: int | None = None, **more: Any) -> Place:
    """A turn of a person, a year ago, in a project that is not ours."""
    known = {
        "at": NOW - 365 * DAY,
        "project": "/srv/other",
        "origin": "interactive",
        "live": 1,
        "key": f"k{turn}",
        **more,
    }
    return Place(
        turn=turn,
        session=session,
        session_ref=f"codex:s{session}",
        agent="codex",
        ordinal=ordinal or turn,
        **known,
    )


def findings(
    *holdings: tuple[str, dict[int, float]],
    sessions: dict[int, int] | None = None,
    turns: int = 1_000,
) -> Findings:
    """Which turns hold each word; an extra clue is several words."""
    made = [
        Holding(Clue(tuple(words.split()), extra=" " in words), len(held), held)
        for words, held in holdings
    ]
    of = {turn: (sessions or {}).get(turn, 1) for holding in made for turn in holding.turns}
    return Findings(made, of, all_turns=turns, all_sessions=50)


def scored(found: Findings, *places: Place) -> dict[int, rank.Score]:
    """The scores of turns by their words."""
    scores = {one.turn: rank.Score(one) for one in places}
    rank.set_neighbours(scores.values())
    rank.set_words(scores.values(), rank.Words(found))
    return scores


# Words


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """Everybody says "fix"; few say "openssl"."""
    words = rank.Words(findings(("openssl", {1: 1.0}), ("fix", dict.fromkeys(range(2, 200), 1.0))))

    assert words.turns[1] > 3 * words.turns[2]
    assert words.share(1) + words.share(2) == pytest.approx(1.0)


def test_mentions_add_less_and_less() -> None:
    """A log that says it a thousand times does not drown a question that says it once."""
    words = rank.Words(findings(("lock", {1: 1.0, 2: 2.0, 3: 3.0, 4: 1000.0})))
    worth = [words.turns[turn] for turn in (1, 2, 3, 4)]

    assert worth == sorted(worth)
    assert worth[1] - worth[0] > worth[2] - worth[1]
    assert worth[3] < 2 * worth[0]


def test_a_turn_is_complete_when_it_holds_every_word() -> None:
    """A phrase that is looked for besides is not needed for it."""
    words = rank.Words(
        findings(
            ("parse", {1: 1.0, 2: 0.15}),
            ("rollout", {1: 1.0, 2: 0.15, 3: 1.0}),
            ("parse rollout", {1: 1.0}),
        )
    )

    assert sorted(words.complete()) == [1, 2]
    assert [words.is_partial(turn) for turn in (1, 2, 3, 4)] == [False, False, True, False]


def test_a_word_that_nobody_has_is_missed() -> None:
    """Otherwise a query for "lock kubernetes" would claim to have found both."""
    words = rank.Words(findings(("lock", {1: 1.0}), ("kubernetes", {})))

    assert words.complete() == []
    assert 0 < words.share(1) < 0.5


def test_few_words_are_always_believed_and_many_only_together() -> None:
    """Three words were chosen; of a whole question some word is always found by chance."""
    some = [("lock", {1: 1.0}), ("a1", {}), ("a2", {}), ("a3", {}), ("a4", {}), ("a5", {})]

    assert rank.Words(findings(*some[:3])).trust == 1.0
    assert rank.Words(findings(*some)).trust == 0.0
    assert (
        rank.Words(
            findings(*some, ("b1", {1: 1.0}), ("b2", {1: 1.0}), ("b3", {1: 1.0}), ("b4", {1: 1.0}))
        ).trust
        == 1.0
    )


def test_a_word_in_output_is_believed_less() -> None:
    """Output is long: it holds a bit of everything."""
    words = ["w1", "w2", "w3", "w4", "w5", "w6"]

    asked = rank.Words(
        findings(*[(word, {1: 1.0} if at < 2 else {}) for at, word in enumerate(words)])
    )
    printed = rank.Words(
        findings(*[(word, {1: 0.15} if at < 2 else {}) for at, word in enumerate(words)])
    )

    assert asked.share(1) == printed.share(1)
    assert asked.trust > printed.trust


# Neighbours and sessions


def test_the_turn_after_a_question_is_lent_its_words() -> None:
    """The question says what it is about, and the answer is in the turn after it."""
    found = findings(("openssl", {10: 1.0}))

    scores = scored(
        found,
        place(8),
        place(9),
        place(10),
        place(11),
        place(12),
        place(13),
        place(11 + 90, session=2, ordinal=11),
    )

    words = {turn: round(score.words, 2) for turn, score in scores.items()}
    assert words == {8: 0.2, 9: 0.3, 10: 1.0, 11: 0.6, 12: 0.4, 13: 0.0, 101: 0.0}


def test_a_word_counts_where_it_stands_strongest() -> None:
    """Here or nearby, and not twice: chatter about one word must not beat a turn that has all."""
    found = findings(
        ("lock", {1: 1.0, 2: 1.0}), ("timeout", {3: 1.0, 20: 1.0}), ("index", {20: 1.0})
    )

    scores = scored(found, place(1), place(2), place(3), place(20))

    lock, timeout = (rank.Words(found).weights[at] for at in (0, 1))
    assert rank.sum_nearby(scores[2], rank.Words(found).weights) == pytest.approx(
        lock[2] + rank.AFTER[0] * timeout[3]
    )


def test_a_session_about_it_lifts_all_its_turns() -> None:
    """Said in many turns, it is what the session is about."""
    held = {1: 1.0, 2: 1.0, 3: 1.0, 50: 1.0}
    found = findings(("webhook", held), sessions={50: 2})

    scores = scored(found, place(1), place(9), place(50, session=2), place(60, session=3))

    assert scores[1].session == scores[9].session == 1.0
    assert 0 < scores[50].session < 1
    assert scores[60].session == 0


def test_meaning_is_lent_too() -> None:
    """Of the same neighbours, a part of the same shares."""
    scores = {turn: rank.Score(place(turn)) for turn in (1, 2, 9)}
    scores[1].cosine = 0.5
    rank.set_neighbours(scores.values())

    largest = rank.set_meaning(scores.values())

    assert largest == 0.5
    assert [score.meaning for score in scores.values()] == pytest.approx(
        [1.0, rank.MEANING_SHARE * rank.BEFORE[0], 0.0]
    )


def test_the_best_turn_has_one_of_each_part() -> None:
    """So that weights mean the same for every query; nothing at all stays nothing."""
    scores = [rank.Score(place(turn)) for turn in (1, 5, 9)]

    rank.set_closeness(scores, [{1: 0.9, 5: 0.4}, {5: 0.8}])
    closeness = [score.closeness for score in scores]
    rank.set_closeness(scores, [])

    assert max(closeness) == 1.0
    assert closeness[2] == 0.0
    assert [score.closeness for score in scores] == [0.0, 0.0, 0.0]


# The sum


parts = st.floats(0, 1)


@given(parts, parts, parts, parts, parts, parts, parts, st.floats(0.8, 1.2))
def test_the_parts_add_up_to_the_score(
    words: float,
    meaning: float,
    closeness: float,
    session: float,
    when: float,
    fullness: float,
    trust: float,
    lift: float,
) -> None:
    """What --explain shows is what was added."""
    score = rank.Score(place(1))
    score.words, score.meaning, score.closeness, score.session = words, meaning, closeness, session
    score.when, score.fullness, score.trust, score.lift = when, fullness, trust, lift

    shown = score.reason()

    assert lift * sum(score.parts().values()) == pytest.approx(score.total)
    assert list(shown) == [*score.parts(), "lift"]
    assert shown == pytest.approx({**score.parts(), "lift": lift}, abs=0.0006)


def test_without_trust_meaning_decides() -> None:
    """A little closeness is believed always."""
    score = rank.Score(place(1))
    score.words = score.session = score.closeness = score.meaning = 1.0
    believed = score.total
    score.trust = 0.0

    assert believed == pytest.approx(1 + rank.SESSION + rank.CLOSENESS + rank.MEANING)
    assert score.total == pytest.approx(rank.MEANING + rank.CLOSENESS_TRUST * rank.CLOSENESS)


# What a turn is


def test_what_a_turn_is_changes_a_little() -> None:
    """Own project, recent, made by a sub-agent, undone: enough to decide between equals."""

    def lift(**more: Any) -> float:
        return rank.lift(place(1, **more), now=NOW, here="/home/ada/shop")

    old = lift()

    assert old == pytest.approx(1.0, abs=0.001)
    assert lift(project="/home/ada/shop") == pytest.approx(old + rank.OWN_PROJECT)
    assert lift(at=NOW) == pytest.approx(1 + rank.RECENT)
    assert lift(origin="subagent") == pytest.approx(old + rank.SUBAGENT)
    assert lift(live=0) == pytest.approx(old + rank.NOT_LIVE)
    assert lift(at=None) == 1.0
    assert rank.lift(place(1, project=None), now=NOW, here=None) == pytest.approx(old)


@given(st.lists(st.integers(-400, 4000), min_size=2, max_size=6).map(sorted))
def test_the_newer_a_turn_the_higher_and_the_future_is_now(days: list[int]) -> None:
    """A clock that is wrong must not send turns to the top for ever."""
    lifts = [rank.lift(place(1, at=NOW - day * DAY), now=NOW, here=None) for day in days]

    assert all(newer >= older for newer, older in pairwise(lifts))
    assert max(lifts) <= 1 + rank.RECENT


# Order


def ordered(*scores: tuple[Place, float]) -> list[rank.Score]:
    made = []
    for one, words in scores:
        score = rank.Score(one)
        score.words = words
        made.append(score)
    return made


def test_of_the_copies_of_a_turn_the_best_is_kept() -> None:
    """A fork repeats what came before it; two agents may give the same key to different turns."""
    copy, other = place(2, key="k1"), place(3, key="k1")
    other.agent = "claude-code"

    kept = rank.best_first(ordered((place(1), 0.5), (copy, 0.9), (other, 0.7)))

    assert [score.place.turn for score in kept] == [2, 3]


def test_equal_scores_keep_the_order_of_the_store() -> None:
    """The same query gives the same answer, page after page."""
    kept = rank.best_first(
        ordered((place(3), 0.5), (place(1), 0.5), (place(2), 0.9)),
        last=lambda score: score.place.turn == 2,
    )

    assert [score.place.turn for score in kept] == [1, 3, 2]
