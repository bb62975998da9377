"""Errors are the same when only paths, numbers, times and ids in them differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.reading.error_text import (
    error_lines,
    headline,
    longest_word,
    shape,
    telling,
    without_names,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "src/a.py:12:5: E501 Line too long (131 > 110)",
            "/home/kim/web/b.py:7:1: E501 Line too long (99 > 88)",
        ),
        ("E   TypeError: bad operand", "TypeError: bad operand"),
        ("Output: error: no such table", "error: no such table"),
        ("\x1b[31merror\x1b[0m: could not compile `shop`", 'error: could not compile "shop"'),
        ("#9 33.71 error: failed to run build", "#12 4.02 error: failed to run build"),
        ("panic at 0x7ffde41", "panic at 0x55aa"),
        ("2026-01-02T10:00:00Z connection refused", "2025-12-31 23:59:59.123 connection refused"),
        (
            "lock 7c1f8b52-0d3e-6a44-9b1c-2f60e1a9d7aa is held",
            "lock 11111111-2222-3333-4444-555555555555 is held",
        ),
        ("killed after 3.2s, 512MB", "killed after 10s, 64MB"),
        ("main.rs(31,9): error TS2322: no", "other.rs(1,2): error TS2322: no"),
        ("cannot fetch https://a.example/x?y=1", "cannot fetch http://b.example/"),
    ],
)
def test_what_differs_from_run_to_run_does_not_matter(one: str, other: str) -> None:
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("No module named 'yaml'", "No module named 'toml'"),
        ("error TS2322: no", "error TS2554: no"),
        ("port in use", "file in use"),
    ],
)
def test_names_codes_and_words_do_matter(one: str, other: str) -> None:
    """They are what tells two errors apart."""
    assert shape(one) != shape(other)


def test_the_same_error_about_something_else_can_be_told() -> None:
    assert without_names(shape("No module named 'yaml'")) == without_names(
        shape('No module named "toml"')
    )


def test_the_lines_that_tell_are_picked() -> None:
    """Progress, counts and the frames of a trace say nothing about what went wrong."""
    output = """
    Compiling shop v0.1.0
    Traceback (most recent call last):
      File "/app/shop/cli.py", line 12, in refresh
        cache.replace(rows)
    sqlite3.IntegrityError: UNIQUE constraint failed: prices.article
    =================== FAILURES ===================
    1 failed, 13 passed in 9.02s
    """

    assert error_lines(output) == [
        "sqlite3.IntegrityError: UNIQUE constraint failed: prices.article"
    ]


def test_an_output_without_such_words_is_told_by_its_last_line() -> None:
    assert error_lines("Exit code 1\nchecking a\nthe sky is falling\n\n") == ["the sky is falling"]
    assert error_lines("Exit code 1\n") == []


def test_a_person_who_says_no_is_no_error() -> None:
    assert (
        error_lines(
            "The user doesn't want to proceed with this tool use. The tool use was rejected."
        )
        == []
    )


def test_a_named_error_is_the_headline() -> None:
    """`failed` alone could be anything."""
    lines = ["FAIL src/a.test.ts > saves", "AssertionError: expected 1 to be 2"]

    assert headline(lines) == lines[1]
    assert (headline(["first failed", "second failed"]), headline([])) == ("first failed", None)


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=80))
def test_a_shape_has_its_longest_word_in_every_spelling_of_the_line(line: str) -> None:
    """The quick look before two lines are compared may not lose a match."""
    shaped = shape(line)

    assert longest_word(shaped) in shaped
    assert shape(f"  {line}\t") == shaped
    assert telling(shaped) in (True, False)
