"""Errors that keep coming back."""

from __future__ import annotations

import pytest

from recollect.model.answers import Friction
from recollect.recall.verbs import friction
from tests.builders.work import Remember, Work


def stumble(
    number: int, error: str, *, overcome: bool = False, cwd: str = "/home/ada/shop"
) -> Work:
    """A session in which a command fails, and perhaps works later."""
    work = Work(number, cwd=cwd).ask(f"try {number}").run("make dev", error, code=2)
    return (work.run("docker stop registry").run("make dev") if overcome else work).done()


def test_an_error_of_three_sessions_is_friction(remember: Remember) -> None:
    """Ports and paths differ, and it is the same trouble."""
    works = [
        stumble(n, f"bind 0.0.0.0:{5000 + n}: address already in use", overcome=n == 3)
        for n in (1, 2, 3)
    ]

    found = remember(*works).friction()

    assert found.rows == [
        Friction(
            shape="bind §n:§n: address already in use", count=3, sessions=3, agents=["claude-code"],
            projects=["/home/ada/shop"],
            first_at="2026-01-01T09:00:01.000Z", last_at="2026-01-01T09:00:01.000Z",
            example="bind 0.0.0.0:5001: address already in use", ref=f"{works[0].ref}#1",
            external=False,
            command="make dev",
            fixed=1, looked_at=3, weeks={"2025-12-29": 3},
        )
    ]  # fmt: skip


def test_often_in_one_session_is_no_friction(remember: Remember) -> None:
    """That is one afternoon, not a pattern."""
    work = Work().ask("go")
    for _ in range(5):
        work.run("make", "cannot find -lssl", code=2)

    assert remember(work.done()).friction().rows == []


def test_fewer_sessions_may_be_asked_for(remember: Remember) -> None:
    mind = remember(stumble(1, "cannot find -lssl"), stumble(2, "cannot find -lssl"))

    assert (
        len(mind.friction()),
        len(mind.friction(sessions=2)),
        len(mind.friction("project:blog", sessions=2)),
    ) == (0, 1, 0)


def test_the_most_widespread_comes_first(remember: Remember) -> None:
    works = [stumble(n, "first trouble is missing") for n in (1, 2)] + [
        stumble(n, "second trouble is missing") for n in (3, 4, 5)
    ]

    found = remember(*works).friction(sessions=2, limit=1)

    assert ([row.example for row in found], found.remarks) == (
        ["second trouble is missing"],
        ["1 more. To see them, raise --limit."],
    )


def test_only_the_newest_turns_of_a_large_store_are_told_about(
    remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the answer says so."""
    monkeypatch.setattr(friction, "NEWEST_TURNS", 2)

    found = remember(*(stumble(n, "cannot find -lssl") for n in (1, 2, 3))).friction(sessions=2)

    assert [row.count for row in found] == [2]
    assert found.remarks == [
        "Counted the newest 2 of 3 turns with errors. For older ones, add until:DATE."
    ]


def test_words_without_meaning_are_no_error(remember: Remember) -> None:
    """`FAILED` alone could be anything."""
    assert remember(*(stumble(n, "FAILED 12") for n in (1, 2, 3))).friction().rows == []


def test_a_copy_in_a_fork_is_no_other_session(remember: Remember) -> None:
    work = stumble(1, "cannot find -lssl")
    forks = [stumble(n, "x") for n in (2, 3)]
    for fork in forks:
        fork.talk.lines = [
            line.replace(work.talk.session, fork.talk.session) for line in work.talk.lines
        ]

    assert remember(work, *forks).friction().rows == []
