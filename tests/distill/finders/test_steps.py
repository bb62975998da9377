"""A command is read as it was run: whole, with its folder, and whether it passed."""

from __future__ import annotations

import pytest

from recollect.distill.finders.steps import action, form, passed, steps
from tests.builders.records import FOLDER, ran


def read(command: str) -> list[tuple[str, str | None]]:
    return [(step.text, step.folder) for step in steps(command, None, FOLDER)]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("npm test", [("npm test", "")]),
        ("cd web && npm test 2>&1 | tail -20", [("npm test", "web")]),
        (
            "cd /home/ada/shop/web; npm test; npm run lint",
            [("npm test", "web"), ("npm run lint", "web")],
        ),
        ("cd .. && make", [("make", "~")]),
        ("bash -lc 'cd web; pytest -q'", [("pytest -q", "web")]),
        (
            'git commit -m "a; b && c" && git push',
            [('git commit -m "a; b && c"', ""), ("git push", "")],
        ),
        ("yarn build > /dev/null 2>&1", [("yarn build", "")]),
        ("cat data.csv | python load.py", [("cat data.csv | python load.py", "")]),
        ("# only a remark", []),
    ],
)  # fmt: skip
def test_a_line_is_taken_apart_and_its_characters_stay(
    command: str, told: list[tuple[str, str | None]]
) -> None:
    """What is told has to stand in the log, and has to run."""
    assert read(command) == told


@pytest.mark.parametrize(
    ("command", "shared"),
    [
        ("npm run build -- --watch", "npm run build"),
        ("FOO=1 sudo pytest -q tests/a.py", "pytest"),
        ("python3 -m http.server 8080", "python3 -m http.server"),
        ("uv run pytest -m slow", "uv run pytest"),
        ("docker compose up -d", "docker compose up"),
        ("git submodule update --remote", "git submodule"),
        ("git status", ""),
        ("ls -la", ""),
        ("Get-ChildItem -Recurse", ""),
        ("$x = 1", ""),
        ("for i in 1 2", ""),
        ("python -c 'print(1)'", ""),
    ],
)
def test_runs_of_one_thing_share_a_form(command: str, shared: str) -> None:
    assert form(command) == shared


def test_python_and_python3_do_the_same() -> None:
    """One of them is often missing, and the other is what to use."""
    assert action("python3 tools/load.py") == action("python tools/load.py")
    assert action("bd mol show a1") == "bd mol show"


@pytest.mark.parametrize(
    ("command", "output", "code", "known"),
    [
        ("npm test", "", 0, [True]),
        ("npm test", "", 1, [False]),
        ("npm test", "", None, [None]),
        ("npm test && npm run lint", "", 0, [True, True]),
        ("npm test; npm run lint", "", 0, [None, True]),
        ("npm test && npm run lint", "", 1, [None, None]),
        ("npm test | tail -5", "5 passed", 0, [True]),
        ("npm test | tail -5", "2 failed, 3 passed", 0, [None]),
    ],
)
def test_a_step_passed_only_where_its_line_tells(
    command: str, output: str, code: int | None, known: list[bool | None]
) -> None:
    """The exit code of `deploy | tail` is that of `tail`, and a call without one says nothing."""
    call = ran(command, output, code=code)
    line = steps(call.target, None, FOLDER)

    assert [passed(call, line, place) for place in range(len(line))] == known


def test_drives_are_the_same_whatever_their_case() -> None:
    """Git Bash, editors and people write one folder in three ways."""
    for folder in ("e:\\work\\shop", "E:/work/shop", "/e/work/shop"):
        assert steps("npm test", folder, "E:\\work")[0].folder == "shop"
