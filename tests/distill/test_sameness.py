"""Facts that say the same are one fact; facts that speak against each other are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.distill.notes.sameness import find_same, speak_against
from recollect.model.old_notes import OldNote


def note(text: str, number: int = 1, **known: str) -> OldNote:
    return OldNote(
        ref=f"note:{number}", category="project", text=text, project="/home/ada/shop",
        confidence=0.8, session=None, turn=None,
        seen=1, created_at=None, seen_at=None, valid_from=None, valid_to=None, superseded_by=None,
        **{"status": "candidate", "trust": "user", "author": "rules", **known},  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always run the tests before you commit", "Run the tests before every commit"),
        ("We use pnpm, not npm", "Use pnpm instead of npm"),
        ("Don't use mocks in tests", "Avoid mocks in tests"),
        ("Use ruff rather than flake8", "Use ruff instead of flake8"),
        (
            "All public functions must have docstrings",
            "Every public function must have a docstring",
        ),
        ("Never push to main", "never push to MAIN."),
        (
            "To check work here, run `npx tsc --noEmit`",
            "To check work here, run `pnpm tsc --noEmit --pretty`",
        ),
        ("To check work here, run `npm run build`", "To check work here, run `bun run build`"),
        (
            "To check work here, run `PYTHONPATH=. pytest`",
            "Run `PYTHONPATH=. pytest` here: `pytest` fails (exit 1)",
        ),
        ("`a.h` is at `src/a.h`, not at `a.h`", "`a.h` is at `src/a.h`, not at `lib/a.h`"),
    ],
)
def test_the_same_in_other_words_is_one_fact(one: str, other: str) -> None:
    """Nobody says a thing twice in the same words, and a list that
    holds it five times is read by nobody.
    """
    known = note(other)

    assert find_same(one, [known]) == known
    assert not speak_against(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to main", "Always push to main"),
        ("Don't use mocks in tests", "Use mocks in tests"),
        ("Use spaces instead of tabs", "We use tabs"),
        ("Use tabs instead of spaces", "Use spaces instead of tabs"),
        ("Let's use apple container instead of docker proper", "We use docker"),
        ("We use Python 3.12", "We use Python 3.11"),
        ("Python here is version 3.12.1", "Python here is version 3.11.2"),
    ],
)
def test_facts_that_cannot_both_hold_are_found(one: str, other: str) -> None:
    """What replaced a rule must not be told beside it, and above all not be taken for it."""
    assert speak_against(one, other)
    assert speak_against(other, one)
    assert find_same(one, [note(other)]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs", "Use spaces"),
        ("Never commit secrets", "Never commit generated files"),
        ("Run `make lint` before every commit", "Run `make test` before every commit"),
        ("Never run tests before commit", "Never run tests after commit"),
        ("To check work here, run `uv run pytest`", "To check work here, run `uv run pyright`"),
        (
            "To check work here, run `pytest -m slow`",
            'To check work here, run `pytest -m "not slow"`',
        ),
        ("To check work here, run `make lint`", "To check work here, run `make test`"),
        (
            "To check work here, run `cd a && cargo test`",
            "To check work here, run `cd b && cargo test`",
        ),
        (
            "To check work here, run `uv run pytest`",
            "To check a part of the work here, run `uv run pytest FILE`",
        ),
        ("`a.h` is at `src/a.h`, not at `a.h`", "`b.h` is at `src/b.h`, not at `b.h`"),
        ("Run `a b` here: `b` fails (exit 1)", "Run `b` here: `a b` fails (exit 1)"),
        ("Tests live in tests/unit", "Tests live in tests/integration"),
        ("`rg` is not installed here (exit 127)", "`just` is not installed here (exit 127)"),
    ],
)
def test_two_facts_about_alike_things_stay_two(one: str, other: str) -> None:
    """Losing a rule because it resembles another would be worse than keeping both."""
    assert find_same(one, [note(other)]) is None
    assert not speak_against(one, other)


def test_what_a_person_stands_behind_comes_first() -> None:
    """A fact that is found again confirms the note that counts, not its copy."""
    own = note("Never push to main", 2, author="person", status="active")

    assert find_same("never push to main", [note("Never push to main", 1), own]) == own


FACTS = st.lists(
    st.sampled_from(
        [
            "use",
            "tabs",
            "never",
            "not",
            "instead of",
            "spaces",
            "3.12",
            "`make lint`",
            "we",
            "before",
            ",",
        ]
    ),
    max_size=8,
).map(" ".join)


# The encoder is read once, which takes a while.
@settings(deadline=None)
@given(FACTS, FACTS)
def test_nothing_is_both_the_same_and_the_opposite(one: str, other: str) -> None:
    """A note cannot be confirmed and retired by the same sentence."""
    assert speak_against(one, other) == speak_against(other, one)
    assert not (find_same(one, [note(other)]) and speak_against(one, other))
