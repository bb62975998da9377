"""What an attempt was worth, and by which parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.episodes.reward import LONG_MS, MANY_STEPS, WORTH, reward
from recollect.model.episodes import Reward, Step
from recollect.model.sessions import Outcome

steps = st.lists(
    st.builds(Step, st.sampled_from("abcdefghijk"), success=st.sampled_from([None, True, False])),
    max_size=60,
)
times = st.none() | st.integers(0, 10 * LONG_MS)
outcomes = st.sampled_from(sorted(WORTH))
checks = st.sampled_from([None, True, False])


@given(outcomes, steps, times, checks)
def test_every_part_is_a_share(
    outcome: Outcome, taken: list[Step], took: int | None, checked: bool | None
) -> None:
    """So that attempts of any length can be compared, and parts be read by a person."""
    made = reward(outcome, taken, took, checked=checked)

    assert all(
        0 <= part <= 1
        for part in (made.total, made.outcome, made.efficiency, made.complexity, made.quality)
    )


@given(steps, times, checks)
def test_a_better_outcome_is_never_worth_less(
    taken: list[Step], took: int | None, checked: bool | None
) -> None:
    """Whatever else speaks for the other one, of the same steps."""
    totals = [
        reward(outcome, taken, took, checked=checked).total
        for outcome in sorted(WORTH, key=lambda one: WORTH[one])
    ]

    assert totals == sorted(totals)
    assert totals[0] == 0


@given(outcomes, steps, times, times)
def test_taking_longer_is_never_worth_more(
    outcome: Outcome, taken: list[Step], one: int | None, other: int | None
) -> None:
    """Time counts against an attempt, as far as it is known."""
    if one is not None and other is not None:
        short, long = sorted((one, other))

        assert reward(outcome, taken, short).total >= reward(outcome, taken, long).total


def test_the_parts_of_an_attempt_that_went_well() -> None:
    """The formula of docs/episodes.md by one example."""
    made = reward(
        "success", [Step("bash", success=True)] * 3 + [Step("edit", success=False)], 30_000
    )

    assert made == Reward(total=made.total, outcome=1, efficiency=1, complexity=0.175, quality=0.75)
    assert made.total == pytest.approx(0.55 + 0.20 * 1 + 0.10 * 0.175 + 0.15 * 0.75)


@pytest.mark.parametrize(("checked", "quality"), [(None, 1.0), (True, 1.0), (False, 0.5)])
def test_the_last_check_is_half_of_quality(checked: bool | None, quality: float) -> None:
    """Steps that went well prove little when the tests fail in the end."""
    assert reward("partial", [Step("edit", success=True)], 1, checked=checked).quality == quality


def test_what_nobody_would_watch_is_not_efficient() -> None:
    """And an attempt without steps is neither."""
    assert reward("success", [Step("bash")] * MANY_STEPS, LONG_MS).efficiency == 0
    assert reward("success", [], None).efficiency == 0.5
