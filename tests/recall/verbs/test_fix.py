"""What was done about an error before, and the proof that it worked."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.errors import UsageError
from recollect.model.answers import Fix, FixStep
from tests.builders.homes import claude_log
from tests.builders.work import Remember, Work

ERROR = "error[E0499]: cannot borrow `stations` as mutable more than once"


def repaired(number: int = 1, error: str = ERROR, **envelope: str) -> Work:
    """An error, an edit, and the same command again."""
    work = Work(number, **envelope).ask("build it").run("cargo check", error, code=101)
    return work.edit("/home/ada/shop/src/main.rs").run("cargo check").done()


def test_the_steps_up_to_the_run_that_worked_are_the_fix(remember: Remember) -> None:
    work = repaired()

    found = remember(work).fix(ERROR)

    assert found.rows == [
        Fix(
            ref=f"{work.ref}#1", session=work.ref, turn=1, agent="claude-code",
            project="/home/ada/shop",
            at="2026-01-01T09:00:01.000Z", live=True, subagent=False, external=False,
            error=ERROR, match="exact",
            failed="cargo check", exit_code=101,
            steps=[FixStep(ref=f"{work.ref}#1", kind="edit", text="/home/ada/shop/src/main.rs",
            ok=True)], steps_left_out=0,
            proof=FixStep(ref=f"{work.ref}#1", kind="command", text="cargo check", ok=True),
            proof_match="same",
            confidence="high", why="the same line; the same command worked afterwards",
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "asked", "match"),
    [
        (
            "bind 0.0.0.0:5432: address already in use",
            "bind 0.0.0.0:5432: address already in use",
            "exact",
        ),
        (
            "bind 0.0.0.0:5432: address already in use",
            "bind 127.0.0.1:8080: address already in use",
            "shape",
        ),
        (
            "/a/b.py:3: cannot import name 'url_decode'",
            "C:\\x\\y.py:99: cannot import name 'url_decode'",
            "shape",
        ),
        (
            "ModuleNotFoundError: No module named 'yaml'",
            "ModuleNotFoundError: No module named 'toml'",
            "names",
        ),
        ("daemon: failed to bind port: address already in use", "address already in use", "part"),
        ("npm error unable to resolve dependency tree", "npm resolve tree", "words"),
    ],
)
def test_the_error_need_not_be_the_same_to_the_letter(
    stored: str, asked: str, match: str, remember: Remember
) -> None:
    """Paths, ports and names differ from machine to machine; a person remembers a part of it."""
    (row,) = remember(repaired(error=stored)).fix(asked)

    assert (row.error, row.match) == (stored, match)


@pytest.mark.parametrize(
    "asked",
    ["error[E0502]: something else entirely", "cannot", "borrow checker says no", "zzz qqq"],
)
def test_another_error_finds_nothing(asked: str, remember: Remember) -> None:
    assert remember(repaired()).fix(asked).rows == []


def test_a_whole_output_may_be_asked(remember: Remember) -> None:
    """Nobody wants to pick the line first."""
    output = (
        f"   Compiling shop v0.1.0\n\x1b[31m{ERROR}\x1b[0m\n --> src/other.rs:9:1\n"
        "error: aborting due to 1 previous error\n"
    )

    (row,) = remember(repaired()).fix(output)

    assert row.match == "exact"


def test_the_fix_may_come_turns_later(remember: Remember) -> None:
    """The person says what to do, in the next prompt."""
    work = (
        Work()
        .ask("start")
        .run("make dev", "port 5000 is already in use", code=2)
        .done("It is taken.")
    )
    work.ask("use 5050").run("sed -i s/5000/5050/ Makefile").run("cat Makefile").run(
        "make dev", "serving"
    ).done()

    (row,) = remember(work).fix("port 5000 is already in use")

    assert [step.text for step in row.steps] == ["sed -i s/5000/5050/ Makefile"]
    assert row.proof is not None
    assert (row.proof.ref, row.proof.text) == (f"{work.ref}#2", "make dev")


@pytest.mark.parametrize(
    ("retry", "proof", "confidence"),
    [
        ("pytest -q", "same", "high"),
        ("ruff check && pytest -q", "same", "high"),
        ("ls tests; pytest -q", "same", "high"),
        ("pytest -q | tail -3", "same", "medium"),
        ("uv run pytest -x", "alike", "medium"),
        ("pytest -x | tail", "alike", "low"),
        # What `&&` hangs on has passed, whatever the rest of the line hides.
        ("pytest -q && npm test | tail", "same", "high"),
        ("mypy", None, "low"),
        ("pytest -q &", None, "low"),
    ],
)
def test_how_sure_it_is_depends_on_the_proof(
    retry: str, proof: str | None, confidence: str, remember: Remember
) -> None:
    """A pipe hides the exit code, another command proves less, and none proves nothing.

    The answer says which it is.
    """
    work = (
        Work()
        .ask("test")
        .run("pytest -q", "E   TypeError: bad operand", code=1)
        .edit("/home/ada/shop/a.py")
        .run(retry, "3 passed")
        .done()
    )

    (row,) = remember(work).fix("TypeError: bad operand")

    assert (row.proof_match, row.confidence) == (proof, confidence)


def test_an_output_with_the_error_is_no_proof(remember: Remember) -> None:
    """The pipe ended well; what ran in it did not."""
    work = (
        Work()
        .ask("test")
        .run("pytest | tail", "TypeError: bad operand")
        .edit("/home/ada/shop/a.py")
    )
    work.run("pytest | tail", "TypeError: bad operand").edit("/home/ada/shop/b.py").run(
        "pytest | tail", "3 passed"
    ).done()

    (row,) = remember(work).fix("TypeError: bad operand")

    assert [step.text for step in row.steps] == ["/home/ada/shop/a.py", "/home/ada/shop/b.py"]
    assert (
        row.why
        == "the same line; the same command ran afterwards in a longer line that worked; its "
        "own exit code is unknown"
    )


def test_looking_at_a_log_meets_no_error(remember: Remember) -> None:
    work = (
        Work()
        .ask("look")
        .run("cat old.log", "TypeError: bad operand")
        .run("cat old.log", "TypeError: bad operand")
        .done()
    )

    assert remember(work).fix("TypeError: bad operand").rows == []


def test_the_name_in_an_error_may_be_known_from_elsewhere(remember: Remember) -> None:
    """It is the rarest word of the line, and leads to the wrong turn."""
    elsewhere = Work(2).ask("parse").run("toml check", "toml: line 3 is invalid", code=1).done()

    (row,) = remember(repaired(error="No module named 'yaml'"), elsewhere).fix(
        "No module named 'toml'"
    )

    assert (row.error, row.match) == ("No module named 'yaml'", "names")


def test_the_same_command_later_beats_one_that_is_alike(remember: Remember) -> None:
    work = (
        Work()
        .ask("test")
        .run("pytest -q", "TypeError: bad operand", code=1)
        .edit("/home/ada/shop/a.py")
    )
    work.run("pytest -q tests/one.py").edit("/home/ada/shop/b.py").run("pytest -q").done()

    (row,) = remember(work).fix("TypeError: bad operand")

    assert row.proof is not None
    assert (row.proof.text, [step.text for step in row.steps]) == (
        "pytest -q", ["/home/ada/shop/a.py", "pytest -q tests/one.py", "/home/ada/shop/b.py"],
    )  # fmt: skip


def test_what_only_passed_on_a_second_try_is_said_to_be_so(remember: Remember) -> None:
    """Nothing was changed in between: that is no fix, it is luck."""
    work = (
        Work()
        .ask("test")
        .run("pytest", "database is locked", code=1)
        .run("ls")
        .run("pytest")
        .done()
    )

    (row,) = remember(work).fix("database is locked")

    assert (row.steps, row.confidence) == ([], "medium")
    assert "run again" in row.why


def test_an_edit_that_failed_is_proven_by_an_edit_that_worked(remember: Remember) -> None:
    work = (
        Work()
        .ask("edit")
        .edit("/home/ada/shop/a.py", error="String to replace not found in file.")
        .run("cat a.py")
    )
    work.edit("/home/ada/shop/a.py").done()

    (row,) = remember(work).fix("String to replace not found in file.")

    assert (row.failed, row.proof_match) == ("Edit /home/ada/shop/a.py", "same")


def test_own_project_comes_first_and_proof_before_none(remember: Remember) -> None:
    """What worked elsewhere is better than what did not work here."""
    ours = repaired(1, cwd="/home/ada/shop")
    theirs = repaired(2, cwd="/home/ada/blog")
    unsolved = Work(3, cwd="/home/ada/blog").ask("x").run("cargo check", ERROR, code=101).done()

    found = remember(unsolved, ours, theirs).fix(ERROR, folder="/home/ada/blog")

    assert [row.session for row in found] == [theirs.ref, ours.ref, unsolved.ref]


def test_an_error_met_twice_before_it_was_fixed_is_one_answer(remember: Remember) -> None:
    work = (
        Work()
        .ask("build")
        .run("make", "ld: cannot find -lssl", code=2)
        .run("make", "ld: cannot find -lssl", code=2)
    )
    work.run("apt install libssl-dev").run("make").done()

    (row,) = remember(work).fix("ld: cannot find -lssl")

    assert [step.text for step in row.steps] == ["apt install libssl-dev"]


def test_a_copy_in_a_fork_is_told_once(home: Path, remember: Remember) -> None:
    work, fork = repaired(), repaired()
    fork.talk.session = "5e551011-0000-4000-8000-000000000009"
    fork.talk.lines = [
        line.replace(work.talk.session, fork.talk.session) for line in work.talk.lines
    ]
    claude_log(home, fork.talk)

    assert len(remember(work).fix(ERROR)) == 1


@pytest.mark.parametrize("asked", ["", "  \n ", "----", "Exit code 1\n=====\n"])
def test_no_error_is_refused(asked: str, remember: Remember) -> None:
    with pytest.raises(UsageError):
        remember(repaired()).fix(asked)


@pytest.mark.parametrize("line", ["npm error code EACCES", "Exit code 243", "3 failed"])
def test_a_lone_line_is_never_dull(line: str, remember: Remember) -> None:
    """Beside others it says nothing; somebody who gives it alone asks about it."""
    work = Work(1).ask("install").run("npm ci", f"{line}\nnpm error EACCES: no", code=243)
    other = Work(2).ask("install").run("npm ci", "npm error code EPERM\n4 failed", code=7).done()

    found = remember(work.run("npm ci").done(), other).fix(line)

    assert [(row.session, row.error) for row in found] == [(work.ref, line)]


def test_the_line_as_it_is_comes_before_one_that_is_alike_and_proven(remember: Remember) -> None:
    """What worked for another port or another name is no answer to this one."""
    error = "bind 0.0.0.0:{}: address already in use"
    alike = repaired(1, error.format(8080))
    literal = Work(2).ask("x").run("cargo run", error.format(5432), code=1).done()

    found = remember(alike, literal).fix(error.format(5432))

    assert [(row.session, row.match) for row in found] == [
        (literal.ref, "exact"), (alike.ref, "shape")
    ]  # fmt: skip


def test_an_error_that_people_pasted_counts(remember: Remember) -> None:
    """What ran elsewhere left its output in a prompt, and nowhere else."""
    works = [
        Work(number).ask(f"I get this in production:\n{ERROR}\nwhat now?").edit("/srv/a.rs").done()
        for number in (1, 2)
    ]

    found = remember(*works).fix(ERROR)

    assert found.remarks == ["No tool printed this error. 2 prompts quote it:"]
    assert {row.session for row in found} == {work.ref for work in works}
    assert {(row.match, row.confidence, row.failed, row.proof) for row in found} == {
        ("exact", "low", None, None)
    }
    assert [step.text for step in found.rows[0].steps] == ["/srv/a.rs"]


def test_an_error_that_a_tool_printed_is_not_looked_for_in_prompts(remember: Remember) -> None:
    """The person pasted it after the agent had met it."""
    found = remember(repaired(1), Work(2).ask(f"again: {ERROR}").done()).fix(ERROR)

    assert (len(found), found.remarks) == (1, [])
