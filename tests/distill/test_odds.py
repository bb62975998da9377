"""How likely it is that a task succeeded."""

from __future__ import annotations

from typing import get_args

import pytest

from recollect.distill.outcomes.facts import Facts, facts_of
from recollect.distill.outcomes.odds import EVIDENCE, FACTS, SURE, SURE_NOT, odds_of
from recollect.distill.tasks.actions import actions_of
from recollect.model.digests import EvidenceKind
from tests.builders.passages import Row, call, edit, passage, prompt, run

WORK = edit("shop/cart.py")


def facts(*rows: Row, replies: tuple[str, ...] = ()) -> Facts:
    """What a turn of these calls tells."""
    return facts_of(replies, actions_of(passage(1, prompt("x"), *rows)))


def test_every_fact_has_a_weight() -> None:
    """One without would be counted for nothing, and nobody would see it."""
    assert set(FACTS) == set(Facts._fields)
    assert set(EVIDENCE) <= set(get_args(EvidenceKind))


def test_a_person_who_judges_outweighs_the_course_of_the_work() -> None:
    """Nobody knows better whether it is what was wanted."""
    bad = facts(WORK, *[run("python a.py", "Error", code=1)] * 12)
    good = facts(WORK, run("pytest -q", "40 passed"))

    assert odds_of(bad, ["accepted"]) >= SURE
    assert odds_of(good, ["corrected"]) <= SURE_NOT


def test_failures_count_less_the_more_there_are() -> None:
    """Long work has many, and may be right in the end."""
    one, two, ten, eleven = (
        odds_of(facts(WORK, *[run("python a.py", "Error", code=1)] * count), [])
        for count in (1, 2, 10, 11)
    )

    assert one > two > ten >= eleven
    assert one - two > ten - eleven


@pytest.mark.parametrize(
    ("command", "tests"),
    [
        ("python -m pytest tests", True),
        ("npm run test -- --watch=false", True),
        ("go test ./...", True),
        ("gt mail inbox", False),
        ("cat toxic.py", False),
    ],
)
def test_tests_are_known_by_their_runner(command: str, tests: bool) -> None:
    """A word that is part of another one runs nothing."""
    assert bool(facts(WORK, run(command)).ran_tests) == tests


def test_a_script_that_writes_files_is_a_change() -> None:
    """Agents without an edit tool write with what they have."""
    script = run("python - <<'E'\nopen('a.py', 'w').write('x')\nE")

    assert facts(run("pytest -q", "3 passed"), script).tests_passed == 0
    assert facts(script, run("pytest -q", "3 passed")).tests_passed > 0


def test_only_tools_that_change_something_count_as_changes_elsewhere() -> None:
    """Looking something up is not risky."""
    looked, booked = call("get_flight", kind="mcp"), call("book_flight", kind="mcp")

    assert facts(looked).tool_changes == 0
    assert facts(booked).tool_changes > 0
    assert facts(looked).only_talk == 1


def test_an_agent_that_doubts_its_work_is_heard() -> None:
    """In its last replies; in those before, it was on its way."""
    doubts = facts(WORK, replies=("Wait, that did not work.", "Still failing. Let me look."))

    assert (
        doubts.late_doubts > facts(WORK, replies=("Done. I still use the old name.",)).late_doubts
    )
