"""Whether one command does what another one tried."""

from __future__ import annotations

import pytest

from recollect.reading.attempts import Attempt, compare, find_proof


def shell(line: str, *, ok: bool | None = True) -> Attempt:
    return Attempt("shell", "Bash", line, ok)


@pytest.mark.parametrize(
    ("failed", "later", "match"),
    [
        ("pytest -q", "pytest -q", ("same", False)),
        ("pytest -q", "cd web && pytest -q", ("same", False)),
        ("pytest -q", "pytest -q | tail -3", ("same", True)),
        ("pytest -q", "pytest -q tests/a.py", ("alike", False)),
        ("pytest -q", "uv run pytest", ("alike", False)),
        ("npm run build && npm test", "npm test", ("alike", False)),
        ("npm run build && npm test", "npm run build", None),
        ("npm run build && npm test", "npm run build && npm test", ("same", False)),
        ("docker build .", "docker ps", None),
        ("pytest -q", "ruff check", None),
        ("pytest -q", "", None),
        ("", "pytest -q", None),
    ],
)  # fmt: skip
def test_a_later_line_does_what_a_failed_one_tried(
    failed: str, later: str, match: tuple[str, bool] | None
) -> None:
    """The same command with the same words, or at least the same program.

    And a pipe hides how that ended.
    """
    assert compare(shell(failed, ok=False), shell(later)) == match


def test_calls_of_tools_are_compared_by_what_they_are_about() -> None:
    """Reading a file again is the same; reading another one is not."""
    failed = Attempt("read", "Read", "/a.py", False)

    assert compare(failed, Attempt("read", "Read", "/a.py", True)) == ("same", False)
    assert compare(failed, Attempt("read", "view", "/a.py", True)) == ("alike", False)
    assert compare(failed, Attempt("read", "Read", "/b.py", True)) is None
    assert compare(failed, Attempt("edit", "Read", "/a.py", True)) is None
    assert (
        compare(Attempt("read", "Read", None, False), Attempt("read", "Read", None, True)) is None
    )
    assert compare(failed, shell("cat /a.py")) is None


@pytest.mark.parametrize(
    ("attempt", "weight"),
    [
        (shell("ls && git status"), 0),
        (shell("cat a > b && rm c"), 2),
        (shell(""), 0),
        (Attempt("edit", "Edit", "a.py", True), 1),
        (Attempt("read", "Read", "a.py", True), 0),
    ],
)
def test_what_may_have_changed_something_has_weight(attempt: Attempt, weight: int) -> None:
    """Looking around between a failure and a success did not make the difference."""
    assert attempt.weight == weight


def test_the_best_proof_is_the_same_command_with_a_plain_end() -> None:
    """Then one whose end is hidden, then one that is only alike; of equals the first."""
    same, hidden, alike = ("same", False), ("same", True), ("alike", False)

    assert find_proof([True] * 4, [alike, hidden, same, same]) == 2
    assert find_proof([True, True, False, False], [alike, hidden, same, same]) == 1
    assert find_proof([True, False, False, False], [alike, hidden, same, same]) == 0
    assert find_proof([False, True], [same, None]) is None
