"""What a note may be, whoever says it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.notes.note import (
    CATEGORIES,
    MOST_CHARACTERS,
    author_of,
    category_of,
    confidence_of,
    one_line,
    plain,
    statuses_of,
)
from recollect.errors import UsageError


@pytest.mark.parametrize(
    ("name", "category"),
    [
        *((category, category) for category in CATEGORIES),
        ("Preference", "preference"), (" DECISION ", "decision"),
        ("userpreference", "preference"), ("user_preference", "preference"), ("UserPreference",
        "preference"),
        ("projectfact", "project"), ("PROJECT_FACT", "project"), ("codepattern", "pattern"),
        ("Code_Pattern", "pattern"),
    ],
)  # fmt: skip
def test_a_category_has_other_names_in_any_case(name: str, category: str) -> None:
    """Models and people do not agree on spelling."""
    assert category_of(name) == category


def test_an_unknown_category_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        category_of("gossip")

    assert caught.value.hint == "Choose preference, project, pattern, decision, constraint."


def test_a_note_is_one_line_of_what_can_be_seen() -> None:
    """What is invisible to the person who accepts a note would still be read by an agent."""
    hidden = (
        "\u200b\u200d\u2060\ufeff\u202e\u2066\u00ad\u034f\u3164\ufe0f"
        "\U000e0041\U000e0100\x1b\x07\ud800\ue000"
    )

    line = plain(f"  Use\ttabs,{hidden}\r\n never\u2028\u00a0spaces \N{SNOWMAN} ")

    assert line == "Use tabs, never spaces \N{SNOWMAN}"


@given(st.text())
def test_whatever_is_said_becomes_one_line_that_can_be_seen(text: str) -> None:
    """Nothing that moves a cursor, turns text around or hides in it gets into a
    note, and saying it twice changes nothing.
    """
    if "\0" in text:
        with pytest.raises(UsageError):
            one_line(text)
        return

    line = one_line(text)

    assert not [
        char
        for char in line
        if char != " " and (char.isspace() or unicodedata.category(char)[0] == "C")
    ]
    assert one_line(line) == line == line.strip()


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b", "...", "— ? !"])
def test_a_note_without_words_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no words"):
        plain(text)


def test_a_note_that_is_too_long_is_refused_rather_than_cut() -> None:
    """Half a sentence may say the opposite."""
    assert plain("x" * MOST_CHARACTERS) == "x" * MOST_CHARACTERS

    with pytest.raises(UsageError, match="601 characters"):
        plain("x" * (MOST_CHARACTERS + 1))


def test_binary_is_refused() -> None:
    with pytest.raises(UsageError, match="NUL"):
        plain("use tabs\0")


def test_only_a_person_speaks_for_every_project() -> None:
    """Otherwise one session could write into all the others."""
    assert author_of("person", everywhere=True) == "person"

    with pytest.raises(UsageError, match="only a person"):
        author_of("agent", everywhere=True)
    with pytest.raises(UsageError):
        author_of("rules")


def test_confidence_is_between_nothing_and_certainty() -> None:
    assert [
        confidence_of(None, "person"),
        confidence_of(None, "agent"),
        confidence_of(0.7, "agent"),
    ] == [1.0, 0.5, 0.7]

    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError):
            confidence_of(wrong, "agent")


def test_statuses_are_asked_for_one_by_one_or_together() -> None:
    assert statuses_of(None) == []
    assert statuses_of("active") == ["active"]
    assert statuses_of(["rejected", "active"]) == ["active", "rejected"]

    with pytest.raises(UsageError, match='There is no status "gone"'):
        statuses_of("gone")
