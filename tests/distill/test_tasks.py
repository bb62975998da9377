"""Where one task ends and the next begins."""

from __future__ import annotations

import pytest

from recollect.distill.tasks.actions import actions_of
from recollect.distill.tasks.tasks import Span, kinds_of, spans, title_of
from recollect.store.history import Passage
from tests.builders.passages import Row, edit, passage, prompt, reply, run


def tasks(*passages: Passage) -> list[list[int]]:
    """The turns of each task."""
    live = [one for one in passages if one.live]
    found = spans(passages, {one.ordinal: actions_of(one) for one in live}, kinds_of(live))
    return [[one.ordinal for one in span.passages] for span in found]


def talk(*said: str, work: tuple[Row, ...] = (reply("Done."),)) -> list[Passage]:
    return [passage(number, prompt(text), *work) for number, text in enumerate(said, 1)]


def test_another_topic_is_another_task() -> None:
    """One session often holds a morning's work."""
    said = talk(
        "fix the checkout worker, it hangs on startup",
        "write release notes for the mobile customers of spring",
    )

    assert tasks(*said) == [[1], [2]]


@pytest.mark.parametrize(
    "later",
    [
        "also do it for the other worker",
        "no, that's wrong",
        "works, thanks",
        "go on",
        "yes",
        "revert that please",
    ],
)
def test_what_goes_on_with_a_topic_belongs_to_it(later: str) -> None:
    """A verdict belongs to what it is about."""
    assert tasks(*talk("fix the checkout worker, it hangs on startup", later)) == [[1, 2]]


def test_an_answer_to_the_agent_belongs_to_its_question() -> None:
    """Read alone it would look like a wish of its own."""
    asked = passage(
        1,
        prompt("fix the checkout worker, it hangs"),
        reply("Shall I raise the pool, or open connections later?"),
    )
    answered = passage(
        2, prompt("the database only takes forty connections, open them late"), reply("Done.")
    )

    assert tasks(asked, answered) == [[1, 2]]


def test_work_on_the_same_file_goes_on_until_it_is_settled() -> None:
    """After a commit, the next wish for the same file is a new one."""
    begun = [prompt("fix the checkout worker, it hangs"), edit("shop/worker.py"), reply("Done.")]
    first = passage(1, *begun)
    second = passage(
        2,
        prompt("the shutdown handler should close all sockets cleanly"),
        edit("shop/worker.py"),
        reply("Done."),
    )
    commit = run("git commit -am worker", "[main 1a2b3c4] worker")
    committed = passage(1, *begun, commit)

    assert tasks(first, second) == [[1, 2]]
    assert tasks(committed, second) == [[1], [2]]


def test_what_was_seen_to_fail_is_mended_in_the_same_task() -> None:
    """First the person has it looked into, then done."""
    seen = passage(
        1,
        prompt("why does the nightly image job fail since friday"),
        run("docker build .", "error: no openssl", code=1),
    )
    mended = passage(
        2,
        prompt("install the headers in the builder stage then"),
        edit("Dockerfile"),
        reply("Done."),
    )

    assert tasks(seen, mended) == [[1, 2]]


def test_undone_and_self_started_turns_stay_with_the_task_before() -> None:
    """An undone turn tells something about the task; it asks for nothing any more."""
    first = passage(1, prompt("fix the checkout worker, it hangs on startup"), reply("Done."))
    undone = passage(
        2,
        prompt("write release notes for the mobile customers of spring"),
        reply("Done."),
        live=False,
    )
    own = passage(
        3,
        prompt("The build you started in the background has finished: everything is ready"),
        author="system",
    )

    assert tasks(first, undone, own) == [[1, 2, 3]]


def test_commands_to_the_agents_program_are_no_tasks() -> None:
    """`/clear` is said to the program, and nothing comes of it."""
    assert tasks(passage(1, prompt("/clear"))) == []
    assert tasks(
        passage(1, prompt("/clear")),
        passage(2, prompt("fix the checkout worker please"), reply("Done.")),
    ) == [[2]]
    assert tasks(passage(1, prompt("/review the last commit"), reply("Fine."))) == [[1]]


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("fix the build\nit fails since friday", "fix the build"),
        ("\n\n## Fix the build", "Fix the build"),
        ("<ide_selection>x</ide_selection>\nfix the build", "fix the build"),
        ("<only a tag>", "‹only a tag›"),
        ("[image image/png 24021 bytes 591d0001]\nwhat is this?", "what is this?"),
        ("## User Input\n\n```text\nA website for the invoices\n```", "A website for the invoices"),
        ("# User Input", "User Input"),
        ("Not in Chrome :(\\\nYou are **bob**", "Not in Chrome :("),
        ("", ""),
        ("x" * 100, "x" * 12 + "…"),
    ],
)
def test_a_task_is_called_by_its_first_line(asked: str, title: str) -> None:
    """It is what a person recognises it by."""
    assert title_of(Span(asked)) == title


@pytest.mark.parametrize(
    "opening", ["start", "!make test", "can we continue from where we left off?", ""]
)
def test_a_task_is_called_by_the_first_prompt_that_says_something(opening: str) -> None:
    """Nobody finds a session again that is called "hello".

    How the task before went is judged by what opened this one.
    """
    said = [
        passage(1, prompt(opening), reply("Hello.")),
        passage(2, prompt("fix the checkout worker please"), reply("Done.")),
    ]

    [task] = spans(said, {}, {})

    assert (task.opening, task.asked) == (opening, "fix the checkout worker please")
