"""What recurs over sessions and projects becomes candidates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.distill import patterns
from recollect.model.batch import ProjectIdentity
from recollect.model.notes import FoundNote
from recollect.model.record import SessionRecord
from tests.builders.records import ran, session, turn
from tests.store.conftest import Filled, facts
from tests.store.conftest import turn as said


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path / "recollect.db")
    yield made
    made.close()


STALE = "Error: Database out of sync with JSONL"


def told(*sessions: SessionRecord) -> list[str]:
    return [one.text for one in patterns.find(sessions)]


def show(number: int, name: str) -> SessionRecord:
    """A session in which a command fails, and passes with one more option."""
    failed = ran(f"bd show {name}", STALE, code=1)
    return session(turn("go", failed, ran(f"bd show {name} --allow-stale")), number=number)


def release(number: int, *steps: str) -> SessionRecord:
    return session(turn("release it", *map(ran, steps)), number=number)


def test_a_change_that_got_past_a_failure_twice_is_proposed() -> None:
    """Once may be luck; what the command is about may be another thing each time."""
    assert told(show(1, "till")) == []
    assert told(show(1, "till"), show(2, "cart")) == [
        f"`bd show cart` fails: {STALE} → `bd show cart --allow-stale` works"
    ]


def test_the_change_that_helped_most_often_is_the_one() -> None:
    """Others were tried on the way."""
    failed = ran("bd close a --comment", "Error: unknown flag: --comment", code=1)
    sessions = [session(turn("go", failed, ran("bd close a --note")), number=1)] + [
        session(turn("go", failed, ran("bd close a --reason")), number=number) for number in (2, 3)
    ]

    (line,) = told(*sessions)

    assert line.endswith("→ `bd close a --reason` works")


def test_another_thing_to_do_is_no_way_past_a_failure() -> None:
    """A look at the logs, or another script, does not do what failed."""
    failed = ran("gt daemon start", "Error: daemon failed to start", code=1)
    build = ran("npm run build", "error: no such file or directory", code=1)
    sessions = [
        session(
            turn("go", failed, ran("gt daemon logs"), build, ran("npm run lint")), number=number
        )
        for number in (1, 2)
    ]

    assert told(*sessions) == []


def test_what_is_given_up_in_session_after_session_is_friction() -> None:
    """What the same session got past in the end is no news."""
    failed = ran("bd sync", "Error: import failed: database is locked", code=1)
    never = [session(turn("go", failed, ran("ls")), number=number) for number in (1, 2, 3)]
    later = [session(turn("go", failed, ran("bd sync")), number=number) for number in (4, 5, 6)]

    assert told(*never[:2]) == told(*later) == []
    assert told(*never, *later) == [
        "`bd sync` fails at times: Error: import failed: database is locked"
    ]


def test_friction_names_no_single_thing_and_says_what_went_wrong() -> None:
    """With other arguments each time, the command is what fails; that it failed is no news."""
    stale = [
        session(turn("go", ran(f"bd show {name}", STALE, code=1)), number=number)
        for number, name in enumerate(("till", "cart", "shelf"), 1)
    ]
    vague = ran("gt sling", "Error: creating it: exit status 1", code=1)

    assert told(*stale) == [f"`bd show` fails at times: {STALE}"]
    assert told(*(session(turn("go", vague), number=number) for number in (1, 2, 3))) == []


def test_commands_in_the_same_order_are_a_procedure() -> None:
    """Whoever accepts it may publish it as a skill."""
    steps = "npm run build", "npm version patch", "npm publish"

    assert told(release(1, *steps), release(2, "npm ci", *steps)) == [
        "Procedure: `npm run build` → `npm version patch` → `npm publish`"
    ]


def test_commands_in_any_order_are_none() -> None:
    """Nobody has to know in which order the checks were run."""
    steps = "npm run lint", "npm run build", "npm test"
    orders = [steps, steps, steps[::-1], steps[::-1]]

    assert told(*(release(number, *order) for number, order in enumerate(orders, 1))) == []


def test_looking_around_is_no_procedure() -> None:
    """`Get-ChildItem`, then `Sort-Object` is what everybody does."""
    looks = "gh pr list", "git status", "docker ps", "kubectl get pods", "bd show cr-4711"

    assert told(release(1, *looks), release(2, *looks)) == []


def test_what_two_projects_met_is_proposed_for_everywhere(filled: Filled) -> None:
    """It has to do with the machine or the person, not with the project."""
    notes = filled.store.notes
    for name in ("shop", "till"):
        filled.store.projects.ensure(ProjectIdentity(f"/srv/{name}", "directory"))
        filled.keep(f"{name}.jsonl", facts(name), *said(name, "k", "push it"))

    def found(name: str) -> FoundNote:
        return FoundNote(
            "failure git push: denied", "`git push` fails: permission denied", "constraint",
            "traps", "tool-verified", None, (f"codex:{name}#1",), is_sure=True,
        )  # fmt: skip

    def remember(name: str) -> None:
        notes.bring_up_to_date(f"/srv/{name}", [found(name)], "rules")
        patterns.share(filled.store, f"/srv/{name}", [found(name)])

    remember("shop")
    assert list(notes.search(everywhere=True)) == []

    remember("till")
    remember("shop")
    (note,) = notes.search(everywhere=True)
    assert (note.text, note.status, note.author) == (found("till").text, "candidate", "pattern")
    assert (set(note.turns), note.sessions) == ({"codex:shop#1", "codex:till#1"}, 2)

    notes.reject(note.ref)
    remember("till")
    assert [one.status for one in notes.search(everywhere=True)] == ["rejected"]
