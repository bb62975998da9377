"""What a person approved, refused or answered, told only when the log says that they did."""

from __future__ import annotations

import pytest

from recollect.distill.finders import answers
from recollect.model.record import CallRecord
from tests.builders.records import session, turn, used

PLAN = "We decided to keep the old table because the importer always writes to it first."


def planned(*, ok: bool | None) -> list[str]:
    call = used("ExitPlanMode", {"plan": PLAN}, ok=ok)
    return [one.text for one in answers.find(session(turn("Plan it", call)))]


def test_a_plan_that_was_approved_is_told() -> None:
    assert planned(ok=True) == [PLAN]


@pytest.mark.parametrize("ok", [False, None])
def test_a_plan_that_nobody_is_known_to_have_approved_is_not(ok: bool | None) -> None:
    """A log that ends with the plan says nothing of an answer."""
    assert planned(ok=ok) == []


@pytest.mark.parametrize(
    ("ok", "code"),
    [(True, 1), (True, 0), (None, 124), (False, 1)],
)
def test_how_a_call_ended_is_decided_once(ok: bool | None, code: int) -> None:
    """Exit 1 of `rg` is an answer, and 124 of `timeout` no failure: `reading.endings` knows."""
    call = CallRecord("shell", "Bash", "rg port src", ok=ok, exit_code=code)

    assert (call.passed, call.failed) == (ok is True, ok is False)
