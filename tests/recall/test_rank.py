"""How scores are made, with findings written by hand."""

from __future__ import annotations

from collections.abc import Collection
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
    output: Collection[int] = (),
) -> Findings:
    """Which turns hold each word, some only in output; an extra clue is several words."""
    made = [
        Holding(
            Clue(tuple(words.split()), extra=" " in words),
            len(held),
            held,
            held.keys() - set(output),
        )
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


def test_words_in_output_are_held_and_not_firm() -> None:
    """Output is long: it holds a bit of everything."""
    words = rank.Words(findings(("lock", {1: 1.0, 2: 1.0}), output={2}))

    assert words.share(1) == words.share(2) == 1.0
    assert words.score(1) > 2 * words.score(2) > 0


def test_words_that_nobody_has_are_unknown() -> None:
    """A question about something that was never done here is full of them."""
    words = rank.Words(findings(("lock", {1: 1.0}), ("kubernetes", {})))

    assert 0.5 < words.unknown / words.needed < 1
    assert rank.Words(findings(("lock", {1: 1.0}))).unknown == 0


# Neighbours and sessions


def test_words_that_a_turn_lacks_are_lent_by_those_around_it() -> None:
    """What it has itself is not counted again."""
    found = findings(("openssl", {10: 1.0, 11: 1.0}), ("lock", {11: 1.0, 20: 1.0}))

    scores = scored(found, place(10), place(11), place(12), place(20))

    assert scores[12].lent > scores[10].lent > 0
    assert scores[11].lent == scores[20].lent == 0


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

    nearby = {turn: round(score.nearby, 2) for turn, score in scores.items()}
    assert nearby == {8: 0.2, 9: 0.3, 10: 1.0, 11: 0.6, 12: 0.4, 13: 0.0, 101: 0.0}


def test_a_word_counts_where_it_stands_strongest() -> None:
    """Here or nearby, and not twice: chatter about one word must not beat a turn that has all."""
    found = findings(
        ("lock", {1: 1.0, 2: 1.0}), ("timeout", {3: 1.0, 20: 1.0}), ("index", {20: 1.0})
    )

    scores = scored(found, place(1), place(2), place(3), place(20))

    words = rank.Words(found)
    lock, timeout = words.weights["lock"], words.weights["timeout"]
    assert rank.sum_nearby(scores[2], words.tables) == pytest.approx(lock + rank.AFTER[0] * timeout)


def test_a_session_about_it_lifts_all_its_turns() -> None:
    """Said in many turns, it is what the session is about."""
    held = {1: 1.0, 2: 1.0, 3: 1.0, 50: 1.0}
    found = findings(("webhook", held), sessions={50: 2})

    scores = scored(found, place(1), place(9), place(50, session=2), place(60, session=3))

    assert scores[1].session == scores[9].session == 1.0
    assert 0 < scores[50].session < 1
    assert scores[60].session == 0


def test_meaning_is_how_far_a_turn_stands_above_the_store() -> None:
    """A cosine says nothing by itself: in a store about one thing all are near."""
    score = rank.Score(place(1))

    rank.set_meaning(score, 0.5, (0.1, 0.1), 1.0)
    alone = score.parts()["meaning"]
    rank.set_meaning(score, 0.5, (0.45, 0.1), 1.0)

    assert score.parts()["meaning"] == 0
    assert alone == pytest.approx(rank.MEANING * (4 - rank.MEANING_FROM))


def test_a_query_that_the_encoder_does_not_know_has_little_meaning() -> None:
    """A table of English words spells a Japanese one, and lands anywhere."""
    score = rank.Score(place(1))

    rank.set_meaning(score, 0.5, (0.1, 0.1), 0.1)

    assert score.parts()["meaning"] == 0


def test_a_short_turn_means_what_those_around_it_mean() -> None:
    """ "Yes, in June" is the answer to the question before it; a long turn speaks for itself."""
    scores = {turn: rank.Score(place(turn)) for turn in (1, 2, 3, 9)}
    rank.set_neighbours(scores.values())
    rank.set_meaning(scores[1], 0.6, (0.1, 0.1), 1.0)

    rank.set_context(scores.values(), {1: 60, 2: rank.BARE_WORDS, 3: 60, 9: rank.BARE_WORDS})

    meaning = {turn: score.parts()["meaning"] for turn, score in scores.items()}
    assert meaning[1] > meaning[2] > 0
    assert meaning[3] == meaning[9] == 0


def test_a_turn_of_hardly_any_words_comes_a_little_later() -> None:
    """It says what those around it are about, and nothing else. Of one that has no
    vector yet nobody knows.
    """
    scores = {turn: rank.Score(place(turn)) for turn in (1, 2, 3)}

    rank.set_context(scores.values(), {1: 0, 2: rank.BARE_WORDS})

    assert [scores[turn].lift for turn in (1, 2, 3)] == [rank.BARE, 0, 0]


def test_closeness_is_lent_by_neighbours_and_is_at_most_all_of_it() -> None:
    """The turn before may have said the word; nothing at all stays nothing."""
    scores = {turn: rank.Score(place(turn)) for turn in (1, 2, 9)}
    rank.set_neighbours(scores.values())

    rank.set_closeness(scores.values(), [{1: 1.0}], 1.0)

    assert [score.closeness for score in scores.values()] == [1.0, rank.BEFORE[0], 0.0]


def test_words_that_stand_together_as_in_the_query_count_besides() -> None:
    """A pasted line is found where it stands, and not where its words are scattered."""
    together, apart = rank.Score(place(1)), rank.Score(place(2))
    columns = {1: [[[4]], [[5]], [[7]]], 2: [[[4]], [[90]], [[300]]]}

    rank.set_phrases([together, apart], columns, [1.0, 1.0, 1.0], 3.0)

    assert (together.pairs, together.chain) == (1.0, 1.0)
    assert (apart.pairs, apart.chain) == (0.0, 0.0)


# The sum


parts = st.floats(0, 1)


@given(parts, parts, parts, parts, parts, parts, st.floats(-0.2, 0.2))
def test_the_parts_add_up_to_the_score(
    words: float,
    pairs: float,
    closeness: float,
    nearby: float,
    session: float,
    when: float,
    lift: float,
) -> None:
    """What --explain shows is what was added."""
    score = rank.Score(place(1))
    score.words, score.pairs, score.closeness, score.session = words, pairs, closeness, session
    score.nearby, score.when, score.lift, score.deviations = nearby, when, lift, 3.0

    shown = score.reason()

    assert sum(score.parts().values()) == pytest.approx(score.total)
    assert shown == pytest.approx(score.parts(), abs=0.0006)


def test_the_more_turns_there_are_the_more_evidence_an_answer_needs() -> None:
    """Chance finds more in a large store; in a handful of turns nothing is held back."""
    assert [rank.relevant(turns) for turns in (0, 1, 70)] == [0, 0, 0]
    assert rank.relevant(400) < rank.relevant(2_500) < rank.relevant(45_000)
    assert rank.relevant(10**9) == rank.RELEVANT_MOST


def test_where_no_agent_works_no_answer_is_held_back() -> None:
    """Nobody has shown there how much chance finds: of conversations, or of code alone."""
    assert rank.relevant(45_000, 0.0) == 0
    assert 0 < rank.relevant(45_000, 0.1) < rank.relevant(45_000, 0.3)
    assert rank.relevant(45_000, 0.6) == rank.relevant(45_000)


def test_meaning_counts_more_the_more_of_a_store_stands_alone() -> None:
    """From half of it on, and without a leap; where an agent worked or people talked, no more."""
    assert [rank.meaning_counts(share) for share in (0.0, 0.1, 0.5)] == [rank.MEANING] * 3
    assert rank.MEANING < rank.meaning_counts(0.51) < 1.1 * rank.MEANING
    assert rank.meaning_counts(1.0) == (1 + rank.ALONE) * rank.MEANING


# What a turn is


def test_what_a_turn_is_changes_a_little() -> None:
    """Own project, recent, made by a sub-agent, undone: enough to decide between equals."""

    def lift(**more: Any) -> float:
        return rank.lift(place(1, **more), now=NOW, here="/home/ada/shop")

    old = lift()

    assert old == pytest.approx(0.0, abs=0.001)
    assert lift(project="/home/ada/shop") == pytest.approx(old + rank.OWN_PROJECT)
    assert lift(at=NOW) == pytest.approx(rank.RECENT)
    assert lift(origin="subagent") == pytest.approx(old + rank.SUBAGENT)
    assert lift(live=0) == pytest.approx(old + rank.NOT_LIVE)
    assert lift(at=None) == 0.0
    assert lift(prompt="/review this") == pytest.approx(old + rank.COMMAND)
    assert lift(prompt="/srv/shop is empty") == old
    assert rank.lift(place(1, project=None), now=NOW, here=None) == pytest.approx(old)


@given(st.lists(st.integers(-400, 4000), min_size=2, max_size=6).map(sorted))
def test_the_newer_a_turn_the_higher_and_the_future_is_now(days: list[int]) -> None:
    """A clock that is wrong must not send turns to the top for ever."""
    lifts = [rank.lift(place(1, at=NOW - day * DAY), now=NOW, here=None) for day in days]

    assert all(newer >= older for newer, older in pairwise(lifts))
    assert max(lifts) <= rank.RECENT


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


def test_the_copies_of_a_prompt_do_not_fill_the_page() -> None:
    """A patrol leaves the same prompt by the hundred, but for the numbers in it."""
    said = ["Patrol 12: look at every shop and report", "Patrol 7: look at every shop and report"]
    other = place(3, prompt="why do the feeds fail at night")

    kept = rank.best_first(
        ordered((place(1, prompt=said[0]), 0.9), (place(2, prompt=said[1]), 0.8), (other, 0.5))
    )

    assert [score.place.turn for score in kept] == [1, 3, 2]
