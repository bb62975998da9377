"""Words that mean nearly the same, by the table of the encoder that comes with the package."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.closeness import MOST_NOTED, MOST_WORDS, THRESHOLD, Closeness, note_words


def table(query: str, *texts: str) -> list[dict[int, float]]:
    """How close each word of a query is to some texts, numbered from 0."""
    return Closeness(query).tables(dict(enumerate(note_words(texts))))


def test_the_same_word_is_as_close_as_can_be() -> None:
    """And a turn with nothing near it is left out."""
    (crash,) = table("crash", "it did crash again", "the colours of the chart")

    assert crash[0] == pytest.approx(1.0, abs=0.01)
    assert 1 not in crash


def test_a_word_finds_its_relatives() -> None:
    """That is what it is for: the person says delete, the turn says remove."""
    (found,) = table("delete", "remove the old rows", "water the apple trees")

    assert THRESHOLD <= found[0] < 0.99
    assert 1 not in found


def test_every_telling_word_has_a_table_of_its_own() -> None:
    """One word of a question must not hide another; "the" and "of" have none."""
    assert len(table("the speed of the database index", "a")) == 3
    assert table("the of", "the of") == []
    assert table("", "anything") == []


def test_a_turn_without_words_is_close_to_nothing() -> None:
    """An image alone, or a language that the table does not know."""
    assert table("crash", "", "☃ 🙂") == [{}]
    assert Closeness("crash").tables({}) == [{}]


def test_a_pasted_log_costs_no_more_than_a_question() -> None:
    """Each word is compared with each of every turn."""
    many = (
        "lock time index table row cache worker queue error log file test build alpha beta gamma "
        "delta north south east west"
        " red green blue black white apple pear stone water fire"
    )

    assert len(Closeness(many).tables({})) == MOST_WORDS


@given(
    st.lists(st.text(max_size=200) | st.sampled_from(["the lock timed out", "a b c"]), max_size=5)
)
def test_words_are_noted_once_and_not_too_many(texts: list[str]) -> None:
    """Two bytes each, in every turn of the store."""
    noted = note_words(texts)

    assert len(noted) == len(texts)
    for rows in noted:
        numbers = [rows[at : at + 2] for at in range(0, len(rows), 2)]
        assert len(set(numbers)) == len(numbers) <= MOST_NOTED


@given(st.text(max_size=300))
def test_closeness_is_between_the_threshold_and_one(text: str) -> None:
    """Whatever is asked, also of itself."""
    for found in table(text, text, "the deadlock in the migration"):
        assert all(THRESHOLD <= close <= 1.01 for close in found.values())
