"""Which program a command uses, and the shape of its use."""

from __future__ import annotations

import pytest

from recollect.reading.programs import find_use, looks_only, program_of, shape_of
from recollect.reading.shell import pieces


@pytest.mark.parametrize(
    ("command", "tool", "shape"),
    [
        ("pytest -q tests/a.py", "pytest", "pytest -q …"),
        ("uv run pytest -q -n 4 tests", "pytest", "uv run pytest -q -n …"),
        ("uv run --with rich pytest -x", "pytest", "uv run --with rich pytest -x"),
        (".venv/bin/pytest -x", "pytest", "pytest -x"),
        ("python -m pytest --cov=shop", "pytest", "python -m pytest --cov=…"),
        ("pnpm vitest run src/a.ts", "vitest", "pnpm vitest run …"),
        ("docker compose up -d db", "docker compose", "docker compose up -d …"),
        ("docker --context x compose up", "docker compose", "docker --context … compose up"),
        ("git -c a=b commit -m msg", "git commit", "git -c … commit -m …"),
        ("terraform -chdir=envs/a plan -out=x.plan", "terraform", "terraform -chdir=… plan -out=…"),
        ("gh run list --limit 3", "gh", "gh run list --limit …"),
        ("head -20 a b", "head", "head -N …"),
        ("echo pytest", "pytest", None),
        ("git push", "git commit", None),
    ],
)
def test_a_use_is_found_and_told_without_its_arguments(
    command: str, tool: str, shape: str | None
) -> None:
    """Two runs that differ in a path are one way to use a tool.

    The word elsewhere in a line is none.
    """
    words = pieces(command)[0].words

    start = find_use(words, tool.split())

    assert (shape_of(words, start, tool.split()) if start is not None else None) == shape


def test_alike_commands_have_the_same_program() -> None:
    """What launches it, and what it is used on, do not matter."""
    commands = [
        "flask --app shop run",
        "uv run flask --app shop run",
        "pytest -x",
        "uv run pytest tests",
        "cargo build",
        "cargo test",
    ]

    assert [program_of(command.split()) for command in commands] == [
        ("flask", "run"), ("flask", "run"), ("pytest",), ("pytest",), ("cargo", "build"), ("cargo",
        "test"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "expected"),
    [("rg foo", True), ("git log -3", True), ("git commit -m x", False), ("sed -n 1p a", True),
    ("sed -i s/a/b/ a", False),
     ("cat a > b", False), ("ls 2>/dev/null", True), ("find . -delete", False), ("docker ps", True),
     ("docker rm x", False)],
)  # fmt: skip
def test_looking_changes_nothing(command: str, expected: bool) -> None:
    """What was only looked at is no part of a fix."""
    assert looks_only(pieces(command)[0]) is expected
