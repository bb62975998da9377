"""Attempts from digests: each task is one, as if somebody had recorded it."""

from __future__ import annotations

from recollect.distill.tasks.digest import make
from recollect.episodes.derive import STEPS_KEPT, derive, language_of
from recollect.episodes.reward import reward
from recollect.model.digests import Digest, Run, Task, Trouble
from recollect.model.episodes import Context, Episode, Step
from recollect.model.sessions import Tokens
from tests.builders.passages import REF, call, edit, passage, prompt, reply, run


def digest_of(*tasks: Task) -> Digest:
    return Digest(
        session=REF,
        project="/home/ada/shop",
        title="",
        outcome="uncertain",
        summary="",
        tasks=list(tasks),
    )


def test_a_task_becomes_an_attempt_with_its_calls_as_steps() -> None:
    """What was asked, what was done, how each step and the whole went.

    None of what tools printed or the agent wrote; the sort of error is in words of ours.
    """
    turns = [
        passage(
            1,
            prompt("round the tax per line"),
            run("pytest -q", "1 failed", code=1),
            edit("src/tax.py"),
            input=700,
            output=9,
        ),
        passage(
            2,
            prompt("go on"),
            call("src/orders.py", "the file", kind="read"),
            run("pytest -q", "3 passed"),
            reply("Done."),
        ),
    ]
    digest = make(REF, turns, project="/home/ada/shop")

    (made,) = derive(digest, turns, lambda project: "work" if project == "/home/ada/shop" else None)

    steps = [
        Step("shell", "pytest -q", success=False, observation="failing tests"),
        Step("edit", "src/tax.py", success=True),
        Step("read", "src/orders.py", success=True),
        Step("shell", "pytest -q", success=True),
    ]
    assert made == Episode(
        ref=f"{REF}#1", source="derived", task=digest.tasks[0].asked, outcome="success",
        context=Context(language="python", domain="work", project="/home/ada/shop"),
        started_at="1970-01-01T00:01:00.000Z", duration_ms=2_000, tokens=709, steps=steps,
        reward=reward("success", steps, 2_000, checked=True), session=REF, turns=[1, 2],
        trust="tool-verified",
    )  # fmt: skip


def test_where_events_were_let_go_the_kept_commands_stand_for_them() -> None:
    """Raw events are dropped first; what was learned from them must not get worse for that."""
    task = Task(
        title="round", asked="round the tax", turns=[4], outcome="fail", files=["a.rs"],
        tokens=Tokens(output=9), seconds=60,
        runs=[Run(ref="", command="cargo test", ok=False, check=True), Run(ref="",
        command="git stash", ok=True)],
        errors=[Trouble(ref="", error="E0308", worked=f"{REF}#4"), Trouble(ref="",
        error="E0499 left")],
    )  # fmt: skip

    (made,) = derive(digest_of(task), [passage(4, prompt("round the tax"), whole=False)])

    assert made.steps == [
        Step("shell", "cargo test", success=False),
        Step("shell", "git stash", success=True),
    ]
    assert (made.context.language, made.error, made.duration_ms, made.tokens) == (
        "rust",
        "E0499 left",
        60_000,
        9,
    )


def test_of_a_long_task_the_end_is_kept_and_all_of_it_counts() -> None:
    """A row stays small, and what took a thousand steps was still not efficient."""
    turns = [passage(1, prompt("do it"), *(run(f"step {number}") for number in range(1_000)))]

    (made,) = derive(
        digest_of(Task(title="do it", asked="do it", turns=[1], outcome="success")), turns
    )

    assert [step.action for step in made.steps] == [
        f"step {number}" for number in range(1_000 - STEPS_KEPT, 1_000)
    ]
    assert made.reward is not None
    assert (made.reward.efficiency, made.reward.complexity) == (0, 0.5 + 1 / 16)


def test_a_task_that_nothing_is_left_of_is_no_attempt() -> None:
    """Undone turns, and sessions in which nothing was asked."""
    undone = Task(title="x", asked="x", turns=[], outcome="abandoned")
    silent = Task(title="", asked="", turns=[1], outcome="uncertain")

    assert derive(digest_of(undone, silent), [passage(1)]) == []


def test_a_language_is_that_of_most_files() -> None:
    """Of equals the first; a file of no language does not vote."""
    assert language_of(["a.py", "b/c.ts", "d.tsx", "README.md", "Makefile"]) == "typescript"
    assert language_of(["a.go", "b.py"]) == "go"
    assert language_of(["LICENSE", "x.md", ""]) is None
