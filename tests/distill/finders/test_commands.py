"""How the work is done: commands that passed, whole, with their folder, by what they are for."""

from __future__ import annotations

import pytest

from recollect.distill.finders import commands
from recollect.model.record import CallRecord
from tests.builders.records import ran, session, turn


def told(*calls: CallRecord, prompt: str = "Fix it") -> list[str]:
    return [one.text for one in commands.find([session(turn(prompt, *calls))])]


def test_what_checks_a_folder_stands_in_one_line() -> None:
    calls = [ran("cd web && npm run build"), ran("cd web && npm test 2>&1 | tail -3", "5 passed")]

    assert told(*calls) == ["Checks in web: `npm test`, `npm run build`"]


def test_many_ways_to_test_stand_in_a_line_of_their_own() -> None:
    """Which tests run where is what is forgotten first."""
    ways = ["uv run pytest", 'uv run pytest -m "not slow" -v', "uv run pytest -m browser -v"]
    others = ["ruff check", "ruff format", "uv run mypy", "uv run pyright", "npm run build"]

    found = told(*map(ran, ways + others))

    assert (
        'Tests: `uv run pytest`, `uv run pytest -m "not slow" -v`, `uv run pytest -m browser -v`'
        in found
    )


@pytest.mark.parametrize(
    "call",
    [
        ran("npm test", "1 failed", code=1),
        ran("npm test", code=None),
        ran("npm test | tail -3", "1 failed, 4 passed"),
        ran("Test-Path till.py"),
        ran("monitor-build.sh"),
        ran("git status"),
        ran("npm test -- --token=abc123secret"),
    ],
)  # fmt: skip
def test_what_did_not_pass_or_checks_nothing_is_not_told(call: CallRecord) -> None:
    """`monitor-build.sh` has a word in its name, and is no check."""
    assert told(call) == []


def test_all_of_the_tests_say_more_than_one_of_them() -> None:
    parts = [ran("pytest tests/test_till.py -k open") for _ in range(3)]

    assert told(*parts, ran("pytest -q")) == ["Checks: `pytest -q`"]


def test_a_command_of_the_project_is_told_when_it_came_again() -> None:
    once = ran("python tools/load.py --all")

    assert told(once) == []
    assert told(once, once) == ["Run: `python tools/load.py --all`"]


def test_a_command_that_a_person_named_is_told_at_once() -> None:
    call = ran("act --container-architecture linux/amd64 -j test")

    assert told(call) == []
    assert told(call, prompt="You can test it with `act`.") == [f"Run: `{call.target}`"]


def test_a_command_is_told_whole_or_not_at_all() -> None:
    long = "python tools/load.py " + " ".join(f"--only=part{n}" for n in range(20))

    assert told(ran(long), ran(long)) == []


def test_what_a_person_pasted_from_a_terminal_is_run_by_the_person() -> None:
    prompt = "It exits at once:\nada@desk:~/shop$ QT_QPA_PLATFORM=xcb opk-gui --debug\nWhy?"
    found = [one.text for one in commands.typed(session(turn(prompt)))]

    assert found == ["The person runs: `QT_QPA_PLATFORM=xcb opk-gui --debug`"]


def test_code_in_backticks_is_no_command() -> None:
    prompt = "Set `bg-white text-black` on `const till = open()` and `Till closed early`"

    assert list(commands.typed(session(turn(prompt)))) == []


def test_a_pipeline_is_one_step() -> None:
    """Its parts do nothing alone."""
    call = ran("cat coins.csv | python tools/load.py --all")

    assert told(call, call) == []
    assert told(ran("python tools/load.py | tee out.txt"), ran("ls | sort | uniq")) == []


def test_power_shell_is_left_alone() -> None:
    calls = [
        ran("Get-ChildItem | Sort-Object Name | Select-Object -First 3"),
        ran("foreach ($f in ls) { npm test $f }"),
        ran("$env:PORT=1; Test-Path till.py"),
    ]

    assert told(*calls, *calls) == []


def test_a_setting_before_a_program_is_how_a_person_runs_it() -> None:
    prompt = "you broke something: TILL_PORT=4000 DEBUG=1 shop-gui\nset DEBUG=1 to see more"

    assert [one.text for one in commands.typed(session(turn(prompt)))] == [
        "The person runs: `TILL_PORT=4000 DEBUG=1 shop-gui`"
    ]


def test_a_command_of_one_session_is_not_sure() -> None:
    """What was run once for one thing is no way of working."""
    once = [ran("python tools/load.py --day=monday")] * 2
    records = [session(turn("Load it", *once), number=number) for number in (1, 2)]

    assert [one.is_sure for one in commands.find(records[:1])] == [False]
    assert [one.is_sure for one in commands.find(records)] == [True]
