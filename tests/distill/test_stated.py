"""What a person states about how to work, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.notes.stated import MOST_CHARACTERS, Statement, is_document, statements


def stated(prompt: str) -> list[tuple[str, str]]:
    return [(one.category, one.text) for one in statements(prompt)]


@pytest.mark.parametrize(
    ("prompt", "category", "text"),
    [
        (
            "Always run the tests before you commit.",
            "preference",
            "Always run the tests before you commit",
        ),
        ("ok, and please never push to main", "constraint", "Never push to main"),
        ("We use pnpm, not npm.", "preference", "We use pnpm, not npm"),
        (
            "From now on, write commit messages in English.",
            "preference",
            "From now on, write commit messages in English",
        ),
        ("no, don't use mocks in tests", "constraint", "Don't use mocks in tests"),
        (
            "Let's use SQLite because it needs no server",
            "decision",
            "Let's use SQLite because it needs no server",
        ),
        ("I prefer small functions.", "preference", "I prefer small functions"),
        ("I don’t want hard-coded paths", "preference", "I don’t want hard-coded paths"),
        (
            "All public functions must have docstrings",
            "constraint",
            "All public functions must have docstrings",
        ),
        ("btw the tests live in tests/unit", "project", "The tests live in tests/unit"),
        ("This project uses Python 3.12", "project", "This project uses Python 3.12"),
        ("Please remember to always run ruff.", "preference", "Always run ruff"),
        (
            "run `make lint` before every commit",
            "preference",
            "Run `make lint` before every commit",
        ),
        ("Please do not touch the main branch", "constraint", "Do not touch the main branch"),
        ("use tabs instead of spaces", "preference", "Use tabs instead of spaces"),
        ("In future, ask before you deploy.", "preference", "In future, ask before you deploy"),
        ("commit after each step", "preference", "Commit after each step"),
        ("stop adding comments", "constraint", "Stop adding comments"),
    ],
)
def test_a_rule_is_kept_in_the_persons_words(prompt: str, category: str, text: str) -> None:
    """What people say about how to work is worth more than anything we could make of it."""
    assert stated(prompt) == [(category, text)]


@pytest.mark.parametrize(
    "prompt",
    [
        "it always fails", "it never worked", "you never run the tests", "never mind",
        "Why do you always do this?",
        "don't do that again", "don't touch it", "Should we always use pnpm?",
        "it seems that the tests always fail",
        "I think we should always use tabs", "for now, never push to main",
        "don't modify the script",
        "use the other one instead of this", "For each model, calculate a score",
        "Create a folder for each file",
        "Don't add new endpoints", "Stop all e2e tasks", "Every commit must include:",
        "Dont ask me next time",
        "I will need it in the future", "make a plan going forward",
        "Don't change line 12", "always use that", "can you always run the tests",
        "Fix the login page", "", "ok", "We use it",
    ],
)  # fmt: skip
def test_what_only_holds_now_or_points_elsewhere_states_nothing(prompt: str) -> None:
    """A note is read by somebody who was not there: a complaint, a question or
    a pointing finger tells them nothing.
    """
    assert stated(prompt) == []


def test_each_sentence_and_each_item_stands_for_itself() -> None:
    """People mix what they want now with what they always want."""
    prompt = (
        "Fix the login. Always run the tests before you commit.\n- never push to main\n"
        "- add a button\n"
    )

    assert stated(prompt) == [
        ("preference", "Always run the tests before you commit"),
        ("constraint", "Never push to main"),
    ]


def test_a_line_that_an_editor_wrapped_is_one_sentence() -> None:
    """Half a rule is another rule."""
    prompt = (
        "Always run the whole test suite and the linter and the type\nchecker before you commit."
    )

    assert stated(prompt) == [
        (
            "preference",
            "Always run the whole test suite and the linter and the type checker before you commit",
        )
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "```\nAlways run the tests before you commit.\n```",
        "> Always run the tests before you commit.",
        "<system-reminder>Always run the tests before you commit.</system-reminder>",
        "[recalled: note:7]",
        "# Plan\nAlways run the tests before you commit.",
        "/review\nAlways run the tests before you commit.",
        "\n".join(["Always run the tests before you commit."] * 7),
        "Build it:\n- add a cart\n- add a page\n- never create duplicates\n- all tests must pass "
        "always\n",
        "Always use the key [REDACTED:aws:0123abcd] here",
        "Always run the tests before you commit [recalled: note:7]",
    ],
)
def test_what_was_not_typed_states_nothing(prompt: str) -> None:
    """Documents, commands, what programs add and what we said ourselves are nobody's preference."""
    assert stated(prompt) == []


def test_a_correction_right_after_an_edit_counts_for_more() -> None:
    """Whoever looks at a change and says how it should have been means it."""
    plain, correcting = (
        list(statements("no, don't use mocks in tests", corrects=corrects))
        for corrects in (False, True)
    )

    assert plain == [Statement("constraint", "Don't use mocks in tests", 0.7)]
    assert correcting[0].confidence == pytest.approx(0.8)


@given(st.text(max_size=600))
def test_any_prompt_can_be_read(prompt: str) -> None:
    """Prompts hold whatever a clipboard held."""
    for one in statements(prompt):
        assert not is_document(prompt)
        assert 0 < len(one.text) <= MOST_CHARACTERS
        assert "\n" not in one.text
