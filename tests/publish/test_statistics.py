"""Intervals that hold what they promise, and silence where there is too little data."""

from __future__ import annotations

import random
from math import exp, inf, sqrt

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.publications import Amount, Share
from recollect.publish import statistics
from recollect.publish.statistics import LEAST_TASKS, amount, change, share, wilson


@given(st.integers(1, 2_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_a_share_lies_in_its_interval(counts: tuple[int, int]) -> None:
    """And the interval within 0 and 1, even for none or all of them."""
    count, of = counts
    low, high = wilson(count, of)

    assert 0 <= low <= count / of <= high <= 1
    assert low < high


def test_the_interval_of_a_share_is_the_one_of_the_textbook() -> None:
    """10 of 40: 0.1419 to 0.4019."""
    assert [round(end, 4) for end in wilson(10, 40)] == [0.1419, 0.4019]


def test_too_little_data_gives_counts_and_no_number() -> None:
    """A share of three sessions misleads, whatever stands behind it."""
    assert share(1, 19, 20) == Share(count=1, of=19)
    assert share(1, 20, 20).share == 0.05
    assert amount([5.0] * (LEAST_TASKS - 1)) == Amount(of=LEAST_TASKS - 1)
    assert change(share(1, 19, 20), share(1, 50, 20)) is None


def test_intervals_hold_the_true_value_about_19_times_out_of_20() -> None:
    """Of a share, of a change of one, and of an amount; drawn often enough to tell 95 from 90."""
    dice = random.Random(7)
    held = {"share": 0, "change": 0, "amount": 0}
    rounds = 1_500
    for _ in range(rounds):
        before = sum(dice.random() < 0.3 for _ in range(40))
        after = sum(dice.random() < 0.15 for _ in range(60))
        low, high = wilson(before, 40)
        held["share"] += low <= 0.3 <= high
        changed = change(share(before, 40, 20), share(after, 60, 20))
        assert changed is not None
        held["change"] += changed[1] <= -0.15 <= changed[2]
        made = amount([exp(dice.gauss(8, 1.2)) for _ in range(LEAST_TASKS)])
        assert made.low is not None
        assert made.high is not None
        held["amount"] += made.low <= exp(8) <= made.high

    assert all(0.93 <= count / rounds <= 0.975 for count in held.values()), held


def test_students_deviate_is_near_enough_from_nine_degrees_on() -> None:
    """2.262 for 9, 2.045 for 29, and the normal one in the end."""
    assert [round(statistics._student(freedom), 2) for freedom in (9, 29, 10**9)] == [
        2.26,
        2.05,
        1.96,
    ]
    assert statistics._student(9) < inf


@given(st.lists(st.floats(0.1, 1e9), min_size=LEAST_TASKS, max_size=40))
def test_an_amount_lies_in_its_interval_and_between_the_extremes(values: list[float]) -> None:
    """A few huge tasks do not decide, and tasks that took nothing are left out."""
    made = amount([*values, 0.0])

    assert made.of == len(values)
    assert made.typical is not None
    assert made.low is not None
    assert made.high is not None
    assert made.low <= made.typical <= made.high
    assert min(values) * (1 - 1e-9) <= made.typical <= max(values) * (1 + 1e-9)
    assert sqrt(made.typical) > 0
