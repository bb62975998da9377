"""What a session left to do is what still fails at its end, and nothing that was seen to work."""

from __future__ import annotations

import pytest

from recollect.distill.tasks.open_ends import open_ends
from recollect.model.digests import Run, Task


def left(*runs: tuple[str, bool]) -> list[str]:
    """What is left of a task in which these checks were run, each by its command alone."""
    made = [Run(ref="codex:a#1", command=command, ok=ok, check=True) for command, ok in runs]
    task = Task(title="t", asked="t", turns=[1], outcome="uncertain", runs=made)
    return [line.split("`")[1] for line in open_ends([task], [])]


@pytest.mark.parametrize(
    "later",
    [
        "pytest -m slow -q",
        "pytest -m slow --tb=short",
        "pytest",
        "cd shop && pytest -m slow",
        "pytest -m slow 2>&1 | tail",
    ],
)
def test_a_check_that_passed_in_another_form_is_not_left_open(later: str) -> None:
    """The same tests with other options, or all of them, say as much."""
    assert left(("pytest -m slow --tb=short -q", False), (later, True)) == []


@pytest.mark.parametrize("later", ["pytest -m fast", "pytest -k cart", "ruff check .", "npm test"])
def test_a_check_of_something_else_proves_nothing(later: str) -> None:
    """Other tests, a part of them, or another program leave the rest as it was."""
    assert left(("pytest -m slow", False), (later, True)) == ["pytest -m slow"]


def test_what_fails_again_is_left_open() -> None:
    """Only what came after counts."""
    assert left(("pytest", True), ("pytest -q", False)) == ["pytest -q"]
