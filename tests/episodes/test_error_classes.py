"""Which sort of error an output tells of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.episodes.error_classes import error_class, is_declined, tells_much


@pytest.mark.parametrize(
    ("output", "code", "found"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", 1, "no module named yaml"),
        ("bash: pricer: command not found", 127, "command not found pricer"),
        ("zsh: command not found: gradle", 127, "command not found gradle"),
        ('npm error Missing script: "tset"', 1, "missing script tset"),
        ("src/a.ts(3,4): error TS2322: Type 'x' is not assignable", 2, "TS2322"),
        ("E   AssertionError: assert 1 == 2", 1, "AssertionError"),
        ("2 failed, 31 passed in 3.1s", 1, "failing tests"),
        ("psycopg.errors.OperationalError: FATAL: role", 1, "OperationalError"),
        ("Error: listen EADDRINUSE: address already in use :::3000", 1, "port in use"),
        ("error[E0382]: borrow of moved value", 101, "E0382"),
        ("a.py:1:1: F401 unused\na.py:2:1: F401 unused", 1, "F401"),
        ("a.py:1:1: F401 unused\na.py:2:1: E711 none", 1, "failed"),
        ("", 3, "exit code 3"),
        ("", 137, "killed"),
        ("", None, "failed"),
    ],
)
def test_an_error_is_told_by_its_name_its_code_or_a_phrase(
    output: str, code: int | None, found: str
) -> None:
    """Paths, numbers and values differ each time; the class is what comes back."""
    assert error_class(output, code) == found


def test_what_says_only_that_something_failed_tells_little() -> None:
    """That tests fail at times is how tests are used, and no pattern."""
    assert [
        tells_much(error) for error in ("failing tests", "failed", "exit code 3", "TS2322")
    ] == [False, False, False, True]


@given(st.text(max_size=300), st.sampled_from([None, 0, 1, 2, 127]))
def test_a_class_is_short_and_made_of_names(output: str, code: int | None) -> None:
    """Whatever a tool prints, it cannot put a sentence into what we say."""
    found = error_class(output, code)

    assert 0 < len(found) <= 80
    assert " => " not in found
    assert " ! " not in found


@pytest.mark.parametrize(
    ("output", "declined"),
    [
        ("The user doesn't want to proceed with this tool use.", True),
        ("exec command rejected by user", True),
        ("This command requires approval", True),
        ("error: push was rejected", False),
    ],
)
def test_what_a_person_declined_is_told_from_what_failed(output: str, *, declined: bool) -> None:
    """The command may be fine; somebody did not want it."""
    assert is_declined(output) == declined
