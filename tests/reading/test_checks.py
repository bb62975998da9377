"""Which commands tell whether the work is right, and how they ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.reading.checks import ended, is_check


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q", "uv run pytest tests/a.py", "python -m pytest", "cd web && pnpm test",
        "npm run test:unit",
        "npm t && npm test", "yarn lint", "make check", "make", "just test",
        "cargo clippy -- -D warnings", "go vet ./...",
        "./gradlew build", "mvn -q verify", "ruff check .", "ruff format --check .",
        "black --check src", "npx tsc --noEmit",
        "pnpm exec eslint src", "mypy", "bash -n tools/deploy.sh", "node --check server.mjs",
        "cmake --build build", "terraform validate", "docker build .",
        "timeout 60 pytest -q | tail -5",
    ],
)  # fmt: skip
def test_tests_linters_and_builds_are_checks(command: str) -> None:
    """What passes after it failed is the best sign that something was mended."""
    assert is_check(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls", "git commit -m 'fix the tests'", "ruff format .", "black src", "pytest --version",
        "cat tests/test_a.py",
        "npm install", "pip install pytest", "docker run app", "cargo add serde", "terraform apply",
        "grep -r pytest .",
        "echo test", "make install", "", "Test-Path till.py", "./monitor-build.sh",
        "bash run_tests.sh", "./scripts/verify-restore.sh db", "python tests/smoke_test.py",
    ],
)  # fmt: skip
def test_what_only_speaks_of_checks_is_none(command: str) -> None:
    """A green `git commit` says nothing about the code."""
    assert not is_check(command)


@pytest.mark.parametrize(
    ("command", "ok", "output", "passed"),
    [
        ("pytest -q", True, "3 passed", True),
        ("pytest -q", False, "1 failed", False),
        ("pytest -q", True, "", True),
        # A pipe hides the exit code, so its words count.
        ("pytest -q | tail -3", True, "1 failed, 2 passed in 0.1s", False),
        ("pytest -q | tail -3", True, "3 passed in 0.1s", True),
        (
            "mypy src | head",
            True,
            "src/a.py:1: error: Name is not defined\nFound 1 error in 1 file",
            False,
        ),
        ("npx tsc --noEmit | head", True, "", True),
        ("cargo test 2>&1 | tail", True, "test result: FAILED. 1 passed; 1 failed", False),
        ("make lint; echo done", True, "make: *** [lint] Error 1\ndone", False),
        ("pytest -q | grep -c x", True, "cannot tell", None),
        # Which link of a chain broke, nobody knows; that one did is enough.
        ("pip install . && pytest", False, "", False),
        ("pytest", None, "", None),
        ("pytest", None, "2 passed", True),
    ],
)
def test_a_check_ends_as_it_says_where_the_line_hides_it(
    command: str, ok: bool | None, output: str, passed: bool | None
) -> None:
    """Agents cut long outputs with `| tail`, and the shell then reports how tail went."""
    assert ended(command, ok, output) is passed


@given(st.text(), st.sampled_from([True, False, None]), st.text())
def test_whatever_was_typed_can_be_asked(command: str, ok: bool | None, output: str) -> None:
    """A log holds anything; no line of it may stop the digest of a session."""
    assert is_check(command) in (True, False)
    assert ended(command, ok, output) in (True, False, None)
