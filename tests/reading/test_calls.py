"""What can be read from calls: whether one tries again what failed, and what got past it."""

from __future__ import annotations

import pytest

from recollect.model.calls import Call
from recollect.reading.calls import FollowUp, Retry, find_retry, follow, weight_of


def shell(line: str, *, ok: bool | None = True) -> Call:
    return Call(1, 0, "Bash", "shell", line, ok)


def tool(kind: str, name: str, target: str, *, ok: bool | None = True) -> Call:
    return Call(1, 0, name, kind, target, ok)


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
    assert find_retry(shell(failed, ok=False), shell(later)) == match


def test_calls_of_tools_are_compared_by_what_they_are_about() -> None:
    """Reading a file again is the same; reading another one is not."""
    failed = tool("read", "Read", "/a.py", ok=False)

    assert find_retry(failed, tool("read", "Read", "/a.py")) == ("same", False)
    assert find_retry(failed, tool("read", "view", "/a.py")) == ("alike", False)
    assert find_retry(failed, tool("read", "Read", "/b.py")) is None
    assert find_retry(failed, tool("edit", "Read", "/a.py")) is None
    assert find_retry(tool("read", "Read", "", ok=False), tool("read", "Read", "")) is None
    assert find_retry(failed, shell("cat /a.py")) is None


@pytest.mark.parametrize(
    ("call", "weight"),
    [
        (shell("ls && git status"), 0),
        (shell("cat a > b && rm c"), 2),
        (shell(""), 0),
        (tool("edit", "Edit", "a.py"), 1),
        (tool("read", "Read", "a.py"), 0),
    ],
)
def test_what_may_have_changed_something_has_weight(call: Call, weight: int) -> None:
    """Looking around between a failure and a success did not make the difference."""
    assert weight_of(call) == weight


def test_the_best_proof_is_the_same_command_with_a_plain_end() -> None:
    """Then one whose end is hidden, then one that is only alike; of equals the first."""
    failed = shell("pytest -q", ok=False)
    same, again = shell("pytest -q"), shell("cd web && pytest -q")
    hidden, alike = shell("pytest -q | tail -3"), shell("pytest -q tests/a.py")

    def proof(*later: Call) -> Call | None:
        return follow(failed, later, fails_again=lambda call: False).proof

    assert proof(alike, hidden, same, again) is same
    assert proof(alike, hidden) is hidden
    assert proof(alike) is alike
    assert proof(shell("ruff check")) is None


def test_a_retry_with_no_known_end_is_no_proof() -> None:
    """Many logs say nothing of how a command ended; that nothing is known is not a pass."""
    failed = shell("pytest -q", ok=False)
    unknown = shell("pytest -q", ok=None)

    assert follow(failed, [unknown], fails_again=lambda call: False).proof is None
    assert follow(failed, [unknown, shell("pytest -q")]).retry == Retry("same", hidden=False)


def test_a_hidden_end_with_the_same_error_is_no_proof() -> None:
    """`pytest | tail` ends well whatever pytest says, so its output is asked."""
    failed, hidden = shell("pytest -q", ok=False), shell("pytest -q | tail -3")

    assert follow(failed, [hidden], fails_again=lambda call: True).proof is None
    assert follow(failed, [hidden], fails_again=lambda call: False).retry == ("same", True)


def test_what_changed_something_between_a_failure_and_its_proof_was_done_about_it() -> None:
    """Looking, and trying in vain, did not help; the same step twice in a row is one."""
    failed, proof = shell("pytest -q", ok=False), shell("pytest -q")
    edit, install = tool("edit", "Edit", "a.py"), shell("pip install x", ok=None)
    between = [shell("ls"), edit, edit, shell("pytest -q", ok=False), install]

    assert follow(failed, [*between, proof]) == FollowUp(
        [edit, install], proof, Retry("same", hidden=False), more=False
    )
