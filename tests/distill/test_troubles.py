"""Errors, and what made them go away."""

from __future__ import annotations

from recollect.distill.tasks.actions import actions_of
from recollect.distill.tasks.troubles import troubles
from recollect.model.digests import Trouble
from tests.builders.passages import REF, Row, call, edit, passage, prompt, run

MISSING = "ModuleNotFoundError: No module named 'yaml'"


def found(*rows: Row) -> list[Trouble]:
    """The errors of one turn."""
    return [
        trouble
        for _, trouble in troubles(actions_of(passage(1, prompt("x"), *rows), "/home/ada/shop"))
    ]


def trouble(error: str, command: str, *steps: str, worked: bool = True) -> Trouble:
    return Trouble(
        ref=f"{REF}#1",
        error=error,
        command=command,
        steps=list(steps),
        worked=f"{REF}#1" if worked else None,
    )


def test_what_was_done_before_a_command_passed_is_what_helped() -> None:
    """This is what the next session wants to know."""
    rows = [
        run("pytest -q", MISSING, code=1),
        run("uv add pyyaml"),
        edit("/home/ada/shop/a.py"),
        run("pytest -q", "2 passed"),
    ]

    assert found(*rows) == [trouble(MISSING, "pytest -q", "uv add pyyaml", "edit a.py")]


def test_an_error_that_stays_has_no_steps() -> None:
    """What did not help is no help."""
    rows = [
        run("pytest -q", MISSING, code=1),
        run("uv add toml"),
        run("pytest -q", MISSING, code=1),
    ]

    assert found(*rows) == [trouble(MISSING, "pytest -q", worked=False)]


def test_the_same_error_counts_once_and_is_overcome_by_the_last_try() -> None:
    """Only from the last failure on, nothing is left to fail."""
    again = run("pytest -q", MISSING, code=1)

    assert found(
        again, run("uv add toml"), again, run("uv add pyyaml"), run("pytest -q", "2 passed")
    ) == [trouble(MISSING, "pytest -q", "uv add toml", "uv add pyyaml")]


def test_a_line_that_did_more_may_be_the_fix_itself() -> None:
    """Agents like to mend and to check in one line."""
    rows = [run("pytest -q", MISSING, code=1), run("uv add pyyaml && pytest -q", "2 passed")]

    assert found(*rows) == [trouble(MISSING, "pytest -q", "uv add pyyaml && pytest -q")]


def test_a_check_that_failed_behind_a_pipe_is_an_error() -> None:
    """The shell called it a success."""
    rows = [
        run("pytest -q | tail -2", f"{MISSING}\n1 failed"),
        run("uv add pyyaml"),
        run("pytest -q | tail -2", "2 passed"),
    ]

    assert found(*rows) == [trouble(MISSING, "pytest -q | tail -2", "uv add pyyaml")]


def test_looking_in_vain_and_fumbled_edits_are_no_errors() -> None:
    """A `grep` that finds nothing fails all day long."""
    assert (
        found(
            run("grep -r nothing .", code=1),
            run("ls /nowhere", "No such file", code=2),
            edit("a.py", ok=False),
        )
        == []
    )


def test_what_was_run_in_another_way_is_the_fix_when_nothing_else_was_done() -> None:
    """ "After no step at all" would help nobody."""
    rows = [run("pytest -q", MISSING, code=1), run("PYTHONPATH=. pytest -q", "2 passed")]

    assert found(*rows) == [trouble(MISSING, "pytest -q", "PYTHONPATH=. pytest -q")]


def test_faults_of_the_agents_own_tools_are_no_errors() -> None:
    """That no shell has this number says nothing about the project."""
    assert found(call("shell-7", "no shell has this number", kind="other", ok=False)) == []
    assert found(call("shop", "relation does not exist", kind="mcp", ok=False)) == [
        trouble("relation does not exist", "shop", worked=False)
    ]
